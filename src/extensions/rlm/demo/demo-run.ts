// Owns one run of the demo: the real engine on a prepared request, its trace in the demo's own database. Knows no stage and no fault.

import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import { createCalls } from '../call/create-calls.ts';
import type { InnerCall } from '../call/inner-call.ts';
import { executeRun } from '../run/execute-run.ts';
import type { PreparedRun } from '../run/prepare/prepare-run.ts';
import type { RunOutcome } from '../run/run-outcome.ts';
import { newRunId } from '../trace/run-id.ts';
import { type RunRecord, readRunRecord } from '../trace/run-record.ts';
import type { TraceStore } from '../trace/trace-store.ts';
import { demoFailed } from './demo-failed.ts';

export interface DemoRun {
  readonly outcome: RunOutcome;
  /** As it was stored. */
  readonly record: RunRecord;
}

export interface DemoWork {
  readonly store: TraceStore;
  readonly clock: Clock;
  readonly prepared: PreparedRun;
  readonly inner: InnerCall;
}

export async function demoRun({ store, clock, prepared, inner }: DemoWork, signal: AbortSignal): Promise<DemoRun> {
  const { request, texts, sources, root } = prepared;
  const run_id = newRunId('run', clock);
  const trace = store.begin({ run_id, kind: 'run', request: request as unknown as JsonObject, root, sources }, texts);
  const families = new Map([[inner.family, inner]]);
  const calls = createCalls({ inner: families, trace, budget: request.budget, clock, run: run_id });
  const outcome = await executeRun({ request, trace, calls, signal });
  const row = store.find(run_id);
  if (!row.ok) throw demoFailed('trace', row.detail);
  return { outcome, record: readRunRecord(store, row.value) };
}
