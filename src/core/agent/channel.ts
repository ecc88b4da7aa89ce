// Owns the Channel seam (R5.100): a place where people write and are answered. Implemented by Telegram, signed webhooks and in memory (testing).
// Knows no seat, no session and no row. Contract suite: test/contract/channel.contract.ts.
import type { Result } from '#base/result.ts';

/** Something of a message that is fetched when it is read. */
export interface IncomingFile {
  /** As the channel finds it again. */
  readonly ref: string;
  readonly name?: string;
  readonly mediaType?: string;
  readonly bytes?: number;
}

/** What came, as plain data: a row holds it as it is. */
export interface Incoming {
  /** Of the channel's own; what comes a second time under it is nothing. */
  readonly id: string;
  /** `press`: of a button; the text is its data. */
  readonly kind: 'message' | 'edit' | 'press';
  readonly chat: string;
  readonly person: string;
  /** What the person is called there: foreign text. */
  readonly name: string;
  /** Epoch ms, as the channel dates it. */
  readonly at: number;
  readonly text: string;
  readonly files: readonly IncomingFile[];
  readonly isGroup: boolean;
  /** In a group: it is said to us. */
  readonly isMeant: boolean;
  /** What came with it and is not read: `voice`. */
  readonly unread?: string;
  /** Of a press: what `pressed` takes. */
  readonly press?: string;
  /** The chat goes on under this id. */
  readonly movedTo?: string;
}

export interface Button {
  readonly text: string;
  /** 64 bytes at most. */
  readonly data: string;
}

/** One piece, as `pieces` gave it. */
export interface Outgoing {
  readonly chat: string;
  /** Id of what it answers. */
  readonly answers?: string;
  readonly piece: string;
  readonly buttons?: readonly Button[];
}

export type Sent =
  | { readonly state: 'sent'; readonly id: string }
  /** To be tried again, after so many ms where the channel says it. `isLost`: it may have arrived. */
  | { readonly state: 'retry'; readonly afterMs?: number; readonly reason: string; readonly isLost?: boolean }
  /** Never. `isGone`: nothing reaches this chat until the person writes again. */
  | { readonly state: 'refused'; readonly reason: string; readonly isGone?: boolean };

/**
 * Contract. `receive` yields what came in order, and asks the platform for more, which confirms what it gave, only after the reader has come
 * back: whoever keeps a batch before he takes the next loses nothing; an empty batch says that `fault` is another now. It goes on through failures and ends with the signal; it throws
 * TalariaError only where no trying helps (a wrong token). Everything else resolves, also when the platform does not answer.
 */
export interface Channel {
  /** What sessions are listed as, and what stands before `:` in a target of the schedule. */
  readonly name: string;
  /** Buttons can be pressed there. */
  readonly canAsk: boolean;
  receive(signal: AbortSignal): AsyncIterable<readonly Incoming[]>;
  /** Markdown in the channel's own form, in pieces that it takes; nothing of the text is lost. */
  pieces(markdown: string): readonly string[];
  send(piece: Outgoing, signal: AbortSignal): Promise<Sent>;
  bytes(file: IncomingFile, signal: AbortSignal): Promise<Result<Uint8Array, 'unreachable' | 'too-large'>>;
  /** Shows for some seconds that a turn runs. */
  typing(chat: string, signal: AbortSignal): Promise<void>;
  /** A line that stands while a turn runs, in the place of the one before; without a text it goes. Gives what stands now. */
  note(
    chat: string,
    text: string | undefined,
    before: string | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /** Tells who pressed a button what came of it. */
  pressed(press: string, text: string, signal: AbortSignal): Promise<void>;
  /** Why nothing comes in or goes out now, as it was seen last. */
  readonly fault: string | undefined;
}
