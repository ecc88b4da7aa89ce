// Owns our rules for one claim: the original's, on every chunk that a fact has, then its words against those of the evidence.
// Invariant: a claim is accepted on one piece of evidence of which it is whole sentences; taking evidence away never accepts more.
// Seed 003, notes 2.5 (holes 2 and 5).
import type { JsonObject } from '#base/json.ts';
import type { EvidenceWords } from './evidence-words.ts';
import { holdsText } from './holds-text.ts';
import { mismatch, missingHandle, type Refused, unsupported, withoutFact } from './judge-v1.ts';
import type { ManifestIndex } from './manifest-index.ts';
import type { LocatedClaim } from './read-claims.ts';
import { TEXT_FIELDS } from './read-claims.ts';

/** Undefined: accepted. */
export function judgeStrict({ claim, holder }: LocatedClaim, index: ManifestIndex): Refused | undefined {
  const { fact_id, chunk_id, surface } = claim;
  if (fact_id === null) return withoutFact();
  const chunks = index.chunksOf(fact_id);
  if (chunks === undefined) return unsupported(fact_id);
  if (chunk_id === null) return missingHandle(fact_id);
  const evidence = chunks.get(chunk_id);
  if (evidence === undefined) return mismatch(fact_id, chunk_id);
  const field = unsaidField(holder, evidence, surface);
  if (field === undefined) return undefined;
  const detail = `The ${field} of ${fact_id} is not what its evidence says.`;
  return { reason: 'evidence_text_mismatch', detail };
}

/** The summary of a result that is itself a claim is its summary, no claim. */
function unsaidField(holder: JsonObject, evidence: readonly EvidenceWords[], surface: string): string | undefined {
  const fields = TEXT_FIELDS.filter(
    (field) => holder[field] !== undefined && !(surface === 'result' && field === 'summary'),
  );
  const problems = evidence.map((one) => fields.find((field) => !isSaid(one, holder[field])));
  return problems.includes(undefined) ? undefined : problems[0];
}

function isSaid(evidence: EvidenceWords, value: unknown): boolean {
  return typeof value === 'string' ? evidence.says(value) : !holdsText(value);
}
