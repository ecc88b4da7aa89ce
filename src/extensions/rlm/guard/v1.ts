// Owns the original's judgements, with their holes, for conformance: TraceGuard's of a claim, by ids alone (notes 2.3), and the scorer's of a
// completion (notes 6.2): guards count anywhere in a text, ids match as parts of words, few fields are seen. Invariant: equal input, equal
// judgement.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { comparePoints } from '#base/text/code-points.ts';
import { foldText } from '#base/text/fold.ts';
import type { ManifestIndex } from './manifest.ts';
import type { ParentClaim, RejectionReason } from './read-claims.ts';
import {
  type Boundary,
  GUARD_PHRASES,
  type Judgement,
  readEntries,
  type ScoreFact,
  type ScoreFixture,
} from './score-fixture.ts';

const BOUNDARY_MARKERS = [
  'truncation boundary',
  'truncation_boundary',
  'last retained line',
  'last_retained_line',
  'omitted line',
  'omitted_line_count',
];

export function judgeV1(fixture: ScoreFixture, completion: JsonObject): Judgement {
  const entries = readEntries(completion).map((entry) => ({ ...entry, states: textReader(entry.text) }));
  const summaries = summaryTexts(completion).map(textReader);
  const cited = new Set(entries.filter((entry) => entry.isReference).map((entry) => entry.chunkId));
  /** An id in an id field needs no words, and no words undo it. */
  const supporting = (fact: ScoreFact) =>
    entries.filter((entry) => entry.factIds.includes(fact.fact_id) || entry.states(fact));
  return {
    supported: (fact) => fact.chunk_id !== null && supporting(fact).some((entry) => entry.chunkId === fact.chunk_id),
    claimed: (fact) => supporting(fact).length > 0 || summaries.some((states) => states(fact)),
    cited: (chunkId) => cited.has(chunkId),
    citedOmitted: (chunkId) => cited.has(chunkId),
    reportsBoundary: reportsBoundary(fixture.boundary, completion),
  };
}

/** Folds a text once for all facts that are looked for in it. */
function textReader(text: string): (fact: ScoreFact) => boolean {
  const folded = foldText(text, 'scored');
  if (folded === '' || GUARD_PHRASES.some((phrase) => folded.includes(phrase))) return () => false;
  return ({ fact_id, text: wording }) =>
    text.includes(fact_id) || (wording.trim() !== '' && folded.includes(foldText(wording, 'scored')));
}

function reportsBoundary(boundary: Boundary, completion: JsonObject): boolean {
  const text = pythonJson(completion);
  const numbers = [boundary.last_retained_line, boundary.omitted_line_count].filter((number) => number !== null);
  return (
    BOUNDARY_MARKERS.some((marker) => text.includes(marker)) && numbers.every((number) => text.includes(String(number)))
  );
}

function pythonJson(value: JsonValue | undefined): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number') return numberText(value);
  if (Array.isArray(value)) return `[${value.map((item) => pythonJson(item)).join(', ')}]`;
  if (!isJsonObject(value)) return String(value ?? null);
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort(comparePoints)
    .map((key) => `${quoted(key)}: ${pythonJson(value[key])}`);
  return `{${members.join(', ')}}`;
}

function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, escapeUnit);
}

/** DEL is ASCII and stays; beyond the first plane the two halves of a character are escaped one by one. */
function escapeUnit(unit: string): string {
  const code = unit.charCodeAt(0);
  return code === 0x7f ? unit : `\\u${code.toString(16).padStart(4, '0')}`;
}

function numberText(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return BigInt(value).toString();
  const magnitude = Math.abs(value);
  if (magnitude >= 1e-4 && magnitude < 1e16) return String(value);
  const [mantissa = '', exponent = ''] = value.toExponential().split('e');
  const sign = exponent.startsWith('-') ? '-' : '+';
  return `${mantissa}e${sign}${exponent.replace(/^[+-]/, '').padStart(2, '0')}`;
}

const SUMMARY_FIELDS = ['summary', 'answer', 'final_answer'];

function summaryTexts(completion: JsonObject): readonly string[] {
  const result = isJsonObject(completion.result) ? completion.result : {};
  return SUMMARY_FIELDS.map((key) => result[key]).filter((text): text is string => typeof text === 'string');
}

export interface Refused {
  readonly reason: RejectionReason;
  readonly detail: string;
}

/** Undefined: accepted. */
export function judgeClaimV1({ fact_id, chunk_id }: ParentClaim, index: ManifestIndex): Refused | undefined {
  if (fact_id === null) return withoutFact();
  const admitted = index.lastChunk(fact_id);
  if (admitted === undefined) return unsupported(fact_id);
  if (chunk_id === null) return missingHandle(fact_id);
  return chunk_id === admitted ? undefined : mismatch(fact_id, chunk_id);
}

export function withoutFact(): Refused {
  const detail = 'The parent cited a chunk handle but did not identify a supported fact.';
  return { reason: 'chunk_handle_without_fact', detail };
}

export function unsupported(fact: string): Refused {
  const detail = `${fact} is not present in the accepted child evidence manifest.`;
  return { reason: 'unsupported_fact_id', detail };
}

export function missingHandle(fact: string): Refused {
  const detail = `${fact} is claimed without the chunk that it rests on.`;
  return { reason: 'missing_evidence_handle', detail };
}

export function mismatch(fact: string, chunk: string): Refused {
  return { reason: 'evidence_handle_mismatch', detail: `${fact} does not rest on ${chunk}.` };
}
