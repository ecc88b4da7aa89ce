// Owns running the `recursive_run` section of a fixture (notes 6.1) and holding what came out against what it expects. Writes no file.
// Invariant: each expectation is one check with what was expected and what was seen.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Engine as BenchEngine } from '#extensions/rlm/engine.ts';
import { extractJson } from '#extensions/rlm/guard/extract-json.ts';
import { type EngineRun, measuredCalls, parentCompletion, rlmOutput, runFixture } from './run-fixture.ts';
import { type BenchFixture, fixtureLines, type RecursiveConfig, runQuestion } from './truncation-fixture.ts';

export interface FixtureCheck {
  readonly check_id: string;
  readonly passed: boolean;
  readonly expected: JsonValue;
  readonly seen: JsonValue;
}

export interface RecursiveFixtureRun {
  readonly run: EngineRun;
  readonly checks: readonly FixtureCheck[];
  readonly artifact: JsonObject;
}

export interface RecursiveFixtureAsk {
  readonly bench: BenchFixture;
  readonly families: readonly string[];
}

export async function recursiveFixture(
  engine: BenchEngine,
  { bench, families }: RecursiveFixtureAsk,
  signal: AbortSignal,
): Promise<Result<RecursiveFixtureRun, 'fixture-chunks-differ' | 'fixture-not-recursive'>> {
  const { fixture, recursive } = bench;
  if (recursive === null) return refuse('fixture-not-recursive', 'the fixture has no section recursive_run');
  const { max_depth, max_iterations } = recursive;
  const options = { families, limits: { max_depth, max_iterations } };
  const asked = { fixture: fixtureLines(fixture), question: runQuestion(bench), options };
  const run = await runFixture(engine, asked, signal);
  if (!run.ok) return run;
  const checks = checksOf(recursive, run.value);
  const artifact = {
    artifact_type: 'rlm_recursive_fixture_result',
    schema_version: 'rlm.evaluation.output.v1',
    fixture_id: fixture.fixture_id,
    success: checks.every((check) => check.passed),
    checks,
    rlm_output: rlmOutput(run.value, fixture.target.path),
    measured: measuredCalls(run.value.calls),
  };
  return ok({ run: run.value, checks, artifact: artifact as unknown as JsonObject });
}

function checksOf({ expected }: RecursiveConfig, run: EngineRun): readonly FixtureCheck[] {
  const { outcome, calls } = run;
  const seen: Readonly<Record<string, JsonValue>> = {
    status: outcome.run_state,
    target_kind: 'path',
    termination_reason: outcome.termination_reason,
    hermes_subcall_count: calls.length,
    selected_chunk_ids: outcome.selected_chunk_ids,
    omitted_chunk_ids: outcome.omitted.map(({ chunk_id }) => chunk_id),
  };
  const equal = Object.entries(seen).flatMap(([check_id, value]): readonly FixtureCheck[] => {
    const wanted = expected[check_id];
    if (wanted === undefined) return [];
    return [{ check_id, passed: JSON.stringify(wanted) === JSON.stringify(value), expected: wanted, seen: value }];
  });
  return [...equal, ...setChecks(expected, run)];
}

function setChecks(expected: JsonObject, { outcome, calls }: EngineRun): readonly FixtureCheck[] {
  const cited = [...new Set(outcome.claims.flatMap(({ fact_ids }) => fact_ids))].sort();
  const [required, forbidden] = [texts(expected.required_fact_ids), texts(expected.forbidden_fact_ids)];
  const fields = texts(expected.required_output_fields);
  const reply = extractJson(parentCompletion(calls) ?? '');
  const present = reply.ok && isJsonObject(reply.value) ? Object.keys(reply.value) : [];
  return [
    {
      check_id: 'required_fact_ids',
      passed: required.every((id) => cited.includes(id)),
      expected: required,
      seen: cited,
    },
    {
      check_id: 'forbidden_fact_ids',
      passed: !forbidden.some((id) => cited.includes(id)),
      expected: forbidden,
      seen: cited,
    },
    {
      check_id: 'required_output_fields',
      passed: fields.every((field) => present.includes(field)),
      expected: fields,
      seen: present,
    },
  ];
}

function texts(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}
