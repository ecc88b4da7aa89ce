// Owns fresh child evidence: whether what a child offers stands in the chunk it was given, and the ledger of a run in which each such fact
// is kept once, with its id and its place. A quotation is taken with the whole of its sentence, line or item, so that all who read on see it.
// Knows no tree. Invariant: what is kept stands in its chunk as it is, from the beginning of a passage to the end of one; the same place of
// the same chunk has one id, whoever reports it. Seed 003: fresh child evidence; notes 4 (here the chunk decides, no ground truth).
import { findQuote, type WholePlace, WholeQuotes } from '#base/text/quotes.ts';
import { oneLine } from '#base/text.ts';
import type { FreshFact, SourcePlace } from '../outcome.ts';

/** A chunk as a call gets it, with its text. */
export interface ChunkText {
  readonly chunk_id: string;
  readonly source_path: string | null;
  readonly start_line: number;
  readonly end_line: number;
  readonly start_byte: number;
  readonly end_byte: number;
  readonly token_estimate: number;
  readonly truncated: boolean;
  readonly lossy: boolean;
  readonly text: string;
}

/** What a reply offers, wherever it put it. */
export interface ClaimedFact {
  readonly text: string;
  readonly fact_id: string | null;
  readonly chunk_id: string | null;
}

export interface CheckedFact {
  /** As it stands in the chunk, white space and all. */
  readonly text: string;
  readonly chunk: ChunkText;
  /** UTF-16 offsets into the chunk, half-open. */
  readonly place: { readonly start: number; readonly end: number };
  /** The child's, when it stands on the lines of the quotation. */
  readonly fact_id: string | null;
}

export type FactRefusal = 'not_in_chunk' | 'evidence_handle_mismatch' | 'too_long' | 'too_many' | 'no_words';

export interface CheckedFacts {
  readonly facts: readonly CheckedFact[];
  readonly refused: readonly { readonly text: string; readonly reason: FactRefusal }[];
}

/** Of one reply. */
const MOST_FACTS = 40;
/** UTF-16 units of one quotation, as it is offered and as it is taken. */
const LONGEST_QUOTE = 2_000;

export function checkFacts(claimed: readonly ClaimedFact[], chunks: readonly ChunkText[]): CheckedFacts {
  const open = chunks.map((chunk) => ({ chunk, quotes: new WholeQuotes(chunk.text) }));
  const facts = new Map<string, CheckedFact>();
  const refused: CheckedFacts['refused'][number][] = [];
  for (const one of claimed) {
    const checked = checkFact(one, open);
    if (typeof checked === 'string') refused.push({ text: one.text, reason: checked });
    else if (!facts.has(placeKey(checked))) {
      if (facts.size < MOST_FACTS) facts.set(placeKey(checked), checked);
      else refused.push({ text: one.text, reason: 'too_many' });
    }
  }
  return { facts: [...facts.values()], refused };
}

/** Whatever id each gives it, what stands in one place is one fact. */
export function placeKey({ chunk, place }: CheckedFact): string {
  return `${chunk.chunk_id} ${place.start} ${place.end}`;
}

interface OpenChunk {
  readonly chunk: ChunkText;
  readonly quotes: WholeQuotes;
}

function checkFact({ text, fact_id, chunk_id }: ClaimedFact, open: readonly OpenChunk[]): CheckedFact | FactRefusal {
  if (!/[\p{L}\p{N}]/u.test(text)) return 'no_words';
  if (text.length > LONGEST_QUOTE) return 'too_long';
  const asked = chunk_id === null ? open : open.filter(({ chunk }) => chunk.chunk_id === chunk_id);
  for (const { chunk, quotes } of asked) {
    const place = quotes.find(text) ?? quotes.find(unquoted(text));
    if (place !== undefined) return factAt(chunk, place, fact_id);
  }
  const elsewhere = chunk_id !== null && open.some(({ quotes }) => quotes.find(text) !== undefined);
  return elsewhere || asked.length === 0 ? 'evidence_handle_mismatch' : 'not_in_chunk';
}

function factAt(chunk: ChunkText, { start, end }: WholePlace, fact_id: string | null): CheckedFact | FactRefusal {
  if (end - start > LONGEST_QUOTE) return 'too_long';
  const fact = { text: chunk.text.slice(start, end), chunk, place: { start, end } };
  return { ...fact, fact_id: fact_id !== null && isBeside(fact_id, fact) ? fact_id : null };
}

/** Quotation marks around a quotation belong to who quotes. */
function unquoted(text: string): string {
  return text.trim().replace(/^["“„'`]+|["”“'`]+$/g, '');
}

const ID = /^[^\s"'`{}[\]]{1,80}$/u;

/** Does the id stand on the lines of the quotation? */
function isBeside(fact_id: string, { chunk, place }: Pick<CheckedFact, 'chunk' | 'place'>): boolean {
  const to = chunk.text.indexOf('\n', place.end);
  const lines = chunk.text.slice(chunk.text.lastIndexOf('\n', place.start - 1) + 1, to < 0 ? undefined : to);
  return ID.test(fact_id) && findQuote(oneLine(lines), fact_id).length > 0;
}

/** Ids follow from the order in which replies are taken. */
export class FactLedger {
  readonly #order: ReadonlyMap<string, number>;
  readonly #byKey = new Map<string, FreshFact>();
  readonly #ids = new Set<string>();
  readonly #counts = new Map<string, number>();

  /** `chunk_ids`: in the order of the run. */
  constructor(chunk_ids: readonly string[]) {
    this.#order = new Map(chunk_ids.map((id, at) => [id, at + 1]));
  }

  add(facts: readonly CheckedFact[], child_call_id: string): readonly FreshFact[] {
    return facts.map((fact) => this.#addOne(fact, child_call_id));
  }

  /** In the order of chunks, then of places. */
  all(): readonly FreshFact[] {
    return [...this.#byKey.values()].sort((left, right) => {
      const [one, other] = [this.#order.get(left.chunk_id) ?? 0, this.#order.get(right.chunk_id) ?? 0];
      return one - other || (left.place?.start_byte ?? 0) - (right.place?.start_byte ?? 0);
    });
  }

  #addOne(fact: CheckedFact, child_call_id: string): FreshFact {
    const { chunk_id } = fact.chunk;
    const text = fact.text.trim();
    const key = JSON.stringify([chunk_id, text.replace(/\s+/g, ' ')]);
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const fact_id = this.#freeId(fact.fact_id, chunk_id);
    const fresh: FreshFact = { fact_id, chunk_id, text, child_call_id, place: sourcePlace(fact) };
    this.#ids.add(fact_id);
    this.#byKey.set(key, fresh);
    return fresh;
  }

  #freeId(own: string | null, chunk_id: string): string {
    if (own !== null && !this.#ids.has(own)) return own;
    for (;;) {
      const count = (this.#counts.get(chunk_id) ?? 0) + 1;
      this.#counts.set(chunk_id, count);
      const id = `f${String(this.#order.get(chunk_id) ?? 0).padStart(3, '0')}.${String(count).padStart(2, '0')}`;
      if (!this.#ids.has(id)) return id;
    }
  }
}

function sourcePlace({ chunk, place }: CheckedFact): SourcePlace | null {
  if (chunk.source_path === null) return null;
  const before = chunk.text.slice(0, place.start);
  const quote = chunk.text.slice(place.start, place.end);
  const start_line = chunk.start_line + lineEnds(before);
  // Bytes that are no text have no place of their own; the chunk's is right in any case.
  const [start_byte, end_byte] = chunk.lossy ? [chunk.start_byte, chunk.end_byte] : byteRange(chunk, before, quote);
  return {
    source_path: chunk.source_path,
    start_line,
    end_line: start_line + lineEnds(quote),
    start_byte,
    end_byte,
  };
}

function byteRange(chunk: ChunkText, before: string, quote: string): readonly [number, number] {
  const start = chunk.start_byte + Buffer.byteLength(before);
  return [start, start + Buffer.byteLength(quote)];
}

function lineEnds(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
}
