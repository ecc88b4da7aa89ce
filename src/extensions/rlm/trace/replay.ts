// Owns doing a stored run again without a model (seed 003, trace replay): the same program over the recorded replies. Recorded calls are answered
// from the record, what is emitted is compared with what is stored, nothing is written. Knows no program: whoever calls gives one for each kind.
// Invariant: the first difference stops the replay and stays named; `same` means every event and the state hash are the stored ones; of a run
// that was cut, what comes after the cut is new, and a call that it never had an answer to ends the replay there.
import { errorCode, TalariaError } from '#base/errors.ts';
import { type Refusal, refuse } from '#base/result.ts';
import type { CallAsk, CallRecord, Calls } from '../call/call-record.ts';
import { type Difference, jsonDifference, LiveTrace, type RunEnd, type RunTrace } from './live-trace.ts';
import { jsonHash, type RunKind, type RunRecord, type RunRow, textHash } from './run-record.ts';

/** Does the run of a row on a trace and calls, to its end. */
export type RunEngine = (work: EngineWork, signal: AbortSignal) => Promise<unknown>;

export interface EngineWork {
  readonly row: RunRow;
  readonly trace: RunTrace;
  readonly calls: Calls;
}

export type RunEngines = Readonly<Partial<Record<RunKind, RunEngine>>>;

/** A source that the run read is gone or another now. Thrown by a program. */
export const CONTEXT_CHANGED = 'context-changed';

export type Replay =
  | { readonly result: 'same'; readonly events: number; readonly calls: number; readonly state_hash: string }
  /** The run was killed: up to there it is the same. */
  | { readonly result: 'cut'; readonly events: number; readonly calls: number; readonly missing_call: string | null }
  | { readonly result: 'different'; readonly events: number; readonly difference: Difference };

/** @throws TalariaError what the program throws that is no difference */
export async function replayRun(
  record: RunRecord,
  engines: RunEngines,
  signal: AbortSignal,
): Promise<Replay | Refusal<'no-engine' | typeof CONTEXT_CHANGED>> {
  const engine = engines[record.row.kind];
  if (engine === undefined) return refuse('no-engine', `Nothing here does runs of the kind ${record.row.kind}.`);
  const again = new Recording(record);
  const { trace } = again;
  try {
    await engine({ row: record.row, trace, calls: again }, signal);
  } catch (error) {
    if (errorCode(error) === CONTEXT_CHANGED)
      return refuse(CONTEXT_CHANGED, error instanceof Error ? error.message : 'a source is another now');
    if (trace.difference === null && again.missing === null) throw error;
  }
  return judge(record, again);
}

function judge(record: RunRecord, again: Recording): Replay {
  const { trace, answered: calls, missing: missing_call } = again;
  const { state_hash } = record.row;
  const difference = trace.difference ?? endDifference(record, again);
  if (difference !== null) return { result: 'different', events: trace.seq, difference };
  if (state_hash !== null) return { result: 'same', events: trace.seq, calls, state_hash };
  return { result: 'cut', events: Math.min(record.events.length, trace.seq), calls, missing_call };
}

function endDifference({ row, events }: RunRecord, { missing, trace, end }: Recording): Difference | null {
  const isCut = row.ended_at === null;
  if (missing !== null)
    return isCut ? null : { seq: null, field: `call ${missing}`, stored: undefined, replayed: 'asked' };
  const next = events[trace.seq];
  if (next !== undefined) return { seq: next.seq, field: 'type', stored: next.type, replayed: undefined };
  if (isCut) return null;
  if (end === null)
    throw new TalariaError(`The controller left ${row.run_id} without an end.`, { code: 'run-unended' });
  if (end.state !== row.state) return { seq: null, field: 'state', stored: row.state, replayed: end.state };
  const found = jsonDifference(row.outcome, end.outcome, 'outcome');
  if (found !== null) return { seq: null, ...found };
  const replayed = jsonHash(end.outcome);
  return replayed === row.state_hash ? null : { seq: null, field: 'state_hash', stored: row.state_hash, replayed };
}

/** A run that is done again: the journal of a live one over what is stored, which keeps nothing, and the recorded calls. */
export class Recording implements Calls {
  readonly trace: LiveTrace;
  /** Calls that were answered. */
  answered = 0;
  /** The first call without a record. */
  missing: string | null = null;
  end: RunEnd | null = null;
  readonly #calls: ReadonlyMap<string, CallRecord>;

  constructor({ row: { run_id, ended_at }, events, calls, textOf }: RunRecord) {
    this.#calls = new Map(calls.map((call) => [call.call_id, call]));
    const texts = new Map<string, string>();
    this.trace = new LiveTrace({
      run_id,
      stored: events,
      isWhole: ended_at !== null,
      store: {
        write: (_, batch) => {
          for (const [hash, text] of batch.texts) texts.set(hash, text);
          this.end = batch.end ?? null;
        },
        recorded: (_, call_id) => this.#calls.get(call_id),
        textOf: (hash) => texts.get(hash) ?? textOf(hash),
      },
      clock: { now: () => 0 },
      onEnd: () => undefined,
    });
  }

  async ask(ask: CallAsk): Promise<CallRecord> {
    const known = this.#calls.get(ask.call_id);
    if (known === undefined) {
      this.missing ??= ask.call_id;
      throw new TalariaError(`The run has no answer to the call ${ask.call_id}.`, { code: 'replay-cut' });
    }
    this.trace.diverge(callDifference(known, ask));
    this.answered += 1;
    return known;
  }
}

function callDifference(known: CallRecord, ask: CallAsk): Difference | null {
  const pairs = [
    ['prompt', known.prompt, ask.prompt],
    ['system prompt', known.system_prompt, ask.system],
  ] as const;
  const other = pairs.find(([, stored, asked]) => textHash(stored) !== textHash(asked));
  if (other === undefined) return null;
  const [what, stored, asked] = other;
  let at = 0;
  while (at < stored.length && stored[at] === asked[at]) at += 1;
  // From a little before the first character that differs.
  const from = Math.max(0, at - 20);
  const cut = (text: string) => text.slice(from, from + 80).toWellFormed();
  return { seq: null, field: `call ${ask.call_id}, ${what}`, stored: cut(stored), replayed: cut(asked) };
}
