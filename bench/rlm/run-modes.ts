// Owns the baseline modes of `rlm run` and `rlm bench truncation` (notes 6.4, 13.8, 13.9) as one call each: fixture in, artifact on disk,
// lines for a person. Knows no flags. Invariant: an artifact is written whole or not at all, also when a call failed, and says so.
import { join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import type { JsonObject } from '#base/json.ts';
import { ok, type Result } from '#base/result.ts';
import type { OpenedEngine } from '#extensions/rlm/engine.ts';
import { recursiveFixture } from './recursive-fixture.ts';
import { recordedRuns } from './run-fixture.ts';
import { COMPARISON_ID, comparisonLines, truncationComparison } from './truncation-comparison.ts';
import { type BenchFixture, type FixtureProblem, loadFixture } from './truncation-fixture.ts';
import { vanillaBaseline } from './vanilla-baseline.ts';

export interface ModeGround {
  readonly engine: OpenedEngine;
  readonly home: string;
}

export interface ModeAsk {
  /** Absolute; absent: our own fixture. */
  readonly fixture?: string;
  /** Absolute; absent: below `<home>/rlm`. */
  readonly output?: string;
  /** Empty: the default. */
  readonly families: readonly string[];
}

export interface ModeResult {
  readonly success: boolean;
  readonly lines: readonly string[];
  readonly artifact: JsonObject;
  /** Where it was written. */
  readonly output: string;
  readonly run_ids: readonly string[];
}

export type ModeRefusal = FixtureProblem | 'fixture-chunks-differ' | 'fixture-not-recursive';

/** `--vanilla-baseline`: exactly one call. */
export async function baselineMode(
  { engine, home }: ModeGround,
  ask: ModeAsk,
  signal: AbortSignal,
): Promise<Result<ModeResult, ModeRefusal>> {
  const bench = loadFixture(ask.fixture);
  if (!bench.ok) return bench;
  const baseline = await vanillaBaseline(engine, { bench: bench.value, families: ask.families }, signal);
  const { quality_score, calls } = figuresOf(baseline.artifact);
  const success = baseline.outcome.verdict === 'answered';
  const lines = [
    `Vanilla baseline ${success ? 'completed' : 'ended without a result'}; one call over the shared truncation fixture was recorded.`,
    `hermes_subcalls: vanilla=${calls}`,
    `quality: vanilla=${quality_score.toFixed(2)}`,
    `traceguard (strict): ${baseline.guard.strict.accepted ? 'accepted' : `refused, ${baseline.guard.strict.reasons.join(', ')}`}`,
    ...(baseline.outcome.detail === null ? [] : [baseline.outcome.detail]),
  ];
  const output = ask.output ?? join(home, 'rlm', 'baselines', `${fileName(bench.value)}.json`);
  return ok(written({ success, lines, artifact: baseline.artifact, output, run_ids: [baseline.run_id] }, engine));
}

/** `--truncation-benchmark`: one call, then the recursive run over the same chunks. */
export async function truncationMode(
  { engine, home }: ModeGround,
  ask: ModeAsk,
  signal: AbortSignal,
): Promise<Result<ModeResult, ModeRefusal>> {
  const bench = loadFixture(ask.fixture);
  if (!bench.ok) return bench;
  const compared = await truncationComparison(engine, { bench: bench.value, families: ask.families }, signal);
  if (!compared.ok) return compared;
  const { artifact, success, baseline, run } = compared.value;
  const output = ask.output ?? join(home, 'rlm', 'benchmarks', `${fileName(bench.value)}-${COMPARISON_ID}.json`);
  const run_ids = [baseline.run_id, run.run_id];
  return ok(written({ success, lines: comparisonLines(compared.value), artifact, output, run_ids }, engine));
}

/** `--recursive-fixture`: the section `recursive_run` of a fixture, held against what it expects. */
export async function recursiveFixtureMode(
  { engine, home }: ModeGround,
  ask: ModeAsk,
  signal: AbortSignal,
): Promise<Result<ModeResult, ModeRefusal>> {
  const bench = loadFixture(ask.fixture);
  if (!bench.ok) return bench;
  const ran = await recursiveFixture(engine, { bench: bench.value, families: ask.families }, signal);
  if (!ran.ok) return ran;
  const { checks, artifact, run } = ran.value;
  const success = checks.every(({ passed }) => passed);
  const lines = [
    `Recursive fixture ${success ? 'came out as expected' : 'came out otherwise'}; ${run.calls.length} calls.`,
    ...checks.map(({ check_id, passed, expected, seen }) =>
      passed
        ? `pass ${check_id}`
        : `FAIL ${check_id}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(seen)}`,
    ),
    ...(run.outcome.detail === null ? [] : [run.outcome.detail]),
  ];
  const output = ask.output ?? join(home, 'rlm', 'benchmarks', `${fileName(bench.value)}-recursive.json`);
  return ok(written({ success, lines, artifact, output, run_ids: [run.run_id] }, engine));
}

/** Throws TalariaError as `atomicWrite`. */
function written(result: ModeResult, { notice, store }: OpenedEngine): ModeResult {
  const artifact = { ...result.artifact, ...recordedRuns(store, result.run_ids) };
  atomicWrite(result.output, `${JSON.stringify(artifact, null, 2)}\n`);
  const lines = [...result.lines, ...(notice === null ? [] : [notice]), `written: ${result.output}`];
  return { ...result, artifact, lines };
}

function figuresOf(artifact: JsonObject): { readonly quality_score: number; readonly calls: number } {
  const baseline = artifact.baseline as JsonObject;
  return { quality_score: Number(baseline.output_quality_score), calls: Number(baseline.hermes_subcall_count) };
}

/** A fixture may be named anything; its file may not. */
function fileName({ fixture }: BenchFixture): string {
  return fixture.fixture_id
    .replace(/[^\w.-]+/g, '_')
    .replace(/^\.+/, '_')
    .slice(0, 120);
}
