// Owns what the thread of the sandbox and the session say to each other. Plain data, copied. Shapes only.
import type { ComputedHandle } from '../../ask/ask-outcome.ts';
import type { ByteRange } from '../block/taken-texts.ts';
import type { BlockOutcome, ReplLimits, SubQuery, SubReply } from '../repl-session.ts';
import type { SourceDescription } from '../source/source-description.ts';
import type { StoredHandle } from '../stored-handle.ts';

/** What a thread is started with. */
export interface SandboxStart {
  readonly source: SourceDescription;
  readonly limits: ReplLimits;
  /** Those of blocks before, when it takes the place of one that was killed. */
  readonly handles: readonly StoredHandle[];
  readonly next_handle: number;
  /** Sub-calls that were made so far. */
  readonly asked: number;
}

/** The text of a long span is read by the session, when the host wants it. */
export interface ToldQuery extends SubQuery {
  readonly range: ByteRange | null;
}

export type ToSandbox =
  /** To a thread whose session before was closed: a new sandbox, with nothing of the old one. */
  | { readonly type: 'open'; readonly start: SandboxStart }
  | { readonly type: 'close' }
  | { readonly type: 'run'; readonly code: string }
  /** In the order of asking, whatever came first. */
  | { readonly type: 'reply'; readonly order: number; readonly reply: SubReply }
  | { readonly type: 'check'; readonly handle: ComputedHandle };

export type FromSandbox =
  | { readonly type: 'ready' }
  | { readonly type: 'queries'; readonly queries: readonly ToldQuery[]; readonly shown: readonly ByteRange[] }
  /** Nothing runs until the next message. */
  | { readonly type: 'waiting' }
  | {
      readonly type: 'done';
      readonly outcome: BlockOutcome;
      readonly handles: readonly StoredHandle[];
      readonly shown: readonly ByteRange[];
    }
  | { readonly type: 'checked'; readonly output: string | null; readonly detail: string | null }
  /** What is no fault of the code: the context was changed or cannot be read any more. */
  | { readonly type: 'fault'; readonly code: string; readonly message: string };
