// Owns the questions that wait for the person: one is shown at a time, oldest first, and answered only when it can have been read; and what a tool
// asks: may this run. Knows no screen. Invariants: a question whose turn was stopped waits no longer, so that no later line is taken for its
// answer; what was typed before a question stood there answers nothing; anything but a clear yes is a no; why it is asked stands under the
// command, what was left out of it is counted, and can be seen before an answer.
import { type Clock, systemClock } from '#base/clock.ts';
import { ok, refuse } from '#base/result.ts';
import type { ApprovalDecision, ApprovalRequest, Approver, Asker, Reach } from '#core/agent/approver.ts';
import { oneLine, plain, visible } from './terminal-text.ts';

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

const ANSWERS: ReadonlyMap<string, ApprovalDecision> = new Map([
  ['y', 'once'],
  ['yes', 'once'],
  ['s', 'session'],
  ['session', 'session'],
  ['chat', 'session'],
  ['a', 'always'],
  ['always', 'always'],
]);

export function createTerminalApprover(ask: Ask): Approver {
  return {
    approve: async (request, signal) => {
      let answer = await ask(approvalQuestion(request, 'short'), signal);
      for (let again = againOf(request, answer); again; again = againOf(request, answer))
        answer = await ask(again, signal);
      const decision = ANSWERS.get(typedOf(answer));
      return decision === undefined ? { decision: 'deny', reason: denial(answer) } : { decision };
    },
  };
}

/** All of it, where that is wanted, or the question anew, where the answer was not among its keys. */
function againOf(request: ApprovalRequest, answer: string | undefined): TerminalQuestion | undefined {
  const typed = typedOf(answer);
  if (/^v(?:iew)?$/.test(typed)) return approvalQuestion(request, 'whole');
  const isLasting = /^(?:session|always)$/.test(ANSWERS.get(typed) ?? '');
  if (!isLasting || request.key !== '') return undefined;
  const asked = approvalQuestion(request, 'short');
  return { ...asked, lines: [`${typed}: a yes to this counts once, so it is y or n.`, ...asked.lines] };
}

function typedOf(answer: string | undefined): string {
  return answer?.trim().toLowerCase() ?? '';
}

const REACHES: Readonly<Record<Reach, string>> = {
  folder: 'inside this folder',
  network: 'over the network',
  beyond: 'its effect may go beyond this folder',
};

function approvalQuestion(request: ApprovalRequest, size: 'short' | 'whole'): TerminalQuestion {
  const { tool, preview, reason, key, reach = 'beyond' } = request;
  const whole = visible(preview).split('\n');
  const short = shortened(whole);
  const shown = size === 'whole' ? whole : short;
  const isCut = shown === short && short !== whole;
  const yes = key === '' ? 'y = yes (asked each time)' : 'y = once · s = this chat · a = always';
  return {
    lines: [
      `${tool} asks to run this:`,
      ...shown.map((line) => `  ${line}`),
      `why: ${visible(oneLine(reason, 400))} (${REACHES[reach]})`,
    ],
    keys: `${yes} ·${isCut ? ' v = view all of it ·' : ''} n = no, or say what to do instead`,
  };
}

/** More of either pushes the beginning off a usual screen. */
const LINES = { all: 16, head: 9, tail: 6 } as const;
const CHARS = { all: 400, head: 250, tail: 120 } as const;

/** Head and tail, and how much is missing between them; the same list when nothing is. */
function shortened(lines: readonly string[]): readonly string[] {
  const isLong = lines.length > LINES.all;
  if (!isLong && lines.every((line) => line.length <= CHARS.all)) return lines;
  const left = lines.length - LINES.head - LINES.tail;
  const kept = isLong
    ? [...lines.slice(0, LINES.head), `… ${left} lines left out …`, ...lines.slice(-LINES.tail)]
    : lines;
  return kept.map(shortenedLine);
}

function shortenedLine(line: string): string {
  if (line.length <= CHARS.all) return line;
  const left = line.length - CHARS.head - CHARS.tail;
  const [head, tail] = [line.slice(0, CHARS.head), line.slice(-CHARS.tail)];
  return `${head.toWellFormed()} … ${left} characters left out … ${tail.toWellFormed()}`;
}

/** What the person typed instead of a yes is said to the model: it is often the better way. */
function denial(answer: string | undefined): string {
  if (answer === undefined) return 'the owner left without an answer';
  const text = answer.trim();
  return text === '' || /^no?$/i.test(text) ? 'the owner said no' : `the owner said: ${oneLine(text, 500)}`;
}

export function createTerminalAsker(ask: Ask): Asker {
  return {
    ask: async ({ question, choices }, signal) => {
      const lines = [plain(question), ...choices.map((choice, i) => `  ${i + 1}) ${plain(choice)}`)];
      const keys = choices.length === 0 ? 'type your answer' : 'type a number, or your own words';
      const answer = (await ask({ lines, keys }, signal))?.trim();
      if (answer === undefined || answer === '') return refuse('nobody-there', 'The owner gave no answer.');
      const chosen = /^\d+$/.test(answer) ? choices[Number(answer) - 1] : undefined;
      return ok(chosen ?? answer);
    },
  };
}
