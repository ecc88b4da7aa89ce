// Owns one run of the real engine for a bench: begin a trace, execute, hand back outcome and calls. Knows no score.
// Invariant: the calls are those of the trace, in the order in which they were made; nothing is counted that was not asked.
import { sha256 } from '#base/ids.ts';
import type { JsonObject } from '#base/json.ts';
import { ok, type Result } from '#base/result.ts';
import type { CallRecord } from '../../call/call-record.ts';
import { createCalls } from '../../call/create-calls.ts';
import { executeRun } from '../../run/execute-run.ts';
import type { RunOutcome } from '../../run/run-outcome.ts';
import { newRunId } from '../../trace/run-id.ts';
import type { SourceStamp } from '../../trace/run-row.ts';
import type { BenchEngine } from './bench-engine.ts';
import type { AskedRun } from './bench-request.ts';
import { type FixtureAsk, fixtureBytes, fixtureRequest } from './fixture-request.ts';

export interface EngineRun {
  readonly run_id: string;
  readonly outcome: RunOutcome;
  readonly calls: readonly CallRecord[];
  /** From request to outcome, by the clock of the engine. */
  readonly elapsed_ms: number;
}

export async function runFixture(
  engine: BenchEngine,
  ask: FixtureAsk,
  signal: AbortSignal,
): Promise<Result<EngineRun, 'fixture-chunks-differ'>> {
  const asked = fixtureRequest(ask);
  if (!asked.ok) return asked;
  const { path, lines } = ask.fixture;
  return ok(await runAsked(engine, { asked: asked.value, sources: [stampOf(path, fixtureBytes(lines))] }, signal));
}

export interface AskedSources {
  readonly asked: AskedRun;
  readonly sources: readonly SourceStamp[];
}

export async function runAsked(
  { store, clock, inner, call_timeout_ms }: BenchEngine,
  { asked: { request, texts }, sources }: AskedSources,
  signal: AbortSignal,
): Promise<EngineRun> {
  const from = clock.monotonic();
  const run_id = newRunId('run', clock);
  const plain = request as unknown as JsonObject;
  const trace = store.begin({ run_id, kind: 'run', request: plain, root: '', sources }, texts);
  const timeout = call_timeout_ms === undefined ? {} : { call_timeout_ms };
  const calls = createCalls({ inner, trace, budget: request.budget, clock, run: run_id, ...timeout });
  const outcome = await executeRun({ request, trace, calls, signal });
  return { run_id, outcome, calls: store.calls(run_id), elapsed_ms: clock.monotonic() - from };
}

export function stampOf(path: string, bytes: Uint8Array): SourceStamp {
  return { path, bytes: bytes.length, hash: `sha256:${sha256(bytes)}` };
}
