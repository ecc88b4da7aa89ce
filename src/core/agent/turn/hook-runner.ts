// Owns calling the hooks: in order, each with a time limit, each with a span. Knows no implementer.
// Invariant: a hook that throws or hangs becomes a `hook-failed` event; the turn goes on without it.
import { deadline, raceAbort } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { newId } from '#base/ids.ts';
import type { Message, TextPart, ToolCallPart, ToolResultPart } from '#core/model/message.ts';
import type { Hooks, SaidLine, SessionInfo, ToolVerdict, TurnInfo } from '../hooks.ts';
import type { Span, SpanKind } from '../session-store.ts';
import type { TurnEvent, TurnOutcome } from '../turn-event.ts';

const HOOK_LIMIT_MS = 10_000;
/** A flush asks a model before messages go. */
const FLUSH_LIMIT_MS = 120_000;

export interface HookRunner {
  sessionStart(session: SessionInfo, signal: AbortSignal): Promise<void>;
  beforeTurn(turn: TurnInfo & SaidLine, signal: AbortSignal): Promise<readonly TextPart[]>;
  beforeTool(turn: TurnInfo, call: ToolCallPart, signal: AbortSignal): Promise<ToolVerdict>;
  afterTool(turn: TurnInfo, call: ToolCallPart, result: ToolResultPart): Promise<void>;
  afterTurn(
    turn: TurnInfo,
    ended: { readonly outcome: TurnOutcome; readonly messages: readonly Message[] },
  ): Promise<void>;
  beforeCompress(session: SessionInfo, messages: readonly Message[], signal: AbortSignal): Promise<void>;
  sessionEnd(session: SessionInfo): Promise<void>;
}

export interface HookRunnerOptions {
  readonly hooks: readonly Hooks[];
  readonly clock: Clock;
  readonly spans?: SpanRecorder;
  readonly emit: (event: TurnEvent) => void;
}

export function createHookRunner(options: HookRunnerOptions): HookRunner {
  const quiet = new AbortController().signal;
  const each = <T>(
    at: keyof Hooks,
    signal: AbortSignal,
    run: (hook: Hooks, signal: AbortSignal) => Promise<T> | undefined,
  ) => runEach(options, { at, signal, run });
  return {
    sessionStart: async (session, signal) => {
      await each('sessionStart', signal, (hook, limit) => hook.sessionStart?.(session, limit));
    },
    beforeTurn: async (turn, signal) =>
      (await each('beforeTurn', signal, (hook, limit) => hook.beforeTurn?.(turn, limit))).flat(),
    beforeTool: async (turn, call, signal) =>
      strictest(await each('beforeTool', signal, (hook, limit) => hook.beforeTool?.(turn, call, limit))),
    afterTool: async (turn, call, result) => {
      await each('afterTool', quiet, (hook) => hook.afterTool?.(turn, call, result));
    },
    afterTurn: async (turn, ended) => {
      const notice = (text: string) => options.emit({ type: 'notice', text });
      await each('afterTurn', quiet, (hook) => hook.afterTurn?.(turn, ended, notice));
    },
    beforeCompress: async (session, messages, signal) => {
      const run = (hook: Hooks, limit: AbortSignal) => hook.beforeCompress?.(session, messages, limit);
      await runEach(options, { at: 'beforeCompress', signal, run, limitMs: FLUSH_LIMIT_MS });
    },
    sessionEnd: async (session) => {
      await each('sessionEnd', quiet, (hook) => hook.sessionEnd?.(session));
    },
  };
}

interface HookCall<T> {
  readonly at: keyof Hooks;
  readonly signal: AbortSignal;
  readonly run: (hook: Hooks, signal: AbortSignal) => Promise<T> | undefined;
  /** Default HOOK_LIMIT_MS. */
  readonly limitMs?: number;
}

async function runEach<T>(options: HookRunnerOptions, call: HookCall<T>): Promise<T[]> {
  const values: T[] = [];
  for (const hook of options.hooks) {
    if (typeof hook[call.at] !== 'function') continue;
    const span = options.spans?.start('hook', `${hook.name}.${call.at}`);
    const limitMs = call.limitMs ?? HOOK_LIMIT_MS;
    const limit = deadline(options.clock, call.signal, limitMs, () => tooSlow(hook.name, limitMs));
    try {
      const pending = call.run(hook, limit.signal);
      if (pending !== undefined) values.push(await raceAbort(pending, limit.signal));
      span?.end('ok');
    } catch (error) {
      if (call.signal.aborted) {
        span?.end('aborted');
        throw call.signal.reason;
      }
      span?.end('error', { detail: errorText(error) });
      options.emit({ type: 'hook-failed', hook: hook.name, at: call.at, error: errorText(error) });
    } finally {
      limit.clear();
    }
  }
  return values;
}

function tooSlow(name: string, limitMs: number): TalariaError {
  return new TalariaError(`hook ${name} took longer than ${limitMs / 1000} s`, { code: 'hook-timeout' });
}

function strictest(verdicts: readonly ToolVerdict[]): ToolVerdict {
  return (
    verdicts.find((verdict) => verdict.decision === 'refuse') ??
    verdicts.find((verdict) => verdict.decision === 'ask') ?? { decision: 'allow' }
  );
}

export type SpanFacts = Pick<Span, 'detail' | 'purpose' | 'tier' | 'usage' | 'cost'>;

export interface OpenSpan {
  readonly id: string;
  end(status: Span['status'], facts?: SpanFacts): void;
}

export interface SpanRecorder {
  /** A step belongs to its turn; tools, hooks, retries and fallbacks to the step under way. */
  start(kind: SpanKind, name: string): OpenSpan;
  /** Spans ended since the last call; the caller stores them with its next durable write. */
  take(): readonly Span[];
}

export interface SpanPlace {
  readonly sessionId: string;
  readonly turn: number;
  readonly clock: Clock;
}

export function createSpanRecorder({ sessionId, turn, clock }: SpanPlace): SpanRecorder {
  let ended: Span[] = [];
  let turnId: string | undefined;
  let stepId: string | undefined;
  const parentOf = (kind: SpanKind) => (kind === 'turn' ? undefined : kind === 'step' ? turnId : (stepId ?? turnId));
  return {
    start(kind, name) {
      const id = newId('span');
      const parentId = parentOf(kind);
      if (kind === 'turn') turnId = id;
      if (kind === 'step') stepId = id;
      const startedAt = clock.now();
      const from = clock.monotonic();
      let open = true;
      return {
        id,
        end(status, facts = {}) {
          if (!open) return;
          open = false;
          const ms = clock.monotonic() - from;
          const base = { id, sessionId, turn, kind, name, startedAt, ms, status };
          ended.push({ ...base, ...(parentId === undefined ? {} : { parentId }), ...facts });
        },
      };
    },
    take() {
      const spans = ended;
      ended = [];
      return spans;
    },
  };
}
