// Owns how runs, events and calls stand in the tables, and back. Knows no file and no owner. Invariant: what is read is what was written; a
// row that is no JSON any more throws `trace-damaged` naming it; a text that is gone reads as empty, and its hash tells.
import type { Database } from '#base/database/connection.ts';
import { TalariaError } from '#base/errors.ts';
import { canonicalJson, type JsonObject, type JsonValue, parseJson, parseJsonObject } from '#base/json.ts';
import type { CallRecord } from '../../call/call-record.ts';
import type { RunEvent, RunEventType } from '../run-event.ts';
import type { NewRun, RunRow, SourceStamp } from '../run-row.ts';
import { textHash } from '../text-hash.ts';
import { eventId } from './live-trace.ts';

interface StoredRun extends Omit<RunRow, 'request' | 'sources' | 'outcome'> {
  readonly request: string;
  readonly sources: string;
  readonly outcome: string | null;
}

type StoredEvent = Omit<RunEvent, 'data' | 'event_id' | 'type'> & { readonly data: string; readonly type: string };

interface StoredCall {
  readonly record: string;
  readonly prompt: string;
  readonly completion: string | null;
  readonly system_prompt: string;
}

const RUN_COLUMNS =
  'run_id, kind, request, root, sources, started_at, ended_at, state, outcome, state_hash, owner FROM rlm_runs';
const NEWEST_FIRST = 'ORDER BY started_at DESC, position DESC';

export function insertRun(
  database: Database,
  run: NewRun,
  { at, owner }: { readonly at: number; readonly owner: string },
) {
  const sources = canonicalJson(run.sources as unknown as JsonValue);
  const values = [run.run_id, run.kind, canonicalJson(run.request), run.root, sources, at, owner];
  database.run(
    `INSERT INTO rlm_runs(run_id, kind, request, root, sources, started_at, state, owner) VALUES(?, ?, ?, ?, ?, ?, 'running', ?)`,
    ...values,
  );
}

export function selectRun(database: Database, run_id: string): RunRow | undefined {
  const row = database.get<StoredRun>(`SELECT ${RUN_COLUMNS} WHERE run_id = ?`, run_id);
  return row && readRun(row);
}

export function selectRunsLike(database: Database, prefix: string): readonly RunRow[] {
  const sql = `SELECT ${RUN_COLUMNS} WHERE substr(run_id, 1, length(?)) = ? ${NEWEST_FIRST}`;
  return database.all<StoredRun>(sql, prefix, prefix).map(readRun);
}

export function selectRuns(
  database: Database,
  { limit, kind }: { readonly limit: number; readonly kind: string | null },
): readonly RunRow[] {
  const sql = `SELECT ${RUN_COLUMNS} WHERE ? IS NULL OR kind = ? ${NEWEST_FIRST} LIMIT ?`;
  return database.all<StoredRun>(sql, kind, kind, limit).map(readRun);
}

function readRun(row: StoredRun): RunRow {
  const { run_id } = row;
  return {
    ...row,
    request: readObject(row.request, `the request of ${run_id}`),
    sources: readJson(row.sources, `the sources of ${run_id}`) as unknown as readonly SourceStamp[],
    outcome: row.outcome === null ? null : readObject(row.outcome, `the outcome of ${run_id}`),
  };
}

export function insertEvent(database: Database, event: RunEvent): void {
  const { run_id, seq, type, node_id, causal_parent_event_id, data, at } = event;
  database.run(
    'INSERT INTO rlm_events(run_id, seq, type, node_id, causal_parent_event_id, data, at) VALUES(?, ?, ?, ?, ?, ?, ?)',
    ...[run_id, seq, type, node_id, causal_parent_event_id, canonicalJson(data), at],
  );
}

export function selectEvents(database: Database, run_id: string): readonly RunEvent[] {
  const sql =
    'SELECT run_id, seq, type, node_id, causal_parent_event_id, data, at FROM rlm_events WHERE run_id = ? ORDER BY seq';
  return database.all<StoredEvent>(sql, run_id).map((row) => ({
    ...row,
    type: row.type as RunEventType,
    event_id: eventId(run_id, row.seq),
    data: readObject(row.data, `event ${row.seq} of ${run_id}`),
  }));
}

/** With its three texts. */
export function insertCall(database: Database, run_id: string, call: CallRecord): void {
  const { prompt, completion, system_prompt, ...record } = call;
  const keep = (text: string): string => {
    const hash = textHash(text);
    insertText(database, { run_id, hash, text });
    return hash;
  };
  database.run(
    'INSERT INTO rlm_calls(run_id, call_id, record, prompt, completion, system_prompt) VALUES(?, ?, ?, ?, ?, ?)',
    ...[run_id, call.call_id, canonicalJson(record as unknown as JsonObject)],
    ...[keep(prompt), completion === null ? null : keep(completion), keep(system_prompt)],
  );
}

const CALL_COLUMNS = 'record, prompt, completion, system_prompt FROM rlm_calls';

export function selectCalls(database: Database, run_id: string): readonly CallRecord[] {
  const sql = `SELECT ${CALL_COLUMNS} WHERE run_id = ? ORDER BY position`;
  return database.all<StoredCall>(sql, run_id).map((row) => readCall(database, run_id, row));
}

export function selectCall(database: Database, run_id: string, call_id: string): CallRecord | undefined {
  const sql = `SELECT ${CALL_COLUMNS} WHERE run_id = ? AND call_id = ?`;
  const row = database.get<StoredCall>(sql, run_id, call_id);
  return row && readCall(database, run_id, row);
}

function readCall(database: Database, run_id: string, row: StoredCall): CallRecord {
  const text = (hash: string): string => selectText(database, hash) ?? '';
  const record = readObject(row.record, `a call of ${run_id}`);
  const texts = {
    prompt: text(row.prompt),
    completion: row.completion === null ? null : text(row.completion),
    system_prompt: text(row.system_prompt),
  };
  return { ...record, ...texts } as unknown as CallRecord;
}

export interface RunText {
  readonly run_id: string;
  readonly hash: string;
  readonly text: string;
}

export function insertText(database: Database, { run_id, hash, text }: RunText): void {
  database.run('INSERT OR IGNORE INTO rlm_texts(hash, body) VALUES(?, ?)', hash, Buffer.from(text, 'utf8'));
  database.run('INSERT OR IGNORE INTO rlm_run_texts(run_id, hash) VALUES(?, ?)', run_id, hash);
}

/** As text also what somebody else has written there as text: its hash tells. */
export function selectText(database: Database, hash: string): string | undefined {
  const row = database.get<{ body: Uint8Array | string }>('SELECT body FROM rlm_texts WHERE hash = ?', hash);
  if (row === undefined || !(row.body instanceof Uint8Array)) return row && String(row.body);
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(row.body);
}

function readObject(text: string, what: string): JsonObject {
  const parsed = parseJsonObject(text);
  if (!parsed.ok) throw damaged(what);
  return parsed.value;
}

function readJson(text: string, what: string): JsonValue {
  const parsed = parseJson(text);
  if (!parsed.ok) throw damaged(what);
  return parsed.value;
}

function damaged(what: string): TalariaError {
  return new TalariaError(`The store of runs holds no JSON for ${what}.`, { code: 'trace-damaged' });
}
