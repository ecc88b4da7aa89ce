// Owns the score of a row for a question: BM25 over the best variant of each word, neighbouring turns, the passage around it, speaker,
// time, kind of question. Pure functions on data. Invariant: more matching words never lower a row's own part.

import type { QueryPlan } from './query-plan.ts';
import type { LaneRow } from './search-lane.ts';
import { ENDS_AS_QUESTION, HAS_QUESTION, SAYS_HOW_MANY, SAYS_WHEN } from './search-lane.ts';

export interface Weights {
  /** BM25: how fast repetition saturates, how much length matters. */
  readonly saturation: number;
  readonly length: number;
  /** What a row gets of the rows before it (1, 2, 3 turns back) and after it. */
  readonly before: readonly number[];
  readonly after: readonly number[];
  /** More of the row before when that asked something: this row answers it. */
  readonly answer: number;
  /** What a row gets of the three best rows within `passageTurns` of it. */
  readonly passage: number;
  readonly speaker: number;
  readonly when: number;
  readonly howMany: number;
  /** Taken from a row that only asks. */
  readonly asking: number;
  /** Times the logarithm of all rows, for a row of the wanted time. */
  readonly date: number;
  readonly recency: number;
}

const WEIGHTS: Weights = {
  saturation: 0.7,
  length: 0.35,
  before: [0.35, 0.15, 0.05],
  after: [0.4, 0.1, 0.05],
  answer: 0.4,
  passage: 0.25,
  speaker: 0.6,
  when: 0.1,
  howMany: 0.2,
  asking: 0.2,
  date: 0.47,
  recency: 0.05,
};

export const PASSAGE_TURNS = 12;
const SECOND_SHARE = 0.5;
const THIRD_SHARE = 0.25;
const DAY_MS = 86_400_000;

/** Scores rows by themselves; keeps the plan in the form that this needs. */
export class RowScorer {
  readonly #plan: QueryPlan;
  readonly #weights: Weights;
  readonly #uses = new Map<string, { readonly group: number; readonly weight: number }[]>();

  constructor(plan: QueryPlan, weights: Weights = WEIGHTS) {
    this.#plan = plan;
    this.#weights = weights;
    for (const { stem, group, weight } of plan.stems) {
      const uses = this.#uses.get(stem);
      if (uses === undefined) this.#uses.set(stem, [{ group, weight }]);
      else uses.push({ group, weight });
    }
  }

  /** The row's own words. */
  own(terms: string): number {
    const stems = terms.split(' ');
    const found = new Map<string, number>();
    let bonus = 0;
    let last = '';
    for (const stem of stems) {
      if (this.#uses.has(stem)) {
        const times = found.get(stem);
        found.set(stem, (times ?? 0) + 1);
        if (last !== '') bonus = Math.max(bonus, this.#plan.pairs.get(`${last} ${stem}`) ?? 0);
        last = stem;
      } else last = '';
    }
    return found.size === 0 ? 0 : bonus + this.#groupSum(found, stems.length);
  }

  #groupSum(found: ReadonlyMap<string, number>, length: number): number {
    const { saturation, length: lengthWeight } = this.#weights;
    const norm = saturation * (1 - lengthWeight + (lengthWeight * length) / this.#plan.meanLength);
    const best = new Float64Array(this.#plan.groups.length);
    for (const [stem, times] of found) {
      const frequency = (times * (saturation + 1)) / (times + norm);
      for (const { group, weight } of this.#uses.get(stem) ?? []) {
        best[group] = Math.max(best[group] ?? 0, weight * frequency);
      }
    }
    let sum = 0;
    for (const value of best) sum += value;
    return sum;
  }

  /** Factor for who speaks and what kind of sentence it is. */
  factor(row: LaneRow): number {
    const { speaker, asksWhen, asksHowMany } = this.#plan;
    const weights = this.#weights;
    let factor = 1;
    if (row.speaker === speaker) factor += weights.speaker;
    if (asksWhen && row.flags & SAYS_WHEN) factor += weights.when;
    if (asksHowMany && row.flags & SAYS_HOW_MANY) factor += weights.howMany;
    if (row.flags & ENDS_AS_QUESTION) factor -= weights.asking;
    return factor;
  }

  /** Added for the row's time: the wanted one, and a touch for recent ones that breaks ties. */
  time(row: LaneRow, now: number): number {
    let fit = 0;
    for (const hint of this.#plan.dates) fit = Math.max(fit, hint.fit(row.at));
    const age = Math.max(0, now - row.at) / DAY_MS;
    const wanted = this.#weights.date * Math.log(1 + this.#plan.rows) * fit;
    return wanted + this.#weights.recency / (1 + age / 30);
  }

  /** Score of the row at `at` of a run of consecutive rows of one session; `owns` are their own parts. */
  inContext(rows: readonly LaneRow[], owns: ArrayLike<number>, at: number): number {
    const row = rows[at];
    if (row === undefined) return 0;
    const { before, after, answer, passage } = this.#weights;
    let score = owns[at] ?? 0;
    for (const [step, share] of before.entries()) score += share * (owns[at - step - 1] ?? 0);
    for (const [step, share] of after.entries()) score += share * (owns[at + step + 1] ?? 0);
    if ((rows[at - 1]?.flags ?? 0) & HAS_QUESTION) score += answer * (owns[at - 1] ?? 0);
    return (score + passage * passageBest(owns, at, rows.length)) * this.factor(row);
  }
}

/** The three best own parts around a row, the second and third counting less. */
function passageBest(owns: ArrayLike<number>, at: number, length: number): number {
  let first = 0;
  let second = 0;
  let third = 0;
  const end = Math.min(length - 1, at + PASSAGE_TURNS);
  for (let near = Math.max(0, at - PASSAGE_TURNS); near <= end; near += 1) {
    const value = owns[near] ?? 0;
    if (value > first) {
      third = second;
      second = first;
      first = value;
    } else if (value > second) {
      third = second;
      second = value;
    } else if (value > third) third = value;
  }
  return first + SECOND_SHARE * second + THIRD_SHARE * third;
}
