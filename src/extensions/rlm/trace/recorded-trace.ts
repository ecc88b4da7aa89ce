// Owns the trace of a replay: recorded calls are known, what is emitted is compared with what is stored and gathered, nothing is written.
// Invariant: the first difference stops the replay (`trace-diverged`) and stays named; of a run that was cut, what comes after the cut is new.
import { TalariaError } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import type { CallRecord } from '../call/call-record.ts';
import type { EndState } from '../tree/run-state.ts';
import { type Difference, differenceText, eventDifference } from './event-difference.ts';
import type { NewRunEvent } from './run-event.ts';
import { type RunRecord, readRunRecord } from './run-record.ts';
import { eventId } from './store/live-trace.ts';
import { textHash } from './text-hash.ts';
import type { RunTrace, TraceStore } from './trace-store.ts';

export interface RunEndState {
  readonly state: EndState;
  readonly outcome: JsonObject;
}

export interface RecordedTrace extends RunTrace {
  /** In order. */
  readonly emitted: readonly NewRunEvent[];
  readonly difference: Difference | null;
  /** Set by `finish`. */
  readonly end: RunEndState | null;
}

/** @throws TalariaError `run-not-found` */
export function createRecordedTrace(
  store: Pick<TraceStore, 'find' | 'events' | 'calls' | 'textOf'>,
  run_id: string,
): RecordedTrace {
  const found = store.find(run_id);
  if (!found.ok) throw new TalariaError(found.detail, { code: found.reason });
  return recordedTrace(readRunRecord(store, found.value));
}

export function recordedTrace(record: RunRecord): RecordedTrace {
  return new ReplayedTrace(record);
}

class ReplayedTrace implements RecordedTrace {
  readonly run_id: string;
  readonly emitted: NewRunEvent[] = [];
  difference: Difference | null = null;
  end: RunEndState | null = null;
  readonly #record: RunRecord;
  readonly #calls: ReadonlyMap<string, CallRecord>;
  readonly #texts = new Map<string, string>();

  constructor(record: RunRecord) {
    this.run_id = record.row.run_id;
    this.#record = record;
    this.#calls = new Map(record.calls.map((call) => [call.call_id, call]));
  }

  emit(event: NewRunEvent): string {
    const { events, row } = this.#record;
    const seq = this.emitted.push(event);
    const stored = events[seq - 1];
    if (stored !== undefined) this.#refuse(eventDifference(seq, stored, event));
    else if (row.ended_at !== null) this.#refuse({ seq, field: 'type', stored: undefined, replayed: event.type });
    return eventId(this.run_id, seq);
  }

  saveCall(record: CallRecord): void {
    if (this.#record.row.ended_at === null) return;
    this.#refuse({ seq: null, field: `call ${record.call_id}`, stored: undefined, replayed: record.mode });
  }

  recorded(call_id: string): CallRecord | undefined {
    return this.#calls.get(call_id);
  }

  keepText(text: string): string {
    const hash = textHash(text);
    this.#texts.set(hash, text);
    return hash;
  }

  textOf(hash: string): string | undefined {
    return this.#texts.get(hash) ?? this.#record.textOf(hash);
  }

  finish(end: RunEndState): void {
    this.end = end;
  }

  #refuse(difference: Difference | null): void {
    if (difference === null) return;
    this.difference ??= difference;
    throw new TalariaError(`The replay of ${this.run_id} differs: ${differenceText(difference)}.`, {
      code: 'trace-diverged',
    });
  }
}
