// Owns the one memory provider beside the files (notes core 2.10, seed 001 ch 8): started once a session, one call at a time, on hooks of its own.

import { deadline, raceAbort } from '#base/abort.ts';
import { type Clock, systemClock } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Hooks } from '#core/agent/hooks.ts';
import type { MemoryProvider, MemoryWriteNotice } from '#core/agent/memory-provider.ts';
import type { AnyTool } from '#core/agent/tool.ts';
import type { Message, TextPart } from '#core/model/message.ts';
import { stepsOf, wroteWith } from '#mind/memory/kept-entries.ts';
import { isTrivialPrompt } from './learning.rules.ts';
import { splitTurns } from './read-turns.ts';

/** A provider as the agent has it. Its own calls never throw. */
export interface ProvidedMemory {
  readonly hooks: Hooks;
  /** Its tools; the name `memory` is the files'. */
  readonly tools: readonly AnyTool[];
  /** Its block of the prompt; empty before it was started. */
  promptBlock(): string;
  /** A write by somebody else than the memory tool: a review, a flush. */
  written(notice: MemoryWriteNotice): Promise<void>;
  delegated(task: string, result: string): Promise<void>;
  stop(): Promise<void>;
}

interface ProviderParts {
  readonly clock?: Clock;
  /** One sentence when a provider could not do what no turn waits for. */
  readonly warn: (problem: string) => void;
  /** All messages of a session, for its end. */
  readonly messagesOf: (sessionId: string) => Promise<readonly Message[]>;
}

/** The one that `memory.provider` names; refused when there is none of that name or it says what it lacks. */
export function chooseProvider(
  known: readonly MemoryProvider[],
  name: string,
  installed: readonly string[] = known.map((provider) => provider.name),
): Result<MemoryProvider, 'unknown-provider' | 'provider-unavailable'> {
  const found = known.find((provider) => provider.name === name);
  if (found === undefined) {
    const names = installed.join(', ') || 'none is installed';
    return refuse(
      'unknown-provider',
      `memory.provider: there is no provider ${name} (${names}); the files alone are used`,
    );
  }
  const available = found.available();
  return available.ok ? ok(found) : refuse('provider-unavailable', `memory.provider: ${name}: ${available.detail}`);
}

export function provideMemory(provider: MemoryProvider, parts: ProviderParts): ProvidedMemory {
  const desk = new ProviderDesk(provider, parts.clock ?? systemClock);
  const quietly = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      parts.warn(`memory provider ${provider.name}: ${what} failed: ${errorText(error)}`);
    }
  };
  const tell = (what: string, work: () => Promise<void> | undefined) => quietly(what, () => desk.call(work, undefined));
  return {
    hooks: providerHooks(desk, parts),
    tools: provider.tools().filter(({ name }) => name !== 'memory'),
    promptBlock: () => (desk.isStarted ? provider.promptBlock().trim() : ''),
    written: (notice) => tell('memoryWritten', () => provider.memoryWritten?.(notice)),
    delegated: (task, result) => tell('delegated', () => provider.delegated?.(task, result)),
    stop: () => quietly('stop', () => desk.stop()),
  };
}

/** How long one call may take, ms; what a turn waits for is kept shorter. */
const CALL_MS = 8_000;
const NEVER = new AbortController().signal;

class ProviderDesk {
  readonly provider: MemoryProvider;
  readonly #clock: Clock;
  #line: Promise<unknown> = Promise.resolve();
  #startedFor: string | undefined;

  constructor(provider: MemoryProvider, clock: Clock) {
    this.provider = provider;
    this.#clock = clock;
  }

  get isStarted(): boolean {
    return this.#startedFor !== undefined;
  }

  /** Again for a session that it was started for: nothing. Throws what the provider throws, or `provider-timeout`. */
  async start(session: Parameters<MemoryProvider['start']>[0], signal: AbortSignal): Promise<void> {
    if (this.#startedFor === session.sessionId) return;
    this.#startedFor = undefined;
    await this.#inTurn((limit) => this.provider.start(session, limit), signal, CALL_MS);
    this.#startedFor = session.sessionId;
  }

  /** `absent` while the provider is not started. */
  async call<T>(
    work: (limit: AbortSignal) => Promise<T> | undefined,
    absent: T,
    signal = NEVER,
    limitMs = CALL_MS,
  ): Promise<T> {
    if (this.#startedFor === undefined) return absent;
    return this.#inTurn(async (limit) => (await work(limit)) ?? absent, signal, limitMs);
  }

  async stop(): Promise<void> {
    this.#startedFor = undefined;
    await this.#inTurn(() => this.provider.stop(), NEVER, CALL_MS);
  }

  /** The next call waits for the one before, whatever became of it, but never longer than its own limit. */
  async #inTurn<T>(work: (limit: AbortSignal) => Promise<T>, parent: AbortSignal, limitMs: number): Promise<T> {
    const says = `memory provider ${this.provider.name} took longer than ${limitMs / 1000} s`;
    const limit = deadline(this.#clock, parent, limitMs, () => new TalariaError(says, { code: 'provider-timeout' }));
    const mine = this.#line.then(() => work(limit.signal));
    this.#line = raceAbort(mine, limit.signal).catch(() => undefined);
    try {
      return await raceAbort(mine, limit.signal);
    } finally {
      limit.clear();
    }
  }
}

/** How long a turn waits for what may help, ms. */
const PREFETCH_MS = 3_000;

function providerHooks(desk: ProviderDesk, { messagesOf }: Pick<ProviderParts, 'messagesOf'>): Hooks {
  const { provider } = desk;
  /** By session: what a provider wants to survive a compression, until the next line of the owner carries it. */
  const saved = new Map<string, TextPart>();
  return {
    name: `memory-${provider.name}`,
    sessionStart: (session, signal) => desk.start({ ...session, audience: 'primary' }, signal),
    beforeTurn: async ({ sessionId, text, origin }, signal) => {
      // What is recalled is the owner's: for no guest.
      const kept = origin === 'foreign' ? [] : [saved.get(sessionId) ?? []].flat();
      saved.delete(sessionId);
      if (origin === 'foreign' || isTrivialPrompt(text)) return kept;
      const found = await desk.call((limit) => provider.prefetch(text, limit), [], signal, PREFETCH_MS);
      return [...kept, ...found.map(asRecalled)];
    },
    afterTool: async ({ sessionId }, call, result) => {
      if (!wroteWith('memory', { call, result, at: 0 })) return;
      for (const notice of writtenNotices(sessionId, call.arguments))
        await desk.call(() => provider.memoryWritten?.(notice), undefined);
    },
    afterTurn: async (turn, { messages }) => {
      const own = splitTurns(messages).at(-1) ?? [];
      await desk.call(() => provider.turnEnded?.(turn, own), undefined);
    },
    beforeCompress: async ({ sessionId }, messages, signal) => {
      const text = await desk.call((limit) => provider.beforeCompress?.(messages, limit), '', signal);
      const says = `From before the compression, by ${provider.name}:`;
      if (text.trim() !== '')
        saved.set(sessionId, { type: 'text', text: `${says}\n${text.trim()}`, origin: 'foreign', label: 'context' });
    },
    sessionEnd: async ({ sessionId }) => {
      saved.delete(sessionId);
      const messages = await messagesOf(sessionId);
      await desk.call(() => provider.sessionEnded?.(messages), undefined);
    },
  };
}

/** Nobody typed it in this turn, whatever the provider says. */
function asRecalled(part: TextPart): TextPart {
  return { ...part, label: 'context', origin: part.origin === 'owner' ? 'foreign' : part.origin };
}

/** One notice for each operation; a removal names the text by which the entry was found. */
export function writtenNotices(sessionId: string, change: JsonObject): readonly MemoryWriteNotice[] {
  return stepsOf(change).flatMap(({ action, target, content, oldText }) => {
    const said = action === 'remove' ? oldText : content;
    return said === undefined ? [] : [{ sessionId, action, target, content: said }];
  });
}
