// Owns one MemoryProvider in use: started once a session, one call at a time, none longer than its limit. Knows no hook.
// Invariants: nothing but `start` reaches a provider that was not started; a call that fails throws to its caller alone.
import { deadline, raceAbort } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import type { MemoryProvider, MemorySession } from '#mind/memory/memory-provider.ts';

/** How long one call may take, ms; what a turn waits for is kept shorter. */
const CALL_MS = 8_000;

export interface ProviderDesk {
  readonly provider: MemoryProvider;
  readonly isStarted: boolean;
  /** Again for a session that it was started for: nothing. Throws what the provider throws, or `provider-timeout`. */
  start(session: MemorySession, signal: AbortSignal): Promise<void>;
  /** `absent` while the provider is not started. */
  call<T>(
    work: (provider: MemoryProvider, signal: AbortSignal) => Promise<T> | undefined,
    options: CallOptions<T>,
  ): Promise<T>;
  stop(): Promise<void>;
}

export interface CallOptions<T> {
  readonly absent: T;
  readonly signal?: AbortSignal;
  readonly limitMs?: number;
}

export function openDesk(provider: MemoryProvider, clock: Clock): ProviderDesk {
  const never = new AbortController().signal;
  let line: Promise<unknown> = Promise.resolve();
  let startedFor: string | undefined;
  /** The next call waits for the one before, whatever became of it, but never longer than its own limit. */
  const inTurn = async <T>(
    work: (signal: AbortSignal) => Promise<T>,
    parent: AbortSignal,
    limitMs: number,
  ): Promise<T> => {
    const limit = deadline(clock, parent, limitMs, () => tooSlow(provider.name, limitMs));
    const before = line;
    const mine = before.then(() => work(limit.signal));
    line = raceAbort(mine, limit.signal).catch(() => undefined);
    try {
      return await raceAbort(mine, limit.signal);
    } finally {
      limit.clear();
    }
  };
  return {
    provider,
    get isStarted() {
      return startedFor !== undefined;
    },
    async start(session, signal) {
      if (startedFor === session.sessionId) return;
      startedFor = undefined;
      await inTurn((limit) => provider.start(session, limit), signal, CALL_MS);
      startedFor = session.sessionId;
    },
    async call(work, { absent, signal = never, limitMs = CALL_MS }) {
      if (startedFor === undefined) return absent;
      return inTurn(async (limit) => (await work(provider, limit)) ?? absent, signal, limitMs);
    },
    async stop() {
      startedFor = undefined;
      await inTurn(() => provider.stop(), never, CALL_MS);
    },
  };
}

function tooSlow(name: string, limitMs: number): TalariaError {
  return new TalariaError(`memory provider ${name} took longer than ${limitMs / 1000} s`, { code: 'provider-timeout' });
}
