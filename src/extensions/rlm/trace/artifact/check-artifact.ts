// Owns checking a committed file of the seed without a key (seed 003, artifacts; notes 6 to 12, 16): each kind by the rule that made it.
// Reads no file. Invariant: a kind that is not known is refused, never passed; every difference is named with its place.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { validateFixture } from '../../fixtures/validate-fixture.ts';
import { verifyRecords } from '../verify/verify-records.ts';
import { checkComparison, checkEvaluation } from './check-comparison.ts';
import type { ArtifactReport } from './check-tables.ts';
import {
  checkAblation,
  checkClaimAware,
  checkGuardDemo,
  checkLiveMatrix,
  checkMatrix,
  checkMemoryBench,
  checkSynthetic,
} from './check-tables.ts';

export interface ArtifactInput {
  readonly value: JsonValue;
  /** The truncation fixture that lies beside it. */
  readonly fixture: () => JsonValue | undefined;
}

type Check = (
  value: JsonObject,
  fixture: ArtifactInput['fixture'],
  signal: AbortSignal,
) => ArtifactReport | null | Promise<ArtifactReport>;

const CHECKS: Readonly<Record<string, Check>> = {
  'rlm.minimal_recursive_run_fixture.v1': (value) => records(value),
  'rlm.shared_truncation_benchmark.v1': (value, fixture) => withFixture(fixture, (one) => checkComparison(value, one)),
  'rlm.long_context_truncation_fixture.v1': (value) => fixtureReport(value),
  'rlm.claim_aware_suite.v1': (value, fixture) => withFixture(fixture, (one) => checkClaimAware(value, one)),
  'rlm.synthetic_omitted_fact_benchmark.v1': (value) => checkSynthetic(value),
  'rlm_forge.live_portability_contracts_only.v1': (value) => checkMatrix(value),
  'rlm_forge.live_portability_primary.v1': (value) => checkLiveMatrix(value),
  'rlm.evaluation.output.v1': (value, fixture) => checkEvaluation(value, fixture() ?? null),
  'talaria.rlm.contract_ablation.v1': (value, _, signal) => checkAblation(value, signal),
  'talaria.rlm.memory_bench.v1': (value) => checkMemoryBench(value),
  'rlm.traceguard_demo.v1': (value) => checkGuardDemo(value),
};

export async function checkArtifact(
  { value, fixture }: ArtifactInput,
  signal: AbortSignal,
): Promise<Result<ArtifactReport, 'artifact-unknown' | 'fixture-missing'>> {
  const object = isJsonObject(value) ? value : {};
  const schema = String(object.schema_version);
  const check = Object.hasOwn(CHECKS, schema) ? CHECKS[schema] : undefined;
  if (check === undefined) {
    const kinds = Object.keys(CHECKS).join(', ');
    return refuse('artifact-unknown', `Its schema_version is ${schema}; known are an exported run, ${kinds}.`);
  }
  const report = await check(object, fixture, signal);
  if (report !== null) return ok(report);
  return refuse('fixture-missing', 'The truncation fixture that it was made from does not lie beside it.');
}

function withFixture(
  fixture: ArtifactInput['fixture'],
  check: (fixture: JsonValue) => ArtifactReport,
): ArtifactReport | null {
  const found = fixture();
  return found === undefined ? null : check(found);
}

function records(value: JsonObject): ArtifactReport {
  const verified = verifyRecords(value);
  if (verified.ok)
    return { what: `${verified.value.records} recorded calls and their links`, problems: verified.value.problems };
  return {
    what: 'recorded calls',
    problems: [{ code: verified.reason, where: 'trace_records', detail: verified.detail }],
  };
}

function fixtureReport(value: JsonObject): ArtifactReport {
  const valid = validateFixture(value);
  const problems = valid.ok ? [] : [{ code: valid.reason, where: 'the fixture', detail: valid.detail }];
  return { what: 'lines, chunks, facts and boundary of a truncation fixture', problems };
}
