// Owns the questions that wait for the person: one is shown at a time, oldest first, and answered only when it can have been read. Knows no
// screen and no tool. Invariants: a question whose turn was stopped waits no longer, so that no later line is taken for its answer; what
// was typed before a question stood there, or in the moment after, answers nothing.
import { type Clock, systemClock } from '#base/clock.ts';

export interface TerminalQuestion {
  readonly lines: readonly string[];
  /** What can be typed; stands last, and appears when answers count. */
  readonly keys?: string;
  /** The answer is a key: it is not shown and not kept. */
  readonly secret?: boolean;
}

/** Resolves to the typed line, undefined when the person left; rejects with the signal's reason. */
export type Ask = (question: TerminalQuestion, signal: AbortSignal) => Promise<string | undefined>;

/** What a person presses without having read what has just appeared. */
export const UNREAD_MS = 300;

interface Waiting {
  readonly question: TerminalQuestion;
  readonly settle: (answer: string | undefined) => void;
}

export interface QuestionEvents {
  /** Another question, or none, is the current one: show it, then call `drawn`. */
  readonly onChange: () => void;
  /** Answers to the current question count from now on. */
  readonly onOpen?: () => void;
  readonly clock?: Clock;
}

export class QuestionQueue {
  readonly #events: QuestionEvents;
  readonly #waiting: Waiting[] = [];
  #state: 'undrawn' | 'unread' | 'open' = 'undrawn';
  #cancel: (() => void) | undefined;
  #closed = false;

  constructor(events: QuestionEvents) {
    this.#events = events;
  }

  get current(): TerminalQuestion | undefined {
    return this.#waiting[0]?.question;
  }

  /** It stands there, and nobody can have read it: what is typed now is dropped. */
  get isUnread(): boolean {
    return this.current !== undefined && this.#state === 'unread';
  }

  get isOpen(): boolean {
    return this.current !== undefined && this.#state === 'open';
  }

  /** The current question stands on the screen. */
  drawn(): void {
    if (!this.current || this.#state !== 'undrawn') return;
    const { clock = systemClock, onOpen } = this.#events;
    this.#state = 'unread';
    this.#cancel = clock.after(UNREAD_MS, () => {
      this.#state = 'open';
      onOpen?.();
    });
  }

  readonly ask: Ask = (question, signal) => {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#closed) return Promise.resolve(undefined);
    const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
    const onAbort = () => {
      this.#remove(waiting);
      reject(signal.reason);
    };
    const settle = (answer: string | undefined) => {
      signal.removeEventListener('abort', onAbort);
      this.#remove(waiting);
      resolve(answer);
    };
    const waiting = { question, settle };
    signal.addEventListener('abort', onAbort, { once: true });
    this.#waiting.push(waiting);
    if (this.#waiting.length === 1) this.#change();
    return promise;
  };

  /** Answers the current question; false when none takes an answer now. */
  answer(text: string): boolean {
    if (!this.isOpen) return false;
    this.#waiting[0]?.settle(text);
    return true;
  }

  /** Answers the current question with nothing, read or not. */
  skip(): void {
    this.#waiting[0]?.settle('');
  }

  /** The person leaves: what waits, and what is still asked, stays unanswered. */
  close(): void {
    this.#closed = true;
    for (const waiting of [...this.#waiting]) waiting.settle(undefined);
  }

  #remove(waiting: Waiting): void {
    const index = this.#waiting.indexOf(waiting);
    if (index < 0) return;
    this.#waiting.splice(index, 1);
    if (index === 0) this.#change();
  }

  #change(): void {
    this.#cancel?.();
    this.#state = 'undrawn';
    this.#events.onChange();
  }
}
