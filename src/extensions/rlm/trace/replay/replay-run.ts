// Owns doing a stored run again without a model (seed 003, trace replay): the same controller over the recorded replies. Knows no controller:
// whoever calls gives one for each kind. Invariant: nothing is written; `same` means every event and the state hash are the stored ones.
import { errorCode, TalariaError } from '#base/errors.ts';
import { type Refusal, refuse } from '#base/result.ts';
import type { Calls } from '../../call/calls.ts';
import { type Difference, jsonDifference } from '../event-difference.ts';
import { type RecordedTrace, recordedTrace } from '../recorded-trace.ts';
import type { RunRecord } from '../run-record.ts';
import type { RunKind, RunRow } from '../run-row.ts';
import { jsonHash } from '../text-hash.ts';
import type { RunTrace } from '../trace-store.ts';
import { type RecordedCalls, recordedCalls } from './recorded-calls.ts';

/** One controller: does the run of a row on a trace and calls, to its end. */
export type RunEngine = (work: EngineWork, signal: AbortSignal) => Promise<unknown>;

export interface EngineWork {
  readonly row: RunRow;
  readonly trace: RunTrace;
  readonly calls: Calls;
}

export type RunEngines = Readonly<Partial<Record<RunKind, RunEngine>>>;

/** A source that the run read is gone or another now. Thrown by an engine. */
export const CONTEXT_CHANGED = 'context-changed';

export type Replay =
  | { readonly result: 'same'; readonly events: number; readonly calls: number; readonly state_hash: string }
  /** The run was killed: up to there it is the same. */
  | { readonly result: 'cut'; readonly events: number; readonly calls: number; readonly missing_call: string | null }
  | { readonly result: 'different'; readonly events: number; readonly difference: Difference };

export type ReplayRefusal = Refusal<'no-engine' | typeof CONTEXT_CHANGED>;

/** @throws TalariaError what the controller throws that is no difference */
export async function replayRun(
  record: RunRecord,
  engines: RunEngines,
  signal: AbortSignal,
): Promise<Replay | ReplayRefusal> {
  const engine = engines[record.row.kind];
  if (engine === undefined) return refuse('no-engine', `Nothing here does runs of the kind ${record.row.kind}.`);
  const trace = recordedTrace(record);
  const calls = recordedCalls((call_id) => trace.recorded(call_id));
  try {
    await engine({ row: record.row, trace, calls }, signal);
  } catch (error) {
    if (errorCode(error) === CONTEXT_CHANGED)
      return refuse(CONTEXT_CHANGED, error instanceof Error ? error.message : 'a source is another now');
    if (trace.difference === null && calls.difference === null && calls.missing === null) throw error;
  }
  return judge(record, trace, calls);
}

function judge(record: RunRecord, trace: RecordedTrace, calls: RecordedCalls): Replay {
  const { row, events } = record;
  const done = { events: trace.emitted.length };
  const difference = trace.difference ?? calls.difference ?? endDifference(record, trace, calls);
  if (difference !== null) return { result: 'different', ...done, difference };
  if (row.state_hash !== null) return { result: 'same', ...done, calls: calls.answered, state_hash: row.state_hash };
  return {
    result: 'cut',
    events: Math.min(events.length, trace.emitted.length),
    calls: calls.answered,
    missing_call: calls.missing,
  };
}

function endDifference({ row, events }: RunRecord, trace: RecordedTrace, calls: RecordedCalls): Difference | null {
  const isCut = row.ended_at === null;
  if (calls.missing !== null)
    return isCut ? null : { seq: null, field: `call ${calls.missing}`, stored: undefined, replayed: 'asked' };
  const next = events[trace.emitted.length];
  if (next !== undefined) return { seq: next.seq, field: 'type', stored: next.type, replayed: undefined };
  if (isCut) return null;
  return outcomeDifference(row, trace.end);
}

function outcomeDifference(row: RunRow, end: RecordedTrace['end']): Difference | null {
  if (end === null)
    throw new TalariaError(`The controller left ${row.run_id} without an end.`, { code: 'run-unended' });
  if (end.state !== row.state) return { seq: null, field: 'state', stored: row.state, replayed: end.state };
  const found = jsonDifference(row.outcome, end.outcome, 'outcome');
  if (found !== null) return { seq: null, ...found };
  const replayed = jsonHash(end.outcome);
  return replayed === row.state_hash ? null : { seq: null, field: 'state_hash', stored: row.state_hash, replayed };
}
