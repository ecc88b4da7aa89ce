// Owns the SessionStore seam: everything written down about conversations. Implemented by SQLite (mind/sessions) and in memory
// (testing); contract suite: test/contract/session-store.contract.ts. Invariant: `append` resolves only when the message is durable.
import type { Result } from '#base/result.ts';
import type { Message } from '#core/model/message.ts';
import type { Purpose, Tier, ToolSchema, Usage } from '#core/model/model-client.ts';

export interface SessionStart {
  /** Of the caller's own making, and not in the store yet; absent: the store makes one. */
  readonly id?: string;
  /** `cli`, `api`, `demo`, `review`, … */
  readonly source: string;
  readonly cwd: string;
  readonly userId?: string;
  readonly chatId?: string;
  readonly parentId?: string;
  readonly title?: string;
}

export interface SessionRecord extends SessionStart {
  /** `YYYYMMDD_HHMMSS_<6 hex>` */
  readonly id: string;
  readonly startedAt: number;
  readonly lastActiveAt: number;
  readonly endedAt?: number;
  readonly messageCount: number;
  readonly toolCallCount: number;
  /** Model of the last step. */
  readonly model?: string;
}

export interface StoredMessage {
  /** Unique in the store, grows with time. */
  readonly id: number;
  readonly sessionId: string;
  /** Epoch ms. */
  readonly at: number;
  readonly message: Message;
}

/** The prefix of every request of a session: stored by hash, reloaded byte for byte. */
export interface FrozenPrompt {
  readonly system: string;
  readonly tools: readonly ToolSchema[];
}

/** One compression as the store sees it. */
export interface Compaction {
  /** Messages of the live context that leave it. They stay searchable; a summary among them is superseded and gone for good. */
  readonly ids: readonly number[];
  /** What stands for them, where the last of them stood. It is neither searched nor counted. */
  readonly replacement: readonly Message[];
  /** The prompt from now on, stored in the same transaction. */
  readonly prompt?: FrozenPrompt;
}

export type SpanKind = 'turn' | 'step' | 'tool' | 'hook' | 'retry' | 'fallback';

/** One row of `talaria trace`. */
export interface Span {
  readonly id: string;
  readonly parentId?: string;
  readonly sessionId: string;
  readonly turn: number;
  readonly kind: SpanKind;
  /** Model id, tool name, hook name. */
  readonly name: string;
  /** Epoch ms. */
  readonly startedAt: number;
  readonly ms: number;
  readonly status: 'ok' | 'error' | 'aborted';
  readonly detail?: string;
  readonly purpose?: Purpose;
  readonly tier?: Tier;
  readonly usage?: Usage;
  /** US dollars; null: unknown price. Only steps have one. */
  readonly cost?: number | null;
}

export interface CostRow {
  readonly purpose: Purpose;
  readonly model: string;
  readonly calls: number;
  readonly usage: Usage;
  readonly cost: number;
  /** Calls whose price is unknown; they are not in `cost`. */
  readonly unpriced: number;
}

/** Epoch ms; `until` is not part of the stretch. */
export interface CostFilter {
  readonly sessionId?: string;
  readonly since?: number;
  readonly until?: number;
}

export interface SessionFilter {
  /** Only those in which something was said. */
  readonly spoken?: boolean;
  readonly limit?: number;
  readonly source?: string;
  readonly cwd?: string;
  readonly userId?: string;
  readonly chatId?: string;
  readonly parentId?: string;
}

/** A lease: this process owns the live session until `release`; the store keeps its heartbeat. */
export interface SessionLease {
  readonly sessionId: string;
  release(): Promise<void>;
}

/**
 * Contract. Every method rejects with TalariaError (`disk-full`, `database-locked`, `database-corrupt`, …) when the store is broken.
 * An append is visible to `messages` and to search as soon as it resolves. Order of `messages` is order of append, but for what `compact` put in.
 */
export interface SessionStore {
  create(start: SessionStart): Promise<SessionRecord>;
  get(sessionId: string): Promise<SessionRecord | undefined>;
  /** Newest activity first. `limit` default 20. */
  list(filter?: SessionFilter): Promise<readonly SessionRecord[]>;
  append(sessionId: string, message: Message): Promise<StoredMessage>;
  /** The live context, oldest first. */
  messages(sessionId: string): Promise<readonly StoredMessage[]>;
  /**
   * Wholly done or not at all, also when the process dies. Gives the stored replacement.
   * Rejects with `no-such-message` when an id is not in the live context.
   */
  compact(sessionId: string, compaction: Compaction): Promise<readonly StoredMessage[]>;
  /**
   * Takes back the message and all after it: no context and no search has them any more. Behind a compression its originals are live again.
   * Gives the number of messages taken back; rejects with `no-such-message` for one that is neither live nor compacted.
   */
  rewind(sessionId: string, messageId: number): Promise<number>;
  savePrompt(sessionId: string, prompt: FrozenPrompt): Promise<string>;
  loadPrompt(sessionId: string): Promise<FrozenPrompt | undefined>;
  setTitle(sessionId: string, title: string): Promise<void>;
  end(sessionId: string): Promise<void>;
  /** Refusal `owned-elsewhere` names the live process that has it: read it or fork it. A dead owner is replaced. */
  claim(sessionId: string): Promise<Result<SessionLease, 'owned-elsewhere' | 'no-such-session'>>;
  /** A new session with this one as parent and a copy of its live context and prompt. */
  fork(sessionId: string): Promise<SessionRecord>;
  recordSpans(spans: readonly Span[]): Promise<void>;
  spans(sessionId: string): Promise<readonly Span[]>;
  costs(filter?: CostFilter): Promise<readonly CostRow[]>;
  close(): Promise<void>;
}
