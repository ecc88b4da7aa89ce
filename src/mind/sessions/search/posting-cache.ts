// Owns the row ids of recently asked words, kept in memory and brought up to date with the rows that came since. Knows no weights.
// Invariant: bounded memory and bounded reading; an id of a row that is gone is harmless, since rows are read again before they are ranked.
import { TalariaError } from '#base/errors.ts';
import type { SearchLane } from './search-lane.ts';

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

export class PostingCache {
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
