// Owns one run while it is worked on: numbers events, gathers them until something must be durable, compares what an earlier process has stored already:
// the first event and the field in which both differ. Knows no table. Invariant: what is written is always a beginning of the run: a call never stands
// without the events before it; a run that goes on says the same up to where it was cut, or throws `trace-diverged`.
import type { Clock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { CallRecord } from '../call/call-record.ts';
import type { EndState } from '../scaffold/run-tree.ts';
import { eventId, jsonHash, type NewRunEvent, type RunEvent, textHash } from './run-record.ts';

export interface RunEnd {
  readonly state: EndState;
  readonly outcome: JsonObject;
}

/** What a program tells of its run, live or replayed (replay.ts). What `saveCall` has returned from outlives the process. */
export interface RunTrace {
  readonly run_id: string;
  /** Gives the event id. Of an event that is stored already (a resumed run) it compares instead of writing, and throws `trace-diverged`. */
  emit(event: NewRunEvent): string;
  saveCall(record: CallRecord): void;
  /** What an earlier process of this run, or the run that is replayed, was answered; undefined: ask. */
  recorded(call_id: string): CallRecord | undefined;
  /** Texts that events name by hash: chunks that were read. Gives `sha256:…`. */
  keepText(text: string): string;
  textOf(hash: string): string | undefined;
  /** The last write: `rlm.run.finished` must have been emitted. */
  finish(end: RunEnd): void;
}

/** All of it or nothing. */
export interface TraceBatch {
  readonly events: readonly RunEvent[];
  /** By hash. */
  readonly texts: ReadonlyMap<string, string>;
  readonly call?: CallRecord;
  readonly end?: RunEnd & { readonly state_hash: string; readonly ended_at: number };
}

interface LiveTraceParts {
  readonly run_id: string;
  /** What an earlier process stored, in order. */
  readonly stored: readonly RunEvent[];
  /** Nothing may come after what is stored: the run has ended, and is done again. */
  readonly isWhole?: boolean;
  readonly store: {
    /** Durable when it returns. Throws TalariaError. */
    write(run_id: string, batch: TraceBatch): void;
    recorded(run_id: string, call_id: string): CallRecord | undefined;
    textOf(hash: string): string | undefined;
  };
  readonly clock: Pick<Clock, 'now'>;
  /** Called once, when the run has ended. */
  readonly onEnd: () => void;
}

/** Beyond either, what was gathered is written without waiting for the next call. */
const MOST_EVENTS = 256;
const MOST_TEXT = 4_000_000;

export class LiveTrace implements RunTrace {
  readonly run_id: string;
  /** The first place in which this run says something else than the stored one. */
  difference: Difference | null = null;
  /** Events so far, those of an earlier process counted in. */
  seq = 0;
  readonly #parts: LiveTraceParts;
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
    const before = this.#parts.stored[this.seq];
    this.seq += 1;
    if (before !== undefined) this.diverge(eventDifference(this.seq, before, event));
    else if (this.#parts.isWhole)
      this.diverge({ seq: this.seq, field: 'type', stored: undefined, replayed: event.type });
    this.#finished ||= event.type === 'rlm.run.finished';
    const event_id = eventId(this.run_id, this.seq);
    if (before !== undefined) return event_id;
    this.#events.push({ ...event, run_id: this.run_id, seq: this.seq, event_id, at: this.#parts.clock.now() });
    if (this.seq === 1 || this.#isFull()) this.#write();
    return event_id;
  }

  saveCall(call: CallRecord): void {
    this.#refuseEnded();
    this.#write({ call });
  }

  recorded(call_id: string): CallRecord | undefined {
    return this.#parts.store.recorded(this.run_id, call_id);
  }

  keepText(text: string): string {
    this.#refuseEnded();
    const hash = textHash(text);
    if (this.#texts.has(hash)) return hash;
    this.#texts.set(hash, text);
    this.#textSize += text.length;
    if (this.#isFull()) this.#write();
    return hash;
  }

  textOf(hash: string): string | undefined {
    return this.#texts.get(hash) ?? this.#parts.store.textOf(hash);
  }

  finish(end: RunEnd): void {
    this.#refuseEnded();
    if (!this.#finished) throw this.#wrong('trace-unfinished', 'its last event has not been emitted');
    const { stored, clock, onEnd } = this.#parts;
    const next = stored[this.seq];
    if (next !== undefined) this.diverge({ seq: next.seq, field: 'type', stored: next.type, replayed: undefined });
    this.#write({ end: { ...end, state_hash: jsonHash(end.outcome), ended_at: clock.now() } });
    this.#ended = true;
    onEnd();
  }

  /** Writes what was gathered; the run is left as a kill would leave it. */
  letGo(): void {
    if (this.#ended) return;
    if (this.#events.length > 0 || this.#texts.size > 0) this.#write();
    this.#ended = true;
  }

  /** Keeps the difference and throws `trace-diverged`; null: there is none. */
  diverge(difference: Difference | null): void {
    if (difference === null) return;
    this.difference ??= difference;
    throw this.#wrong('trace-diverged', differenceText(difference));
  }

  #isFull(): boolean {
    return this.#events.length >= MOST_EVENTS || this.#textSize >= MOST_TEXT;
  }

  #write(more: Pick<TraceBatch, 'call' | 'end'> = {}): void {
    this.#parts.store.write(this.run_id, { events: this.#events, texts: this.#texts, ...more });
    this.#events = [];
    this.#texts = new Map();
    this.#textSize = 0;
  }

  #refuseEnded(): void {
    if (this.#ended) throw this.#wrong('run-ended', 'nothing is written to it any more');
  }

  #wrong(code: string, what: string): TalariaError {
    return new TalariaError(`The trace of ${this.run_id}: ${what}.`, { code });
  }
}

export interface Difference {
  /** Number of the event; null: a call or the outcome differs. */
  readonly seq: number | null;
  /** `type`, `data.facts[2].text`, `outcome.verdict`, … */
  readonly field: string;
  /** Undefined: there is none. */
  readonly stored: JsonValue | undefined;
  readonly replayed: JsonValue | undefined;
}

/** Null: they are the same but for the time. */
function eventDifference(seq: number, stored: NewRunEvent, replayed: NewRunEvent): Difference | null {
  for (const field of ['type', 'node_id', 'causal_parent_event_id'] as const)
    if (stored[field] !== replayed[field]) return { seq, field, stored: stored[field], replayed: replayed[field] };
  const found = jsonDifference(stored.data, replayed.data, 'data');
  return found === null ? null : { seq, ...found };
}

/** The first place where two values differ, keys in their order; null: equal as canonical JSON. */
export function jsonDifference(
  stored: JsonValue | undefined,
  replayed: JsonValue | undefined,
  field: string,
): Omit<Difference, 'seq'> | null {
  if (canonicalJson(stored) === canonicalJson(replayed)) return null;
  for (const [name, one, other] of partsOf(stored, replayed)) {
    const found = jsonDifference(one, other, `${field}${name}`);
    if (found !== null) return found;
  }
  return { field, stored, replayed };
}

type Part = readonly [name: string, stored: JsonValue | undefined, replayed: JsonValue | undefined];

function partsOf(stored: JsonValue | undefined, replayed: JsonValue | undefined): readonly Part[] {
  if (isJsonObject(stored) && isJsonObject(replayed)) {
    const keys = [...new Set([...Object.keys(stored), ...Object.keys(replayed)])].sort();
    return keys.map((key) => [`.${key}`, stored[key], replayed[key]]);
  }
  if (!Array.isArray(stored) || !Array.isArray(replayed)) return [];
  const [one, other]: readonly (readonly JsonValue[])[] = [stored, replayed];
  const length = Math.max(one?.length ?? 0, other?.length ?? 0);
  return Array.from({ length }, (_, at): Part => [`[${at}]`, one?.[at], other?.[at]]);
}

/** One line, each value cut. */
export function differenceText({ seq, field, stored, replayed }: Difference): string {
  const where = seq === null ? field : `event ${seq}, ${field}`;
  return `${where}: stored ${shown(stored)}, now ${shown(replayed)}`;
}

function shown(value: JsonValue | undefined): string {
  const text = value === undefined ? 'nothing' : canonicalJson(value);
  return text.length > 120 ? `${text.slice(0, 120).toWellFormed()}…` : text;
}
