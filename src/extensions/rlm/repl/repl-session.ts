// Owns the ReplSession seam: JavaScript that a model wrote, run in a sandbox that sees a context object, sub-calls and handles, and nothing
// of the host: no file, no net, no process, no clock, no chance. Implemented by create-repl-session.ts (QuickJS in a worker).
// Invariant: deterministic given code, context and replies; whatever the code does, the host lives and gets a typed outcome.
import type { Handle } from '../ask/ask-outcome.ts';

/** What the code asks of the host while it runs. Everything else of its API works on the context alone. */
export interface ReplHost {
  /** Asks a model about a piece; the reply with the claims that the piece holds. Never rejects: a failure is data. */
  query(query: SubQuery): Promise<SubReply>;
}

export interface SubQuery {
  readonly question: string;
  /** Text that is sent along; null when the code sent only words. */
  readonly piece: string | null;
  /** Handle of the piece when it is one: only then the reply can become evidence. */
  readonly over: string | null;
  /** Family that is to answer; null: the default. */
  readonly model: string | null;
  /** `rlm`: the sub-call gets a REPL of its own over the piece. */
  readonly kind: 'llm' | 'rlm';
  /** Order in which the code asked, from 1: fixed before any is answered. */
  readonly order: number;
}

export interface SubReply {
  readonly ok: boolean;
  /** The reply, or why there is none. */
  readonly text: string;
  /** Claims that the piece holds. */
  readonly claims: readonly { readonly text: string; readonly handle: string }[];
}

export interface ReplLimits {
  /** Of the sandbox; default 64 MB. */
  readonly memory_bytes: number;
  /** Of pure computing in one block, waiting for replies not counted. */
  readonly block_ms: number;
  /** Characters of printed output that the model sees of one block; the rest is counted and named. */
  readonly output_chars: number;
  readonly sub_calls: number;
}

export type BlockFailure = 'threw' | 'out_of_memory' | 'out_of_time' | 'sub_call_limit' | 'sandbox_died' | 'cancelled';

export interface AnswerPart {
  readonly text: string;
  readonly handles: readonly string[];
}

export interface BlockOutcome {
  /** Printed output, cut as `output_chars` says. */
  readonly output: string;
  /** Characters that were cut. */
  readonly cut: number;
  readonly failure: { readonly reason: BlockFailure; readonly detail: string } | null;
  /** Set when the code has called `finish`. */
  readonly answer: readonly AnswerPart[] | null;
  /** Names of variables that the next block finds. */
  readonly variables: readonly string[];
}

export interface ReplSession {
  /** Runs one block; variables stay for the next. After a failure that kills the sandbox, a fresh one without variables. */
  run(code: string, signal: AbortSignal): Promise<BlockOutcome>;
  /** Every span and computed handle that the code has made so far, in order; child handles are those that the host named in its replies. */
  handles(): readonly Handle[];
  /** Byte ranges that were printed or sent in sub-calls, merged. */
  shown(): readonly (readonly [start: number, end: number])[];
  close(): Promise<void>;
}
