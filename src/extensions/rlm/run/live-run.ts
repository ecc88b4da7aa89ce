// Owns doing a prepared run for good: begun in the store, executed with the families, remembered when the mode says so; and the same for a
// run that was begun before. Knows no flags. Invariant: what is remembered comes from what the guard said, never from an answer.
import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import { createCalls } from '../call/create-calls.ts';
import type { InnerCall } from '../call/inner-call.ts';
import { memoryMode } from '../memory/memory-mode.ts';
import { observeCell } from '../memory/observe-cell.ts';
import type { ReadMemory } from '../memory/read-memory.ts';
import type { RunEngine } from '../trace/replay/replay-run.ts';
import { newRunId } from '../trace/run-id.ts';
import type { TraceStore } from '../trace/trace-store.ts';
import { executeRun } from './execute-run.ts';
import type { PreparedRun } from './prepare/prepare-run.ts';
import { readRunRequest } from './read-run-request.ts';
import type { RunOutcome } from './run-outcome.ts';
import type { RunRequest } from './run-request.ts';

export interface LiveGround {
  readonly store: TraceStore;
  readonly inner: ReadonlyMap<string, InnerCall>;
  readonly clock: Clock;
  /** Of one call, ms. */
  readonly call_timeout_ms?: number | undefined;
}

export async function liveRun(ground: LiveGround, prepared: PreparedRun, signal: AbortSignal): Promise<RunOutcome> {
  const { store, inner, clock, call_timeout_ms } = ground;
  const { request, texts, root, sources } = prepared;
  const run_id = newRunId('run', clock);
  const plain = request as unknown as JsonObject;
  const trace = store.begin({ run_id, kind: 'run', request: plain, root, sources }, texts);
  const timeout = call_timeout_ms === undefined ? {} : { call_timeout_ms };
  const calls = createCalls({ inner, trace, budget: request.budget, clock, run: run_id, ...timeout });
  return executeRun({ request, trace, calls, signal });
}

/** Of rows of the kind `run`, for replay and for going on after a kill. */
export const scaffoldEngine: RunEngine = ({ row, trace, calls }, signal) =>
  executeRun({ request: readRunRequest(row.request), trace, calls, signal });

/** What a finished run teaches; nothing when the mode does not write or the guard judged nothing. */
export function runLessons(
  request: RunRequest,
  outcome: RunOutcome,
  told: { readonly family: string | null; readonly created_at: string },
): ReadMemory {
  const mode = memoryMode(request.memory.mode);
  const { repair } = outcome;
  if (!mode.ok || !mode.value.writes || repair === null) return { records: [], rejected: [] };
  const { accepted, accepted_claims, rejected_claims } = repair.before_validation;
  return observeCell({
    family_id: told.family,
    fixture_category: request.memory.fixture_category,
    initial: {
      accepted,
      accepted_claims: accepted_claims.length,
      reasons: rejected_claims.map(({ reason }) => reason),
    },
    repair_accepted: repair.repair_accept,
    created_at: told.created_at,
  });
}
