// Owns one run while it is worked on: numbers events, gathers them until something must be durable, compares what an earlier process has
// stored already. Knows no table. Invariant: what is written is always a beginning of the run: a call never stands without the events before
// it; a run that goes on says the same up to where it was cut, or throws `trace-diverged`.
import type { Clock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import type { CallRecord } from '../../call/call-record.ts';
import type { EndState } from '../../tree/run-state.ts';
import { differenceText, eventDifference } from '../event-difference.ts';
import type { NewRunEvent, RunEvent } from '../run-event.ts';
import { jsonHash, textHash } from '../text-hash.ts';
import type { RunTrace } from '../trace-store.ts';
import type { TraceSink } from './trace-sink.ts';

export interface LiveTraceParts {
  readonly run_id: string;
  /** What an earlier process stored, in order. */
  readonly stored: readonly RunEvent[];
  readonly sink: TraceSink;
  readonly clock: Clock;
  /** Called once, when the run has ended. */
  readonly onEnd: () => void;
}

/** Beyond either, what was gathered is written without waiting for the next call. */
const MOST_EVENTS = 256;
const MOST_TEXT = 4_000_000;

export class LiveTrace implements RunTrace {
  readonly run_id: string;
  readonly #parts: LiveTraceParts;
  #seq = 0;
  #finished = false;
  #ended = false;
  #events: RunEvent[] = [];
  #texts = new Map<string, string>();
  #textSize = 0;

  constructor(parts: LiveTraceParts) {
    this.run_id = parts.run_id;
    this.#parts = parts;
  }

  /** The first event is written at once: a run that was taken over meanwhile is told before it asks anybody. */
  emit(event: NewRunEvent): string {
    this.#refuseEnded();
    const { stored, clock } = this.#parts;
    const before = stored[this.#seq];
    const seq = this.#seq + 1;
    if (before !== undefined) refuseOther(this.run_id, before, event);
    this.#seq = seq;
    this.#finished ||= event.type === 'rlm.run.finished';
    const event_id = eventId(this.run_id, seq);
    if (before !== undefined) return event_id;
    this.#events.push({ ...event, run_id: this.run_id, seq, event_id, at: clock.now() });
    if (seq === 1) this.#write({});
    this.#flushFull();
    return event_id;
  }

  saveCall(record: CallRecord): void {
    this.#refuseEnded();
    this.#write({ call: record });
  }

  recorded(call_id: string): CallRecord | undefined {
    return this.#parts.sink.recorded(this.run_id, call_id);
  }

  keepText(text: string): string {
    this.#refuseEnded();
    const hash = textHash(text);
    if (this.#texts.has(hash)) return hash;
    this.#texts.set(hash, text);
    this.#textSize += text.length;
    this.#flushFull();
    return hash;
  }

  textOf(hash: string): string | undefined {
    return this.#texts.get(hash) ?? this.#parts.sink.textOf(hash);
  }

  finish(end: { readonly state: EndState; readonly outcome: JsonObject }): void {
    this.#refuseEnded();
    if (!this.#finished) throw wrong(this.run_id, 'trace-unfinished', 'its last event has not been emitted');
    const { stored, clock, onEnd } = this.#parts;
    if (this.#seq < stored.length)
      throw wrong(this.run_id, 'trace-diverged', `event ${this.#seq + 1} is stored and did not come again`);
    this.#write({ end: { ...end, state_hash: jsonHash(end.outcome), ended_at: clock.now() } });
    this.#ended = true;
    onEnd();
  }

  /** Writes what was gathered; the run is left as a kill would leave it. */
  letGo(): void {
    if (this.#ended) return;
    if (this.#events.length > 0 || this.#texts.size > 0) this.#write({});
    this.#ended = true;
  }

  #flushFull(): void {
    if (this.#events.length >= MOST_EVENTS || this.#textSize >= MOST_TEXT) this.#write({});
  }

  #write(more: Omit<Parameters<TraceSink['write']>[1], 'events' | 'texts'>): void {
    this.#parts.sink.write(this.run_id, { events: this.#events, texts: this.#texts, ...more });
    this.#events = [];
    this.#texts = new Map();
    this.#textSize = 0;
  }

  #refuseEnded(): void {
    if (this.#ended) throw wrong(this.run_id, 'run-ended', 'nothing is written to it any more');
  }
}

export function eventId(run_id: string, seq: number): string {
  return `${run_id}:${String(seq).padStart(6, '0')}`;
}

function refuseOther(run_id: string, stored: RunEvent, event: NewRunEvent): void {
  const difference = eventDifference(stored.seq, stored, event);
  if (difference !== null) throw wrong(run_id, 'trace-diverged', differenceText(difference));
}

function wrong(run_id: string, code: string, what: string): TalariaError {
  return new TalariaError(`The trace of ${run_id}: ${what}.`, { code });
}
