// Owns what is said between two turns: what learning did, and the drafts that wait for a yes. Plain chat and the screen both use it.
// Knows no screen and no rule of learning. Invariants: each draft is asked about once a chat; no answer leaves it waiting; a line that
// is no answer is the owner's next line.
import type { Learning, LearningOffer } from '#mind/learning/learning.ts';
import type { Ask } from '../questions.ts';

export interface BetweenTurns {
  /** Lines to show now; asks about drafts where a person can answer. */
  say(signal: AbortSignal): AsyncGenerator<string, void>;
  /** What learning did since the last look; asks nothing. */
  news(): Promise<readonly string[]>;
  /** A line that was typed instead of an answer; once. */
  takeLine(): string | undefined;
}

type Wish = 'keep' | 'drop' | 'show' | 'always' | 'later';

const WISHES: readonly (readonly [RegExp, Wish])[] = [
  [/^y(?:es)?$|^keep$|^ok(?:ay)?$/i, 'keep'],
  [/^n(?:o)?$|^drop$/i, 'drop'],
  [/^s(?:how)?$/i, 'show'],
  [/^a(?:lways)?$/i, 'always'],
];

/** Drafts that are shown between two turns. */
const MOST_OFFERS = 5;

/** What it asks of the app. */
export interface LearningSource {
  readonly learning: () => Promise<Pick<Learning, 'announcements' | 'offers' | 'accept' | 'reject'>>;
  readonly mayHaveNews: () => boolean;
}

export function createBetweenTurns(source: LearningSource, ask: Ask | undefined): BetweenTurns {
  return new Between(source, ask);
}

class Between implements BetweenTurns {
  readonly #source: LearningSource;
  readonly #ask: Ask | undefined;
  readonly #asked = new Set<string>();
  #line: string | undefined;

  constructor(source: LearningSource, ask: Ask | undefined) {
    this.#source = source;
    this.#ask = ask;
  }

  async news(): Promise<readonly string[]> {
    return this.#source.mayHaveNews() ? (await this.#source.learning()).announcements() : [];
  }

  takeLine(): string | undefined {
    const line = this.#line;
    this.#line = undefined;
    return line;
  }

  async *say(signal: AbortSignal): AsyncGenerator<string, void> {
    yield* await this.news();
    const offers = (await this.#offers()).filter(({ id }) => !this.#asked.has(id));
    for (const offer of offers.slice(0, MOST_OFFERS)) {
      this.#asked.add(offer.id);
      if (this.#ask) yield* this.#decide(offer, this.#ask, signal);
      else yield* [offer.line, `/pending accept ${offer.id} keeps it, /pending show ${offer.id} shows it`];
      if (this.#line !== undefined) return;
    }
    if (offers.length > MOST_OFFERS) yield `and ${offers.length - MOST_OFFERS} more: /pending list`;
  }

  async #offers(): Promise<readonly LearningOffer[]> {
    return this.#source.mayHaveNews() ? (await this.#source.learning()).offers() : [];
  }

  async *#decide(offer: LearningOffer, ask: Ask, signal: AbortSignal): AsyncGenerator<string, void> {
    for (;;) {
      const answer = (await ask({ lines: [offer.line], keys: 'y / n / show / always' }, signal))?.trim() ?? '';
      const wish = WISHES.find(([pattern]) => pattern.test(answer))?.[1] ?? 'later';
      if (wish === 'show') {
        yield offer.text;
        continue;
      }
      if (wish === 'later' && answer !== '') this.#line = answer;
      yield await this.#carryOut(offer.id, wish, signal);
      return;
    }
  }

  /** Gives what to say about it. */
  async #carryOut(id: string, wish: Exclude<Wish, 'show'>, signal: AbortSignal): Promise<string> {
    if (wish === 'later') return `It waits: /pending accept ${id}`;
    const learning = await this.#source.learning();
    const done =
      wish === 'drop'
        ? await learning.reject(id)
        : await learning.accept(id, wish === 'always' ? { always: true } : {}, signal);
    return done.ok ? done.value : `Not done: ${done.detail}`;
  }
}
