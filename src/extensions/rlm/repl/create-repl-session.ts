// Owns a session of the sandbox: blocks one after the other, sub-calls handed to the host, handles and shown ranges kept. Knows no model.
// Invariant: whatever the code does, a block ends with a typed outcome; replies reach the code in the order of asking, so that their
// latencies change nothing; a sandbox that was killed is replaced, and its variables are gone.
import { throwIfAborted } from '#base/abort.ts';
import { TalariaError } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import type { ChildHandle, ComputedHandle, Handle } from '../outcome.ts';
import { type ByteRange, mergeRanges } from './context-ops.ts';
import type { ContextSource } from './parted-source.ts';
import {
  type BlockOutcome,
  deadOutcome,
  type FromSandbox,
  isDeadly,
  type ReplHost,
  type ReplLimits,
  type ReplSession,
  type StoredHandle,
  type SubQuery,
  type SubReply,
  shownHandle,
  storedHandle,
  type ToldQuery,
} from './repl-session.ts';
import { faultOf, SandboxThread } from './sandbox-thread.ts';

export interface ComputedGround {
  /** What `context` among the inputs stands for. */
  readonly source: ContextSource;
  readonly limits?: ReplLimits;
  readonly signal?: AbortSignal;
}

export interface ComputedCheck {
  readonly equal: boolean;
  /** Why not, one sentence; null: it is equal. */
  readonly detail: string | null;
}

/**
 * @param resolveInput gives the handle of an id that the computed one names. Throws TalariaError `context-changed` | `context-unreadable` |
 * `sandbox-failed`, or the signal's reason.
 */
export async function checkComputed(
  handle: ComputedHandle,
  resolveInput: (id: string) => Handle | undefined,
  { source, limits = DEFAULT_REPL_LIMITS, signal }: ComputedGround,
): Promise<ComputedCheck> {
  const hashes = [
    [handle.code_hash, handle.code],
    [handle.output_hash, handle.output],
  ] as const;
  if (hashes.some(([hash, text]) => hash !== `sha256:${sha256(text)}`))
    return { equal: false, detail: 'its hashes are not those of its code and output' };
  const ids = handle.inputs.filter((id) => id !== 'context');
  const inputs = ids.map(resolveInput).filter((input) => input !== undefined);
  const handles = inputs.map(storedHandle);
  if (handles.length !== ids.length) return { equal: false, detail: 'an input that it names is not there' };
  const start = { source: source.description, limits, handles, next_handle: 1, asked: 0 };
  const thread = await SandboxThread.open(start, signal);
  let isWell = false;
  try {
    const check = await run(thread, handle, signal);
    isWell = check.equal;
    return check;
  } finally {
    await (isWell ? thread.rest() : thread.end());
  }
}

function run(thread: SandboxThread, handle: ComputedHandle, signal?: AbortSignal): Promise<ComputedCheck> {
  return new Promise((resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    thread.listen({
      message: (message) => {
        if (message.type === 'fault') reject(faultOf(message));
        else if (message.type === 'checked') resolve(judge(handle, message.output, message.detail));
      },
      ended: (why) => resolve({ equal: false, detail: `the sandbox ended: ${why}` }),
    });
    thread.send({ type: 'check', handle });
  });
}

function judge(handle: ComputedHandle, output: string | null, detail: string | null): ComputedCheck {
  if (output === null) return { equal: false, detail: detail ?? 'it gave nothing' };
  const equal = output === handle.output;
  return { equal, detail: equal ? null : 'it gives something else now' };
}

export interface ReplParts {
  readonly source: ContextSource;
  readonly host: ReplHost;
  readonly limits: ReplLimits;
}

export const DEFAULT_REPL_LIMITS: ReplLimits = {
  memory_bytes: 64 * 1024 * 1024,
  block_ms: 10_000,
  output_chars: 8_000,
  sub_calls: 100,
};

/** Throws TalariaError `context-changed` | `context-unreadable` | `sandbox-failed`. */
export async function createReplSession(parts: ReplParts): Promise<ReplSession> {
  const session = new SandboxSession(parts);
  await session.start();
  return session;
}

class SandboxSession implements ReplSession {
  readonly #parts: ReplParts;
  readonly #handles: StoredHandle[] = [];
  readonly #children = new Map<string, ChildHandle>();
  #shown: readonly ByteRange[] = [];
  #asked = 0;
  #thread: SandboxThread | undefined;
  #block: RunningBlock | undefined;
  #isClosed = false;

  constructor(parts: ReplParts) {
    this.#parts = parts;
  }

  async start(signal?: AbortSignal): Promise<SandboxThread> {
    const { source, limits } = this.#parts;
    const made = this.#handles.length;
    const handles = [...this.#handles, ...this.#children.values()];
    const start = { source: source.description, limits, handles, next_handle: 1 + made, asked: this.#asked };
    this.#thread = await SandboxThread.open(start, signal);
    return this.#thread;
  }

  async run(code: string, signal: AbortSignal): Promise<BlockOutcome> {
    if (this.#isClosed) throw new TalariaError('the session is closed', { code: 'repl-closed' });
    if (this.#block !== undefined) throw new TalariaError('a block is running', { code: 'repl-busy' });
    if (signal.aborted) return deadOutcome('cancelled');
    const block = new RunningBlock(this.#parts);
    this.#block = block;
    const onAbort = () => block.end(deadOutcome('cancelled'));
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const outcome = await this.#runBlock(block, code, signal);
      if (isDeadly(outcome)) await this.#drop();
      else this.#handles.push(...block.handles);
      return outcome;
    } catch (error) {
      await this.#drop();
      if (signal.aborted) return deadOutcome('cancelled');
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#keep(block);
      this.#block = undefined;
    }
  }

  handles(): readonly Handle[] {
    return this.#handles.map((handle) => shownHandle(handle, this.#parts.source));
  }

  shown(): readonly ByteRange[] {
    return this.#shown;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const thread = this.#thread;
    if (this.#block === undefined && thread !== undefined) {
      this.#thread = undefined;
      return thread.rest();
    }
    this.#block?.end(deadOutcome('cancelled'));
    await this.#drop();
  }

  async #runBlock(block: RunningBlock, code: string, signal: AbortSignal): Promise<BlockOutcome> {
    const thread = this.#thread ?? (await this.start(signal));
    throwIfAborted(signal);
    if (this.#isClosed) return deadOutcome('cancelled');
    try {
      return await block.run(thread, code);
    } finally {
      thread.leave();
    }
  }

  async #drop(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.end();
  }

  /** Sub-calls were made, and what they showed was shown, however the block ended. */
  #keep(block: RunningBlock): void {
    this.#asked += block.asked;
    this.#shown = mergeRanges([...this.#shown, ...block.shown]);
    for (const child of block.children) this.#children.set(child.id, child);
  }
}

/** One block from its code to its outcome. */
class RunningBlock {
  readonly shown: ByteRange[] = [];
  readonly children: ChildHandle[] = [];
  handles: readonly StoredHandle[] = [];
  asked = 0;
  readonly #parts: ReplParts;
  readonly #outcome = Promise.withResolvers<BlockOutcome>();
  #thread: SandboxThread | undefined;
  /** Replies are passed one after the other. */
  #passed: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(parts: ReplParts) {
    this.#parts = parts;
  }

  run(thread: SandboxThread, code: string): Promise<BlockOutcome> {
    this.#thread = thread;
    if (!this.#isOver) {
      thread.listen({ message: (message) => this.#hear(message), ended: (why) => this.end(deadOutcome(why)) });
      thread.send({ type: 'run', code });
    }
    return this.#outcome.promise;
  }

  end(outcome: BlockOutcome): void {
    this.#isOver = true;
    this.#outcome.resolve(outcome);
  }

  #fail(error: unknown): void {
    this.#isOver = true;
    this.#outcome.reject(error);
  }

  #hear(message: FromSandbox): void {
    if (this.#isOver) return;
    if (message.type === 'queries') {
      this.shown.push(...message.shown);
      this.asked += message.queries.length;
      for (const query of message.queries) this.#ask(askedQuery(query, this.#parts.source));
    } else if (message.type === 'done') {
      this.handles = message.handles;
      this.shown.push(...message.shown);
      this.end(message.outcome);
    } else if (message.type === 'fault') this.#fail(faultOf(message));
  }

  #ask(query: SubQuery): void {
    const before = this.#passed;
    const reply = this.#parts.host.query(query);
    this.#passed = reply
      .then(async (told) => {
        await before;
        this.#pass(query, told);
      })
      .catch((error: unknown) => this.#fail(error));
  }

  #pass({ order, over }: SubQuery, reply: SubReply): void {
    if (this.#isOver) return;
    for (const { handle: id, text } of reply.claims)
      this.children.push({ kind: 'child', id, text, call_id: '', over: over ?? '' });
    this.#thread?.send({ type: 'reply', order, reply: plainReply(reply) });
  }
}

/** Whatever else the host's object may carry cannot be copied, perhaps, or is not for the code. */
function plainReply({ ok, text, claims }: SubReply): SubReply {
  return { ok, text, claims: claims.map(({ text: said, handle }) => ({ text: said, handle })) };
}

/** A long piece is not held while the query waits for its turn. */
function askedQuery({ range, ...query }: ToldQuery, source: ContextSource): SubQuery {
  if (range === null) return query;
  return {
    ...query,
    get piece() {
      return source.slice(...range).text;
    },
  };
}
