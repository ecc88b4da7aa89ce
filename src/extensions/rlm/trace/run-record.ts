// Owns what is known of one run, wherever it comes from (the store, an exported file): its row, its nine kinds of events (notes 16), its calls, the
// texts that they name by hash. It is what a replay, a check and a page read. Plain data. Invariant: the data of an event follows from request,
// sources and replies, so that a replay yields the same bytes; only `at` tells the time. Equal data, equal hash; keys have no order.
import { type Clock, isoTime } from '#base/clock.ts';
import { randomHex, sha256 } from '#base/ids.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { CallRecord } from '../call/call-record.ts';
import type { EndState } from '../scaffold/run-tree.ts';

/** `sha256:` and hex, of the UTF-8 of the text. */
export function textHash(text: string): string {
  return `sha256:${sha256(text)}`;
}

/** Of the canonical JSON: the state hash of a run is that of its outcome. */
export function jsonHash(value: JsonValue): string {
  return textHash(canonicalJson(value));
}

export const RUN_EVENT_TYPES = [
  'rlm.run.started',
  'rlm.node.scheduled',
  'rlm.context.bound',
  'rlm.hermes.call.started',
  'rlm.hermes.call.completed',
  'rlm.hermes.response.validated',
  'rlm.state.committed',
  'rlm.node.terminal',
  'rlm.run.finished',
] as const;

export type RunEventType = (typeof RUN_EVENT_TYPES)[number];

export interface NewRunEvent {
  readonly type: RunEventType;
  readonly node_id: string | null;
  readonly causal_parent_event_id: string | null;
  readonly data: JsonObject;
}

export interface RunEvent extends NewRunEvent {
  readonly run_id: string;
  /** From 1, without gap. */
  readonly seq: number;
  /** `<run_id>:<seq, six digits>`. */
  readonly event_id: string;
  /** Epoch ms. */
  readonly at: number;
}

export function eventId(run_id: string, seq: number): string {
  return `${run_id}:${String(seq).padStart(6, '0')}`;
}

export type RunKind = 'run' | 'ask' | 'vanilla';

/** A file that was read, or what stood for one. */
export interface SourceStamp {
  /** As the person named it, relative to `root`; `-` for what was piped in. */
  readonly path: string;
  readonly bytes: number;
  /** `sha256:` and hex. */
  readonly hash: string;
}

export interface NewRun {
  readonly run_id: string;
  readonly kind: RunKind;
  /** All that decides the run besides sources and replies: question, limits, guard mode, priors. Canonical JSON. */
  readonly request: JsonObject;
  readonly root: string;
  readonly sources: readonly SourceStamp[];
}

export interface RunRow extends NewRun {
  readonly started_at: number;
  /** Null: it is running, or was killed. */
  readonly ended_at: number | null;
  readonly state: EndState | 'running';
  readonly outcome: JsonObject | null;
  /** `sha256:` of the canonical outcome; a replay must reach the same. */
  readonly state_hash: string | null;
  /** Process that works on it, `<pid> <host>`; null when ended. */
  readonly owner: string | null;
}

/** `<kind>_<time>_<8 hex>`: ids stand in the order of time, and a day can be typed as a prefix. */
export function newRunId(kind: RunKind, clock: Clock): string {
  return `${kind}_${isoTime(clock.now()).replace(/\D/g, '').slice(0, 14)}_${randomHex(4)}`;
}

export interface RunRecord {
  readonly row: RunRow;
  readonly events: readonly RunEvent[];
  readonly calls: readonly CallRecord[];
  readonly textOf: (hash: string) => string | undefined;
}

export function readRunRecord(
  store: {
    events(id: string): RunRecord['events'];
    calls(id: string): RunRecord['calls'];
    textOf: RunRecord['textOf'];
  },
  row: RunRow,
): RunRecord {
  const { run_id } = row;
  return { row, events: store.events(run_id), calls: store.calls(run_id), textOf: (hash) => store.textOf(hash) };
}

/** Every `text_hash` and `text_hashes` of request and events → where it is named first: `the request` or `event <seq>`. */
export function namedTexts({ row, events }: Pick<RunRecord, 'row' | 'events'>): ReadonlyMap<string, string> {
  const named = new Map<string, string>();
  collect(row.request, 'the request', named);
  for (const { seq, data } of events) collect(data, `event ${seq}`, named);
  return named;
}

function collect(value: JsonValue, where: string, named: Map<string, string>): void {
  const open: (JsonValue | undefined)[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (Array.isArray(next)) open.push(...next);
    if (!isJsonObject(next)) continue;
    for (const hash of [next.text_hash, next.text_hashes].flat())
      if (typeof hash === 'string' && !named.has(hash)) named.set(hash, where);
    open.push(...Object.values(next));
  }
}

/** A chunk of a run, as its request names it, with the text that the trace kept. */
export interface KeptChunk {
  readonly chunk_id: string;
  readonly start_line: number;
  readonly start_byte: number;
  readonly text: string;
}

/** The chunks of the request whose text is still there. */
export function keptChunks(request: JsonObject, textOf: (hash: string) => string | undefined): readonly KeptChunk[] {
  const { chunks } = request;
  if (!Array.isArray(chunks)) return [];
  return chunks.flatMap((chunk) => {
    if (!isJsonObject(chunk)) return [];
    const { chunk_id, start_line, start_byte, text_hash } = chunk;
    if (typeof chunk_id !== 'string' || typeof text_hash !== 'string') return [];
    const text = textOf(text_hash);
    if (text === undefined || typeof start_line !== 'number' || typeof start_byte !== 'number') return [];
    return [{ chunk_id, start_line, start_byte, text }];
  });
}
