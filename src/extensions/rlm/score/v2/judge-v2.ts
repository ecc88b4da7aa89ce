// Owns the second judgement of a completion (notes 22.6): a guard holds for its own sentence, ids end where words end, every field is seen.
// Does not know weights. Invariant: what the first judgement finds claimed under an id, this one finds too.
import type { JsonObject } from '#base/json.ts';
import type { Judgement } from '../judgement.ts';
import { type Entry, readEntries, withoutClaims } from '../read-entries.ts';
import type { ScoreFact, ScoreFixture } from '../score-fixture.ts';
import { completionTexts } from './completion-texts.ts';
import { factPattern, statesFact } from './fact-sentences.ts';
import { reportsBoundary } from './reports-boundary.ts';

export function judgeV2(fixture: ScoreFixture, completion: JsonObject): Judgement {
  const entries = readEntries(completion);
  const texts = completionTexts(completion);
  const cited = new Set(entries.filter((entry) => entry.isReference).map((entry) => entry.chunkId));
  const named = namedOutsideClaims(fixture, completion);
  return {
    supported: (fact) =>
      entries.some((entry) => fact.chunk_id !== null && entry.chunkId === fact.chunk_id && supports(entry, fact)),
    claimed: (fact) => {
      const pattern = factPattern(fact);
      return (
        entries.some((entry) => entry.factIds.includes(fact.fact_id)) || texts.some((item) => statesFact(item, pattern))
      );
    },
    cited: (chunkId) => cited.has(chunkId),
    citedOmitted: (chunkId) => named.has(chunkId),
    reportsBoundary: reportsBoundary(fixture.boundary, texts),
  };
}

/** A claim on an omitted fact counts as that claim; the chunk that it names is not counted a second time. */
function namedOutsideClaims(fixture: ScoreFixture, completion: JsonObject): ReadonlySet<string> {
  const omitted = new Set(fixture.omittedFacts.map((fact) => fact.fact_id));
  const rest = withoutClaims(completion, omitted);
  return new Set(
    completionTexts(rest)
      .filter((item) => !item.isGap)
      .map((item) => item.text),
  );
}

function supports(entry: Entry, fact: ScoreFact): boolean {
  return entry.factIds.includes(fact.fact_id) || statesFact({ text: entry.text, isGap: false }, factPattern(fact));
}
