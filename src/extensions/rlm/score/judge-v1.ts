// Owns the first judgement of a completion, with its holes, for conformance (notes 6.2): guards count anywhere in a text, ids match as
// parts of words, few fields are seen. Does not know weights. Invariant: equal input, equal judgement.
import type { JsonObject } from '#base/json.ts';
import { foldText } from './fold-text.ts';
import { GUARD_PHRASES } from './guard-phrases.ts';
import type { Judgement } from './judgement.ts';
import { pythonJson } from './python-json.ts';
import { readEntries } from './read-entries.ts';
import type { Boundary, ScoreFact, ScoreFixture } from './score-fixture.ts';
import { summaryTexts } from './summary-texts.ts';

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
  const folded = foldText(text);
  if (folded === '' || GUARD_PHRASES.some((phrase) => folded.includes(phrase))) return () => false;
  return ({ fact_id, text: wording }) =>
    text.includes(fact_id) || (wording.trim() !== '' && folded.includes(foldText(wording)));
}

function reportsBoundary(boundary: Boundary, completion: JsonObject): boolean {
  const text = pythonJson(completion);
  const numbers = [boundary.last_retained_line, boundary.omitted_line_count].filter((number) => number !== null);
  return (
    BOUNDARY_MARKERS.some((marker) => text.includes(marker)) && numbers.every((number) => text.includes(String(number)))
  );
}
