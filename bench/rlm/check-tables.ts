// Owns checking tables by making them again: the original's (claim-aware suite, synthetic rows, portability contracts, the guard's demo) and
// those of our benches. Prose that no rule determines is left out of the comparison. Pure.
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { buildManifest } from '#extensions/rlm/guard/manifest.ts';
import { validateParentSynthesis } from '#extensions/rlm/guard/validate-parent-synthesis.ts';
import { jsonDifference } from '#extensions/rlm/trace/live-trace.ts';
import { checkPortabilityFixture, type PortabilityFixture } from './portability-fixture.ts';
import { claimAwareBench, claimAwareSuite, syntheticBench, syntheticBenchmark } from './scorer-tables.ts';
import { type TruncationFixture, validateFixture } from './truncation-fixture.ts';

export interface ArtifactReport {
  /** What was checked, in a few words. */
  readonly what: string;
  readonly problems: readonly ArtifactProblem[];
}

export interface ArtifactProblem {
  readonly code: string;
  readonly where: string;
  readonly detail: string;
}

export function checkClaimAware(value: JsonObject, fixture: JsonValue): ArtifactReport {
  const what = 'the cases of the claim-aware suite, scored again';
  const valid = validateFixture(fixture);
  if (!valid.ok) return { what, problems: [{ code: valid.reason, where: 'the fixture', detail: valid.detail }] };
  const made = fixture as unknown as TruncationFixture;
  return {
    what,
    problems: compare(value, value.v2 === undefined ? claimAwareSuite(made) : claimAwareBench(made).document),
  };
}

export function checkSynthetic(value: JsonObject): ArtifactReport {
  const rows = Array.isArray(value.evaluations) ? value.evaluations.length : 0;
  const made = value.v2_strategy_summary === undefined ? syntheticBenchmark() : syntheticBench().document;
  return { what: `${rows} synthetic rows, made and scored again`, problems: compare(value, made) };
}

export function checkMatrix(value: JsonObject): ArtifactReport {
  const fixtures = Array.isArray(value.fixtures) ? value.fixtures.filter(isFixture) : [];
  const mode = value.guard_mode === 'strict' ? 'strict' : 'v1';
  const checked = fixtures.map((fixture) =>
    checkPortabilityFixture(fixture as unknown as PortabilityFixture, (one, synthesis) =>
      validateParentSynthesis({ manifest: buildManifest(one), synthesis, mode }),
    ),
  );
  const stored = { contracts: value.fixture_contract_results, count: value.fixture_count };
  const contracts = value.run_mode === 'dry_plan' ? [] : checked;
  const problems = compare(stored, { contracts, count: fixtures.length });
  return { what: `the contracts of ${fixtures.length} portability fixtures, judged again`, problems };
}

/** What a model said cannot be made again: what is said of the cells must be what they say; their runs are checked beside it. */
export function checkLiveMatrix(value: JsonObject): ArtifactReport {
  const cells = Array.isArray(value.cells) ? value.cells.filter(isJsonObject) : [];
  const passed = cells.filter(({ status }) => status === 'live_contract_pass').length;
  const stored = { cells: value.primary_cell_count, passed: value.passed_primary_cell_count };
  return { what: `${cells.length} cells`, problems: compare(stored, { cells: cells.length, passed }) };
}

export async function checkAblation(value: JsonObject, signal: AbortSignal): Promise<ArtifactReport> {
  const { ablationBench } = await import('./engine-ablation.ts');
  return { what: 'the ablation, run again', problems: compare(value, (await ablationBench(signal)).document) };
}

function isFixture(value: JsonValue): value is JsonObject {
  const facts = isJsonObject(value) ? [value.expected_retained_facts, value.expected_omitted_facts] : [];
  return (
    facts.length > 0 &&
    facts.every(Array.isArray) &&
    isJsonObject(value) &&
    isJsonObject(value.expected_traceguard_verdicts)
  );
}

function compare(stored: JsonObject, made: object): readonly ArtifactProblem[] {
  const found = jsonDifference(withoutProse(stored), withoutProse(made as unknown as JsonValue), 'the table');
  if (found === null) return [];
  const [one, other] = [found.stored, found.replayed].map((one) =>
    (one === undefined ? 'nothing' : canonicalJson(one)).slice(0, 80),
  );
  return [{ code: 'table-disagrees', where: found.field, detail: `It says ${one}; made again it is ${other}.` }];
}

function withoutProse(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((item) => withoutProse(item) ?? null);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => key !== 'description');
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutProse(item)]));
}

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
