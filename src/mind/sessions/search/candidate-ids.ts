// Owns the first pass: from the whole lane to the few hundred rows that are worth ranking. It adds up word weights over lists of row ids,
// weighty words first, within a budget. Knows no text. Invariant: what is read is bounded, however common the words are.
import { TalariaError } from '#base/errors.ts';
import type { PlannedStem, QueryPlan } from './query-plan.ts';
import type { SearchLane } from './search-lane.ts';

/** Ids that are read from the index in one search at most; those in memory are free. */
const MOST_READ = 120_000;
/** Ids that are added up in one search at most, read or in memory. */
const MOST_ADDED = 240_000;
/** Even past these a word brings about that many of its newest rows. */
const LEAST_PER_WORD = 1_000;
/** What a row is promised of the rows 1, 2 and 3 places before and after it: ids of a conversation mostly follow each other. */
const NEAR = [0.45, 0.14, 0.06];
const BUCKETS = 4096;
/** Rows whose neighbourhood is looked at. */
const STRONG = 10_000;
/** From so many rows on, words only add to rows that weightier words have brought. */
const ENOUGH = 40_000;

export interface Candidate {
  readonly id: number;
  /** Weight that its neighbours would give it, as far as this pass can see. */
  readonly near: number;
}

export class CandidateFinder {
  readonly #lane: SearchLane;
  readonly #postings: PostingCache;
  #sums = new Float32Array(0);
  #seenBy = new Uint8Array(0);
  #touched = new Uint32Array(0);
  #count = 0;

  constructor(lane: SearchLane) {
    this.#lane = lane;
    this.#postings = new PostingCache(lane);
  }

  /** About `count` most promising rows, in no order. */
  find(plan: QueryPlan, count: number): readonly Candidate[] {
    const newest = this.#lane.lastId();
    this.#grow(newest);
    try {
      let toRead = MOST_READ;
      let toAdd = MOST_ADDED;
      for (const word of byWeight(plan.stems)) {
        const limit = Math.max(LEAST_PER_WORD, toRead);
        const { ids, cost } = this.#postings.read({ stem: word.stem, rows: word.rows, limit }, newest);
        const added = ids.subarray(-Math.max(LEAST_PER_WORD, toAdd));
        this.#add(added, word);
        toRead -= cost;
        toAdd -= added.length;
      }
      return this.#best(count);
    } finally {
      this.#clear();
    }
  }

  #add(ids: Uint32Array, word: PlannedStem): void {
    const { weight } = word;
    const open = this.#count < ENOUGH; // else a light word alone brings no new row
    const mark = word.group + 1;
    const [sums, seenBy, touched] = [this.#sums, this.#seenBy, this.#touched];
    const length = sums.length;
    let count = this.#count;
    for (let at = 0; at < ids.length; at += 1) {
      const id = ids[at] as number;
      if (id >= length) break; // came after this search began
      const sum = sums[id] as number;
      if (sum === 0) {
        if (!open) continue;
        touched[count] = id;
        count += 1;
      } else if (seenBy[id] === mark) continue; // a better variant of the same word is counted
      sums[id] = sum + weight;
      seenBy[id] = mark;
    }
    this.#count = count;
  }

  #grow(newest: number): void {
    if (newest + NEAR.length < this.#sums.length) return;
    const length = Math.ceil(newest * 1.2) + 1024;
    this.#sums = new Float32Array(length);
    this.#seenBy = new Uint8Array(length);
    this.#touched = new Uint32Array(length);
  }

  /** Rows with the most weight of their own first, then of those the ones with the most around them. */
  #best(count: number): readonly Candidate[] {
    const own = new Float32Array(this.#count);
    for (let at = 0; at < own.length; at += 1) own[at] = this.#sums[this.#touched[at] as number] as number;
    const strong = highest(own, STRONG);
    const candidates = Array.from(strong, (at) => this.#candidate(this.#touched[at] as number));
    const promise = Float32Array.from(candidates, ({ id, near }) => (this.#sums[id] as number) + near);
    return Array.from(highest(promise, count), (at) => candidates[at] as Candidate);
  }

  #candidate(id: number): Candidate {
    const sums = this.#sums;
    let near = 0;
    for (let step = 1; step <= NEAR.length; step += 1) {
      const before = id >= step ? (sums[id - step] as number) : 0;
      near += (NEAR[step - 1] as number) * (before + (sums[id + step] as number));
    }
    return { id, near };
  }

  #clear(): void {
    for (let at = 0; at < this.#count; at += 1) {
      const id = this.#touched[at] as number;
      this.#sums[id] = 0;
      this.#seenBy[id] = 0;
    }
    this.#count = 0;
  }
}

/** Places of the `count` highest values; among nearly equal ones at the edge the last. */
function highest(values: Float32Array, count: number): Uint32Array {
  const scale = (BUCKETS - 1) / (largest(values) || 1);
  const edge = values.length <= count ? -1 : edgeBucket(values, scale, count);
  const places = new Uint32Array(Math.min(count, values.length));
  let sure = 0;
  let last = places.length;
  for (let at = 0; at < values.length; at += 1) {
    const bucket = ((values[at] as number) * scale) | 0;
    if (bucket > edge) {
      places[sure] = at;
      sure += 1;
    }
  }
  for (let at = values.length - 1; at >= 0 && last > sure; at -= 1) {
    if ((((values[at] as number) * scale) | 0) !== edge) continue;
    last -= 1;
    places[last] = at;
  }
  return places;
}

function largest(values: Float32Array): number {
  let most = 0;
  for (let at = 0; at < values.length; at += 1) if ((values[at] as number) > most) most = values[at] as number;
  return most;
}

/** The bucket in which, counted from the top, the wanted number is reached. */
function edgeBucket(values: Float32Array, scale: number, count: number): number {
  const sizes = new Uint32Array(BUCKETS);
  for (let at = 0; at < values.length; at += 1) {
    const bucket = ((values[at] as number) * scale) | 0;
    sizes[bucket] = (sizes[bucket] as number) + 1;
  }
  let above = 0;
  for (let edge = BUCKETS - 1; edge > 0; edge -= 1) {
    above += sizes[edge] as number;
    if (above >= count) return edge;
  }
  return 0;
}

function byWeight(stems: readonly PlannedStem[]): readonly PlannedStem[] {
  return stems.filter((word) => word.weight > 0).sort((a, b) => b.weight - a.weight);
}

// The row ids of recently asked words, kept in memory and brought up to date with the rows that came since. Knows no weights.
// Invariant: bounded memory and bounded reading; an id of a row that is gone is harmless, since rows are read again before they are ranked.

/** Ids in memory at most (4 bytes each). */
const LARGEST = 8_000_000;

interface Posting {
  readonly ids: Uint32Array;
  /** Every row up to here that holds the word is in `ids`. */
  readonly upTo: number;
  /** The list begins at this id; 0 when it is whole. */
  readonly from: number;
}

export interface PostingRequest {
  readonly stem: string;
  /** Rows that hold it, by the statistics. */
  readonly rows: number;
  /** Ids to read from the index at most, newest first; about. */
  readonly limit: number;
}

class PostingCache {
  readonly #lane: SearchLane;
  readonly #postings = new Map<string, Posting>();
  #size = 0;

  constructor(lane: SearchLane) {
    this.#lane = lane;
  }

  /** Ascending ids and how many of them had to be read. `newest` is the lane's last id. */
  read(request: PostingRequest, newest: number): { readonly ids: Uint32Array; readonly cost: number } {
    const { stem, rows, limit } = request;
    const known = this.#postings.get(stem);
    const from = rows <= limit ? 0 : Math.trunc(newest * (1 - limit / rows));
    if (known !== undefined && (known.from === 0 || known.from <= from)) return this.#extend(stem, known, newest);
    const ids = parseIds(this.#lane.idsMatching(`"${stem}"`, from));
    if (from === 0 && rows > 0 && ids.length === 0) throw missingWord(stem);
    this.#keep(stem, { ids, upTo: newest, from });
    return { ids, cost: ids.length };
  }

  #extend(stem: string, known: Posting, newest: number): { readonly ids: Uint32Array; readonly cost: number } {
    const added = known.upTo < newest ? parseIds(this.#lane.idsMatching(`"${stem}"`, known.upTo)) : undefined;
    const ids = added === undefined || added.length === 0 ? known.ids : join(known.ids, added);
    this.#keep(stem, { ids, upTo: newest, from: known.from });
    return { ids, cost: added?.length ?? 0 };
  }

  /** The latest used stand last in the map; the first ones go when there are too many ids. */
  #keep(stem: string, posting: Posting): void {
    this.#size += posting.ids.length - (this.#postings.get(stem)?.ids.length ?? 0);
    this.#postings.delete(stem);
    this.#postings.set(stem, posting);
    for (const [oldest, { ids }] of this.#postings) {
      if (this.#size <= LARGEST || oldest === stem) return;
      this.#postings.delete(oldest);
      this.#size -= ids.length;
    }
  }
}

/** Statistics and index are written together: when one knows a word and the other does not, the index has lost it. */
function missingWord(stem: string): TalariaError {
  return new TalariaError(`the search index has lost the word ${stem}`, { code: 'database-corrupt' });
}

function join(first: Uint32Array, second: Uint32Array): Uint32Array {
  const joined = new Uint32Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}

const COMMA = 44;
const ZERO = 48;

/** `3,17,204` as numbers: a list in one string is many times faster to get than a row for each. */
function parseIds(text: string): Uint32Array {
  const ids = new Uint32Array(Math.ceil(text.length / 2) + 1);
  let count = 0;
  let id = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === COMMA) {
      ids[count] = id;
      count += 1;
      id = 0;
    } else id = id * 10 + code - ZERO;
  }
  if (text.length > 0) {
    ids[count] = id;
    count += 1;
  }
  return ids.slice(0, count);
}
