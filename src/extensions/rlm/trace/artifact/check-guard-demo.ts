// Owns checking the guard's demo: every claim of its verdicts is judged again, by the original's rules, against its manifest. The file keeps
// verdicts and no syntheses: the claims that it lists are put back into one. Pure.
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { validateParentSynthesis } from '../../guard/validate-parent-synthesis.ts';
import type { ArtifactProblem, ArtifactReport } from './artifact-report.ts';

export function checkGuardDemo(value: JsonObject): ArtifactReport {
  const manifest = Array.isArray(value.evidence_manifest) ? value.evidence_manifest : [];
  const cases = Array.isArray(value.results) ? value.results.filter(isJsonObject) : [];
  const counts = value.case_count === cases.length ? [] : [wrong('case_count', 'It counts other cases than it has.')];
  const problems = cases.flatMap((one) => checkCase(one, manifest));
  return { what: `${cases.length} verdicts of the guard`, problems: [...counts, ...problems] };
}

function checkCase(one: JsonObject, manifest: readonly JsonValue[]): readonly ArtifactProblem[] {
  const stored = isJsonObject(one.validation) ? one.validation : {};
  const claims = [...list(stored.accepted_claims), ...list(stored.rejected_claims).map((refused) => refused.claim)];
  const again = validateParentSynthesis({ manifest, synthesis: synthesisOf(claims.filter(isJsonObject)), mode: 'v1' });
  const fields = ['accepted', 'unsupported_claim_rate', 'allowed_fact_ids', 'allowed_chunk_ids'] as const;
  const same = fields.every((field) => canonicalJson(again[field] as JsonValue) === canonicalJson(stored[field]));
  const reasons = again.rejected_claims.map(({ reason, claim }) => `${reason} ${claim.fact_id} ${claim.chunk_id}`);
  const told = list(stored.rejected_claims).map(({ reason, claim }) => {
    const { fact_id, chunk_id } = isJsonObject(claim) ? claim : {};
    return `${String(reason)} ${String(fact_id)} ${String(chunk_id)}`;
  });
  const expected = one.expected_accepted === again.accepted && one.passed === true;
  if (same && expected && reasons.join() === told.join()) return [];
  return [wrong(String(one.case_id), `Judged again: ${again.accepted ? 'accepted' : reasons.join('; ')}.`)];
}

function synthesisOf(claims: readonly JsonObject[]): JsonObject {
  const on = (surface: string): readonly JsonObject[] =>
    claims
      .filter((claim) => claim.surface === surface)
      .map(({ fact_id, chunk_id, text }) => ({ fact_id, evidence_chunk_id: chunk_id, text }));
  const surfaces = ['retained_facts', 'observed_facts', 'facts'];
  const result = Object.fromEntries(surfaces.map((key) => [key, on(`result.${key}`)]));
  return { result, evidence_references: on('evidence_references') };
}

function list(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function wrong(where: string, detail: string): ArtifactProblem {
  return { code: 'verdict-disagrees', where, detail };
}
