// Owns doing a prepared run for good: begun in the store, executed, remembered when the mode says so. Knows no flags. Invariant: what is remembered comes
// from what the guard said, never from an answer.
import { isoTime } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import { plural } from '#base/text.ts';
import type { CallRecord } from '../call/call-record.ts';
import { type Engine, startRun } from '../engine.ts';
import { observeCell } from '../memory/lessons.ts';
import { appendMemory } from '../memory/memory-file.ts';
import { type ReadMemory, writesMemory } from '../memory/memory-record.ts';
import type { RunOutcome } from '../outcome.ts';
import { newRunId } from '../trace/run-record.ts';
import type { PreparedRun } from './prepare-run.ts';
import type { RunRequest } from './run-request.ts';

export function liveRun(engine: Engine, prepared: PreparedRun, signal: AbortSignal): Promise<RunOutcome> {
  const { request, texts, root, sources } = prepared;
  const run_id = newRunId('run', engine.clock);
  return startRun(
    engine,
    { run_id, kind: 'run', request: request as unknown as JsonObject, root, sources },
    { texts },
    signal,
  );
}

/** What a finished run teaches; nothing when the mode does not write or the guard judged nothing. */
export function runLessons(
  { memory: { mode, fixture_category } }: Pick<RunRequest, 'memory'>,
  { repair }: Pick<RunOutcome, 'repair'>,
  { family: family_id, created_at }: { readonly family: string | null; readonly created_at: string },
): ReadMemory {
  if (!writesMemory(mode) || repair === null) return { records: [], rejected: [] };
  const { accepted, accepted_claims, rejected_claims } = repair.before_validation;
  const reasons = rejected_claims.map(({ reason }) => reason);
  const initial = { accepted, accepted_claims: accepted_claims.length, reasons };
  return observeCell({ family_id, fixture_category, initial, repair_accepted: repair.repair_accept, created_at });
}

/** Writes down what a run taught, when its memory mode writes. What a person is told; null: nothing was to be written. */
export async function rememberRun(
  { clock }: Pick<Engine, 'clock'>,
  { request }: Pick<PreparedRun, 'request'>,
  outcome: RunOutcome,
  { calls, path }: { readonly calls: readonly CallRecord[]; readonly path: string },
): Promise<string | null> {
  const parent = calls.findLast(({ rlm_node_id, success }) => rlm_node_id === outcome.tree.root_id && success);
  const told = { family: parent?.runtime ?? null, created_at: isoTime(clock.now()) };
  const { records } = runLessons(request, outcome, told);
  if (records.length === 0) return null;
  const { stored, rejected } = await appendMemory(path, records, { clock });
  const refused = rejected.length === 0 ? '' : `, ${rejected.length} refused`;
  return `Remembered of how to ask: ${plural(stored.length, 'record')}${refused} (${path}).`;
}
