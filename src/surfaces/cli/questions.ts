// Owns the questions that wait for the person: one is shown at a time, oldest first. Knows no screen and no tool.
// Invariant: a question whose turn was stopped waits no longer, so that no later line is taken for its answer.

export interface TerminalQuestion {
  readonly lines: readonly string[];
  /** The answer is a key: it is not shown and not kept. */
  readonly secret?: boolean;
}

/** Resolves to the typed line, undefined when the person left; rejects with the signal's reason. */
export type Ask = (question: TerminalQuestion, signal: AbortSignal) => Promise<string | undefined>;

interface Waiting {
  readonly question: TerminalQuestion;
  readonly settle: (answer: string | undefined) => void;
}

export class QuestionQueue {
  readonly #onChange: () => void;
  readonly #waiting: Waiting[] = [];
  #closed = false;

  /** @param onChange called when another question, or none, is the current one */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get current(): TerminalQuestion | undefined {
    return this.#waiting[0]?.question;
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
    if (this.#waiting.length === 1) this.#onChange();
    return promise;
  };

  /** Answers the current question; false when none waits. */
  answer(text: string): boolean {
    const [waiting] = this.#waiting;
    waiting?.settle(text);
    return waiting !== undefined;
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
    if (index === 0) this.#onChange();
  }
}
