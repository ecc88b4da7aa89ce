// Owns which quotations a child's reply offers, wherever it put them: the fact lists, claims of an artifact, references, or plain lines.
// Judges none of them. Invariant: total on any value; order as they stand. Seed 003: child outputs carry structured evidence.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { chunkIdOf, FACT_LISTS, factIdsOf } from '../../guard/read-claims.ts';

export interface ClaimedFact {
  readonly text: string;
  readonly fact_id: string | null;
  readonly chunk_id: string | null;
}

/** The first of these that is there is the quotation. */
const QUOTE_FIELDS: readonly string[] = ['text', 'quoted_evidence', 'quote', 'statement', 'claim'];
const MOST_CLAIMED = 400;

/** References are read when no list holds a fact: there a claim stands, not always a quotation. */
export function claimedFacts(reply: JsonObject): readonly ClaimedFact[] {
  const { result } = reply;
  const holders = isJsonObject(result) ? [result, result.details].filter(isJsonObject) : [];
  const lists = [...holders, reply].flatMap((holder) => FACT_LISTS.map((key) => holder[key]));
  const facts = [...lists, ...artifactClaims(reply.artifacts)].flatMap(factsOf);
  const found = facts.length > 0 ? facts : factsOf(reply.evidence_references);
  return found.slice(0, MOST_CLAIMED);
}

function artifactClaims(value: JsonValue | undefined): readonly (JsonValue | undefined)[] {
  const list: readonly JsonValue[] = Array.isArray(value) ? value : [];
  return list.map((artifact) => (isJsonObject(artifact) ? (artifact.claims ?? artifact.facts) : undefined));
}

function factsOf(value: JsonValue | undefined): readonly ClaimedFact[] {
  const list: readonly JsonValue[] = Array.isArray(value) ? value : isJsonObject(value) ? [value] : [];
  return list.flatMap((item) => {
    if (typeof item === 'string') return item.trim() === '' ? [] : [{ text: item, fact_id: null, chunk_id: null }];
    return isJsonObject(item) ? factOf(item) : [];
  });
}

function factOf(item: JsonObject): readonly ClaimedFact[] {
  const text = QUOTE_FIELDS.map((field) => item[field]).find((value) => typeof value === 'string' && value !== '');
  if (typeof text !== 'string') return [];
  const cited = Array.isArray(item.evidence_chunk_ids) ? item.evidence_chunk_ids[0] : undefined;
  const chunk_id = chunkIdOf(item) ?? (typeof cited === 'string' ? cited : null);
  return [{ text, fact_id: factIdsOf(item)[0] ?? null, chunk_id }];
}

const SHORTEST_LINE = 12;

/** Of a reply in prose: its lines without list marks and quotation marks; which of them stand in the chunk is for others to say. */
export function proseLines(reply: string): readonly string[] {
  const lines = reply.split(/\r\n|\n|\r/).map((line) => bareLine(line));
  return [...new Set(lines.filter(isLine))].slice(0, MOST_CLAIMED);
}

/** Of a line that has several, with their marks at the end. */
export function proseSentences(line: string): readonly string[] {
  const sentences = line.split(/(?<=[.!?…][)"”’]?)\s+/u).map((sentence) => sentence.trim());
  return sentences.length < 2 ? [] : sentences.filter(isLine);
}

/** Long enough to be a quotation. */
function isLine(text: string): boolean {
  return text.length >= SHORTEST_LINE;
}

function bareLine(line: string): string {
  const inner = line.trim().replace(/^(?:[-*>•]|\d{1,3}[.)])\s+/, '');
  return /^["“„'`].*["”“'`]$/.test(inner) ? inner.slice(1, -1).trim() : inner;
}
