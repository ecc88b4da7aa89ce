// Owns runs in memory: for what is not to be kept (a dry run, a test). The same contract as the file, without its durability.
import type { Clock } from '#base/clock.ts';
import { systemClock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import { newId } from '#base/ids.ts';
import { canonicalJson, type JsonObject, parseJson } from '#base/json.ts';
import { holderName, holderWords } from '#base/process/holder.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { CallRecord } from '../call/call-record.ts';
import type { RunEvent } from './run-event.ts';
import type { NewRun, RunRow } from './run-row.ts';
import { findRow } from './store/find-row.ts';
import { LiveTrace } from './store/live-trace.ts';
import { prunedRows } from './store/pruned-rows.ts';
import { holdRun, isOwnerAlive, releaseRun } from './store/run-owner.ts';
import type { TraceBatch, TraceSink } from './store/trace-sink.ts';
import { textHash } from './text-hash.ts';
import type { PruneOptions, RunListing, RunTrace, TraceStore } from './trace-store.ts';

interface KeptRun {
  row: RunRow;
  readonly events: RunEvent[];
  readonly calls: Map<string, CallRecord>;
  readonly texts: Map<string, string>;
}

export function memoryTraceStore(clock: Clock = systemClock): TraceStore {
  return new MemoryTraceStore(clock);
}

class MemoryTraceStore implements TraceStore, TraceSink {
  readonly #name = newId('memory');
  readonly #clock: Clock;
  readonly #runs = new Map<string, KeptRun>();
  readonly #live = new Map<string, LiveTrace>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(run: NewRun, texts: readonly string[] = []): RunTrace {
    if (this.#runs.has(run.run_id))
      throw new TalariaError(`There is a run ${run.run_id} already.`, { code: 'run-exists' });
    const started = { started_at: this.#clock.now(), ended_at: null, state: 'running', owner: holderName() } as const;
    const row: RunRow = { ...plainCopy(run), ...started, outcome: null, state_hash: null };
    this.#runs.set(run.run_id, {
      row,
      events: [],
      calls: new Map(),
      texts: new Map(texts.map((text) => [textHash(text), text])),
    });
    return this.#open(run.run_id, []);
  }

  reopen(run_id: string, { takeOver = false } = {}): Result<RunTrace, 'run-not-found' | 'run-ended' | 'run-alive'> {
    const run = this.#runs.get(run_id);
    if (run === undefined) return refuse('run-not-found', `There is no run ${run_id}.`);
    if (run.row.ended_at !== null) return refuse('run-ended', `The run ${run_id} has ended.`);
    if (!takeOver && isOwnerAlive(run.row.owner, { store: this.#name, run_id }))
      return refuse('run-alive', `${run_id} is worked on by ${holderWords(run.row.owner ?? '')}.`);
    run.row = { ...run.row, owner: holderName() };
    return ok(this.#open(run_id, [...run.events]));
  }

  #open(run_id: string, stored: readonly RunEvent[]): RunTrace {
    const held = { store: this.#name, run_id };
    holdRun(held);
    const onEnd = () => {
      releaseRun(held);
      this.#live.delete(run_id);
    };
    const trace = new LiveTrace({ run_id, stored, sink: this, clock: this.#clock, onEnd });
    this.#live.set(run_id, trace);
    return trace;
  }

  write(run_id: string, { events, texts, call, end }: TraceBatch): void {
    const run = this.#runs.get(run_id);
    if (run === undefined) throw new TalariaError(`The run ${run_id} was removed.`, { code: 'run-not-found' });
    for (const event of events) run.events.push({ ...event, data: plainCopy(event.data) });
    for (const [hash, text] of texts) run.texts.set(hash, text);
    if (call !== undefined) this.#saveCall(run, call);
    if (end !== undefined)
      run.row = { ...run.row, ...end, outcome: end.outcome && plainCopy(end.outcome), owner: null };
  }

  #saveCall(run: KeptRun, call: CallRecord): void {
    if (run.calls.has(call.call_id))
      throw new TalariaError(`The call ${call.call_id} is stored already.`, { code: 'call-exists' });
    run.calls.set(call.call_id, structuredClone(call));
    for (const text of [call.prompt, call.completion ?? '', call.system_prompt]) run.texts.set(textHash(text), text);
  }

  recorded(run_id: string, call_id: string): CallRecord | undefined {
    return this.#runs.get(run_id)?.calls.get(call_id);
  }

  list({ limit = Number.POSITIVE_INFINITY, kind }: RunListing = {}): readonly RunRow[] {
    const rows = this.#newestFirst().filter((row) => kind === undefined || row.kind === kind);
    return rows.slice(0, limit);
  }

  #newestFirst(): RunRow[] {
    const rows = [...this.#runs.values()].map(({ row }) => row).reverse();
    return rows.sort((one, other) => other.started_at - one.started_at);
  }

  find(idOrPrefix: string): Result<RunRow, 'run-not-found' | 'run-ambiguous'> {
    const rows = this.#newestFirst().filter(({ run_id }) => run_id.startsWith(idOrPrefix));
    return findRow(idOrPrefix, rows);
  }

  events(run_id: string): readonly RunEvent[] {
    return [...(this.#runs.get(run_id)?.events ?? [])];
  }

  calls(run_id: string): readonly CallRecord[] {
    return [...(this.#runs.get(run_id)?.calls.values() ?? [])];
  }

  textOf(hash: string): string | undefined {
    for (const { texts } of this.#runs.values()) {
      const text = texts.get(hash);
      if (text !== undefined) return text;
    }
    return undefined;
  }

  prune(before: number, options: PruneOptions = {}): readonly string[] {
    const isAlive = (row: RunRow) => isOwnerAlive(row.owner, { store: this.#name, run_id: row.run_id });
    const gone = prunedRows(this.#newestFirst(), { before, ...options, isAlive }).map(({ run_id }) => run_id);
    if (options.dryRun !== true) for (const run_id of gone) this.#runs.delete(run_id);
    return gone;
  }

  close(): void {
    for (const [run_id, trace] of this.#live) {
      trace.letGo();
      releaseRun({ store: this.#name, run_id });
    }
    this.#live.clear();
  }
}

/** As it would come back from a file. */
function plainCopy<T extends object>(value: T): T {
  const parsed = parseJson(canonicalJson(value as unknown as JsonObject));
  if (!parsed.ok) throw new TalariaError('What is kept of a run is JSON.', { code: 'trace-invalid' });
  return parsed.value as unknown as T;
}
