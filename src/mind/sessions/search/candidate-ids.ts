// Owns the first pass: from the whole lane to the few hundred rows that are worth ranking. It adds up word weights over lists of row ids,
// rarest words first, within a budget. Knows no text. Invariant: work is bounded by the budget, however common the words are.
import type { PlannedStem, QueryPlan } from './query-plan.ts';
import type { SearchLane } from './search-lane.ts';

/** Row ids that are read in one search at most. */
const BUDGET = 150_000;
/** Even a very common word brings its newest rows. */
const LEAST_PER_WORD = 2_000;
/** Share of its neighbours' weight that a row gets when the pass picks. */
const NEIGHBOUR = 0.4;
const BUCKETS = 2048;

export class CandidateFinder {
  readonly #lane: SearchLane;
  #sums = new Float32Array(0);
  #seenBy = new Uint8Array(0);
  #touched: number[] = [];

  constructor(lane: SearchLane) {
    this.#lane = lane;
  }

  /** Ids of about `count` most promising rows, in no order. */
  find(plan: QueryPlan, count: number): number[] {
    try {
      let left = BUDGET;
      for (const word of byPromise(plan.stems)) {
        const limit = Math.max(LEAST_PER_WORD, left);
        left -= this.#addList(word, limit);
        if (left < -BUDGET / 4) break;
      }
      return this.#best(count);
    } finally {
      this.#clear();
    }
  }

  #addList(word: PlannedStem, limit: number): number {
    const ids = this.#lane.idsMatching(`"${word.stem}"`, limit);
    let id = 0;
    let count = 0;
    for (let at = 0; at <= ids.length; at += 1) {
      const code = at < ids.length ? ids.charCodeAt(at) : 44;
      if (code !== 44) id = id * 10 + code - 48;
      else if (id > 0) {
        this.#add(id, word);
        id = 0;
        count += 1;
      }
    }
    return count;
  }

  #add(id: number, word: PlannedStem): void {
    if (id >= this.#sums.length) this.#grow(id + 1);
    const sum = this.#sums[id] ?? 0;
    if (sum === 0) this.#touched.push(id);
    else if (this.#seenBy[id] === word.group + 1) return; // a better variant of the same word was there
    this.#sums[id] = sum + word.weight;
    this.#seenBy[id] = word.group + 1;
  }

  #grow(size: number): void {
    const length = Math.ceil(size * 1.25) + 1024;
    const sums = new Float32Array(length);
    sums.set(this.#sums);
    this.#sums = sums;
    const seenBy = new Uint8Array(length);
    seenBy.set(this.#seenBy);
    this.#seenBy = seenBy;
  }

  #promise(id: number): number {
    const sums = this.#sums;
    return (sums[id] ?? 0) + NEIGHBOUR * ((sums[id - 1] ?? 0) + (sums[id + 1] ?? 0));
  }

  /** Everything above the bucket in which the wanted number is reached, and of that bucket what is missing, newest first. */
  #best(count: number): number[] {
    if (this.#touched.length <= count) return [...this.#touched];
    const promise = new Float32Array(this.#touched.length);
    let most = 0;
    for (const [at, id] of this.#touched.entries()) {
      const value = this.#promise(id);
      promise[at] = value;
      if (value > most) most = value;
    }
    const scale = (BUCKETS - 1) / most;
    const sizes = new Uint32Array(BUCKETS);
    for (const value of promise) {
      const bucket = (value * scale) | 0;
      sizes[bucket] = (sizes[bucket] ?? 0) + 1;
    }
    let edge = BUCKETS - 1;
    let above = 0;
    while (edge > 0 && above + (sizes[edge] ?? 0) < count) {
      above += sizes[edge] ?? 0;
      edge -= 1;
    }
    const sure = this.#touched.filter((_, at) => (((promise[at] ?? 0) * scale) | 0) > edge);
    const onEdge = this.#touched.filter((_, at) => (((promise[at] ?? 0) * scale) | 0) === edge);
    return [...sure, ...onEdge.slice(0, count - above)];
  }

  #clear(): void {
    for (const id of this.#touched) {
      this.#sums[id] = 0;
      this.#seenBy[id] = 0;
    }
    this.#touched = [];
  }
}

/** The words of the question before their relatives, the weighty before the light. */
function byPromise(stems: readonly PlannedStem[]): readonly PlannedStem[] {
  return [...stems].filter((word) => word.weight > 0).sort((a, b) => b.weight - a.weight);
}
