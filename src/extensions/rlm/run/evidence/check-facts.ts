// Owns whether what a child offers is evidence: a quotation that stands in the chunk it was given, and its id when the text beside it says
// that id. Knows no run. A quotation cut from words that turn or limit it is taken with its whole sentence, so that all who read on see it.
// Invariant: what passes stands in its chunk word for word but for white space; the rest is refused with a reason.
// Seed 003: fresh child evidence; notes 4 (here the chunk decides, no ground truth).
import type { ClaimedFact } from './claimed-facts.ts';
import { type QuoteFinder, type QuotePlace, quoteFinder } from './quote-finder.ts';
import { type WholeSentence, wholeSentence } from './whole-sentence.ts';

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

export interface CheckedFact {
  /** As it stands in the chunk, white space and all. */
  readonly text: string;
  readonly chunk: ChunkText;
  readonly place: QuotePlace;
  /** The child's, when it stands on the lines of the quotation. */
  readonly fact_id: string | null;
}

export type FactRefusal = 'not_in_chunk' | 'evidence_handle_mismatch' | 'too_long' | 'too_many' | 'no_words';

export interface RefusedFact {
  readonly text: string;
  readonly reason: FactRefusal;
}

export interface CheckedFacts {
  readonly facts: readonly CheckedFact[];
  readonly refused: readonly RefusedFact[];
}

/** Of one reply. */
const MOST_FACTS = 40;
/** UTF-16 units of one quotation. */
const LONGEST_QUOTE = 2_000;

export function checkFacts(claimed: readonly ClaimedFact[], chunks: readonly ChunkText[]): CheckedFacts {
  const finders = chunks.map((chunk) => ({ chunk, finder: quoteFinder(chunk.text), whole: wholeSentence(chunk.text) }));
  const facts: CheckedFact[] = [];
  const refused: RefusedFact[] = [];
  const seen = new Set<string>();
  for (const one of claimed) {
    const checked = checkFact(one, finders);
    if (typeof checked === 'string') refused.push({ text: one.text, reason: checked });
    else if (!seen.has(keyOf(checked))) {
      if (facts.length < MOST_FACTS) facts.push(checked);
      else refused.push({ text: one.text, reason: 'too_many' });
      seen.add(keyOf(checked));
    }
  }
  return { facts, refused };
}

interface OpenChunk {
  readonly chunk: ChunkText;
  readonly finder: QuoteFinder;
  readonly whole: WholeSentence;
}

function checkFact({ text, fact_id, chunk_id }: ClaimedFact, finders: readonly OpenChunk[]): CheckedFact | FactRefusal {
  if (!/[\p{L}\p{N}]/u.test(text)) return 'no_words';
  if (text.length > LONGEST_QUOTE) return 'too_long';
  const asked = chunk_id === null ? finders : finders.filter(({ chunk }) => chunk.chunk_id === chunk_id);
  for (const { chunk, finder, whole } of asked) {
    const found = finder.find(text) ?? finder.find(unquoted(text));
    if (found !== undefined) {
      const place = whole(found);
      const quote = chunk.text.slice(place.start, place.end);
      return { text: quote, chunk, place, fact_id: ownId(fact_id, chunk.text, place) };
    }
  }
  const elsewhere = chunk_id !== null && finders.some(({ finder }) => finder.find(text) !== undefined);
  return elsewhere || asked.length === 0 ? 'evidence_handle_mismatch' : 'not_in_chunk';
}

/** Quotation marks around a quotation belong to who quotes. */
function unquoted(text: string): string {
  return text.trim().replace(/^["“„'`]+|["”“'`]+$/g, '');
}

const ID = /^[^\s"'`{}[\]]{1,80}$/u;

function ownId(fact_id: string | null, text: string, { start, end }: QuotePlace): string | null {
  if (fact_id === null || !ID.test(fact_id)) return null;
  const from = text.lastIndexOf('\n', start - 1) + 1;
  const to = text.indexOf('\n', end);
  return quoteFinder(text.slice(from, to < 0 ? undefined : to)).find(fact_id) === undefined ? null : fact_id;
}

/** Whatever id each gives it, what stands in one place is one fact. */
function keyOf({ chunk, place }: CheckedFact): string {
  return `${chunk.chunk_id} ${place.start} ${place.end}`;
}
