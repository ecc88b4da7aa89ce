// Owns what a stored session is to the filling-in of evidence, whichever file it was read from. Knows no file.
import type { Result } from '#base/result.ts';
import type { Message } from '#core/model/message.ts';

export interface StoredMessage {
  /** Epoch ms; anything, also no number, where the file says nonsense. */
  readonly at: number;
  readonly message: Message;
  /** It was said in the session that this one was forked from, and counts there. */
  readonly copied?: boolean;
}

export interface StoredSession {
  readonly id: string;
  readonly platform: string;
  /** Epoch ms. */
  readonly startedAt: number;
  readonly lastActiveAt: number;
  /** A live process has it open: its last turn may still be running, and its end is still to come. */
  readonly open: boolean;
  /** Talaria ran its calls, and recorded how each ended. */
  readonly observed: boolean;
  /** In the order in which they were said. May throw while it is read. */
  readonly messages: Iterable<StoredMessage>;
}

/** A session that could be read. */
export interface Candidate {
  readonly id: string;
  /** Its own file, if it has one. */
  readonly path?: string;
  /** Epoch ms, to order by. */
  readonly at: number;
  read(): Result<StoredSession>;
}

export type SourceKind = 'talaria' | 'hermes-database' | 'session-files';

export interface SessionSource {
  readonly kind: SourceKind;
  readonly path: string;
  readonly candidates: readonly Candidate[];
  /** Sessions before the window that are no candidates any more. */
  readonly old: number;
  close(): void;
}
