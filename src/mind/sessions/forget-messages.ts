// Owns finding what is to be forgotten in the stored conversations, and taking it out for good: rows, index, words, titles, prompts, what spans told,
// and their files: whole outputs, copies of what was changed. Invariants: what is left is a legal history (a call goes with its results, a user's
// message with the turn that answered it); rows go in one transaction; index and statistics agree with what is left; nothing that was derived from
// what went stays (summaries go, and their other originals are live again); costs stay, since money was spent.

import { join, sep } from 'node:path';
import { openBlobs } from '#base/blobs.ts';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { isJsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import type { Forgets, Forgot, ForgottenSession, Places } from '#core/agent/room.ts';
import { type IndexableRow, indexMessage, type Lanes, prepared } from './append-message.ts';
import { forgetFileChanges } from './files/file-change-rows.ts';
import { copiesOf, copyPath } from './files/file-copies.ts';
import { SearchLane } from './search/search-lane.ts';
import { noSuchSession } from './session-rows.ts';
import { eraseFreed, filesHolding, removeFiles, someText, variantsOf } from './sweep-text.ts';

export type ForgetQuery =
  | { readonly kind: 'session'; readonly sessionId: string }
  /** Everything said before this moment, epoch ms. */
  | { readonly kind: 'before'; readonly at: number }
  /** Every message that holds this text, upper and lower case alike. */
  | { readonly kind: 'match'; readonly text: string };

interface Row {
  readonly id: number;
  readonly role: string;
  readonly at: number;
  readonly body: string;
  /** As bytes: a text that holds a NUL comes back whole. */
  readonly text: Uint8Array;
}

interface SessionRow {
  readonly key: number;
  readonly id: string;
  readonly title: string | null;
  readonly last_active_at: number;
}

/** Throws `no-such-session`. */
export function selectMessages(database: Database, query: ForgetQuery): readonly ForgottenSession[] {
  const sessions = sessionsToRead(database, query);
  if (query.kind === 'session' && sessions.length === 0) throw noSuchSession(query.sessionId);
  const isMeant = messageTest(query);
  return sessions.flatMap((session) => {
    const rows = database.all<Row>(
      `SELECT id, role, at, body, CAST(text AS BLOB) AS text FROM messages
       WHERE session = ? AND place IS NULL ORDER BY seq`,
      session.key,
    );
    const meant = closure(rows, isMeant);
    const whole = meant.length === rows.length && (rows.length > 0 || isEmptyMeant(query, session));
    return meant.length === 0 && !whole ? [] : [selected(session, meant, whole)];
  });
}

/** Sessions that began as a copy of one of these, and keep the copy. */
export function forksHolding(database: Database, sessions: readonly ForgottenSession[]): readonly string[] {
  const keys = JSON.stringify(sessions.map(({ key }) => key));
  return database
    .all<{ id: string }>(
      `SELECT DISTINCT s.id FROM messages o JOIN messages c ON c.copy_of = o.id JOIN sessions s ON s.key = c.session
       WHERE o.session IN (SELECT value FROM json_each(?1)) AND c.session NOT IN (SELECT value FROM json_each(?1))`,
      keys,
    )
    .map(({ id }) => id);
}

/** Does a text hold what is looked for, as it is or inside JSON? */
export function textTest(text: string): (candidate: string) => boolean {
  const wanted = variantsOf(text).map((variant) => variant.toLowerCase());
  return (candidate) => {
    const folded = candidate.toLowerCase();
    return wanted.some((variant) => folded.includes(variant));
  };
}

/** The same for the stored body of a message: what is said, called and answered counts, its form does not. */
function bodyTest(holds: (text: string) => boolean): (body: string) => boolean {
  return (body) => {
    if (!holds(body)) return false;
    const parsed = parseJsonObject(body);
    const parts = parsed.ok && Array.isArray(parsed.value.parts) ? parsed.value.parts : [];
    return parts.some((part: JsonValue) => partHolds(part, holds));
  };
}

const FORM: ReadonlySet<string> = new Set(['type', 'origin', 'label', 'name', 'callId', 'refused', 'arguments']);
const ANYTHING: ReadonlySet<string> = new Set();

/** The arguments of a call are the model's own words, whatever their names. */
function partHolds(part: JsonValue, holds: (text: string) => boolean): boolean {
  const called = isJsonObject(part) ? part.arguments : undefined;
  return someText(part, FORM, holds) || someText(called, ANYTHING, holds);
}

function sessionsToRead(database: Database, query: ForgetQuery): readonly SessionRow[] {
  const columns = 'SELECT key, id, title, last_active_at FROM sessions';
  if (query.kind === 'session') return database.all<SessionRow>(`${columns} WHERE id = ?`, query.sessionId);
  if (query.kind === 'before') {
    return database.all<SessionRow>(
      `${columns} WHERE last_active_at < ?1 OR key IN (SELECT session FROM messages WHERE at < ?1) ORDER BY key`,
      query.at,
    );
  }
  const keys = holdingSessions(database, bodyTest(textTest(query.text)));
  return database.all<SessionRow>(`${columns} ORDER BY key`).filter(({ key }) => keys.has(key));
}

function holdingSessions(database: Database, holds: (text: string) => boolean): ReadonlySet<number> {
  const keys = new Set<number>();
  const rows = database.iterate<{ session: number; body: string }>('SELECT session, body FROM messages');
  for (const { session, body } of rows) if (!keys.has(session) && holds(body)) keys.add(session);
  return keys;
}

function messageTest(query: ForgetQuery): (row: Row) => boolean {
  if (query.kind === 'session') return () => true;
  if (query.kind === 'before') return ({ at }) => at < query.at;
  const holds = bodyTest(textTest(query.text));
  return ({ body }) => holds(body);
}

function isEmptyMeant(query: ForgetQuery, session: SessionRow): boolean {
  return query.kind === 'session' || (query.kind === 'before' && session.last_active_at < query.at);
}

/** Rows that go: those that are meant, and what would be left hanging without them. */
function closure(rows: readonly Row[], isMeant: (row: Row) => boolean): readonly Row[] {
  return turnsOf(rows).flatMap((turn) => {
    const [first] = turn;
    if (first?.role === 'user' && isMeant(first)) return turn;
    return stepsOf(turn).flatMap((step) => (step.some(isMeant) ? step : []));
  });
}

/** From one user message to before the next. */
function turnsOf(rows: readonly Row[]): readonly (readonly Row[])[] {
  return splitBefore(rows, ({ role }) => role === 'user');
}

/** A model's message with the results of its calls; a user's message alone. */
function stepsOf(turn: readonly Row[]): readonly (readonly Row[])[] {
  return splitBefore(turn, ({ role }) => role !== 'tool');
}

function splitBefore(rows: readonly Row[], begins: (row: Row) => boolean): readonly (readonly Row[])[] {
  const groups: Row[][] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    if (last === undefined || begins(row)) groups.push([row]);
    else last.push(row);
  }
  return groups;
}

function selected(session: SessionRow, rows: readonly Row[], whole: boolean): ForgottenSession {
  return {
    key: session.key,
    id: session.id,
    title: session.title ?? undefined,
    whole,
    messages: rows.map(({ id, role, body, text }) => ({
      id,
      role,
      text: Buffer.from(text).toString('utf8'),
      ...spillOf(role, body),
      ...blobsOf(body),
    })),
  };
}

function spillOf(role: string, body: string): { readonly spill?: string } {
  const spill = role !== 'assistant' ? /"spill":"((?:[^"\\]|\\.)*)"/.exec(body)?.[1] : undefined;
  return spill === undefined ? {} : { spill: spill.replace(/\\(.)/g, '$1') };
}

const BLOB = /"hash":"([0-9a-f]{64})"/g;

function blobsOf(body: string): { readonly blobs?: readonly string[] } {
  const blobs = body.includes('"image"') ? [...body.matchAll(BLOB)].flatMap(([, hash]) => hash ?? []) : [];
  return blobs.length === 0 ? {} : { blobs };
}

/** Pictures that no message has any more. */
function dropBlobs(database: Database, folder: string, sessions: Forgets['sessions']): number {
  const named = new Set(sessions.flatMap(({ messages }) => messages.flatMap(({ blobs = [] }) => blobs)));
  const isKept = (hash: string) =>
    database.all('SELECT 1 FROM messages WHERE body LIKE ? LIMIT 1', `%"hash":"${hash}"%`).length > 0;
  return [...named].filter((hash) => !isKept(hash) && openBlobs(folder).remove(hash)).length;
}

type ForgetRequest = Pick<Forgets, 'sessions' | 'holds' | 'before'>;

interface Kept {
  readonly database: Database;
  readonly clock: Clock;
  readonly places: Pick<Places, 'spill' | 'checkpoints' | 'stateDatabase' | 'blobs'>;
}

/** Files that are found through the rows go first, the freed bytes last: a stopped run is mended by the same run again. */
export async function forgetSessions({ database, clock, places }: Kept, what: Forgets): Promise<readonly Forgot[]> {
  const { spill, checkpoints } = places;
  const { sessions, text } = what;
  const whole = sessions.filter((session) => session.whole).map(({ id }) => id);
  const spilled = sessions.flatMap(({ messages }) => messages.flatMap((message) => message.spill ?? []));
  const outputs = [...whole.map((id) => join(spill, id)), ...spilled].filter((path) => path.startsWith(spill + sep));
  const holding = text === undefined ? [] : [spill, checkpoints].flatMap((folder) => filesHolding(folder, text));
  const first = removeFiles([...outputs, ...whole.map((id) => copiesOf(checkpoints, id)), ...holding]);
  const { copies, ...rows } = await forgetRows(database, what);
  const loose = removeFiles(copies.flatMap(({ session, key }) => copyPath(checkpoints, session, key) ?? []));
  const pictures = dropBlobs(database, places.blobs, sessions);
  const isBusy = (await eraseFreed(database, clock)) === 'busy';
  return [
    { name: 'sessions', count: rows.sessions, busy: isBusy ? [places.stateDatabase] : [] },
    { name: 'messages', count: rows.messages },
    { name: 'prompts', count: rows.prompts },
    { name: 'files', count: first + loose + pictures },
  ];
}

/** What is in state.db, in one transaction; no byte of it is left in the file. */
export function forgetRows(database: Database, what: ForgetRequest) {
  const lanes = { spoken: new SearchLane(database, 'spoken'), tool: new SearchLane(database, 'tool') };
  database.exec('PRAGMA secure_delete = ON');
  return database.transaction(() => {
    const rows = forgetMessages(database, lanes, what);
    return { ...rows, copies: forgetFileChanges(database, what) };
  });
}

/** Inside a transaction, with `secure_delete` on. */
export function forgetMessages(database: Database, lanes: Lanes, request: ForgetRequest) {
  const gone = new Set(request.sessions.flatMap(({ messages }) => messages.map(({ id }) => id)));
  for (const session of request.sessions) {
    keepCopies(database, lanes, { session, gone });
    for (const { id } of session.messages) dropMessage(database, lanes, id);
    if (session.whole) dropSession(database, session);
    else tidySession(database, session, request.holds);
  }
  if (request.before !== undefined) database.run('DELETE FROM spans WHERE started_at < ?', request.before);
  if (request.holds) clearAsides(database, request.holds);
  const prompts = dropPrompts(database, request.holds);
  tidyIndex(database, lanes);
  return { sessions: request.sessions.filter(({ whole }) => whole).length, messages: gone.size, prompts };
}

function dropMessage(database: Database, lanes: Lanes, id: number): void {
  lanes.spoken.remove(id);
  lanes.tool.remove(id);
  database.run('DELETE FROM messages WHERE id = ?', id);
}

/** Usage has no text: it stays for `cost`, under no session. */
function dropSession(database: Database, { key, id }: ForgottenSession): void {
  database.run('UPDATE usage SET session = 0 WHERE session = ?', key);
  database.run('UPDATE sessions SET parent_id = NULL WHERE parent_id = ?', id);
  database.run('DELETE FROM messages WHERE session = ?', key);
  database.run('DELETE FROM sessions WHERE key = ?', key);
}

function tidySession(database: Database, session: ForgottenSession, holds: ForgetRequest['holds']): void {
  const { key } = session;
  dropSummaries(database, session);
  database.run('UPDATE spans SET detail = NULL WHERE session = ?', key);
  const said = session.messages.filter(({ role }) => role === 'user').map(({ text }) => text);
  const title = session.title?.replace(/…$/, '').trim() ?? '';
  if (title !== '' && (holds?.(title) || said.some((text) => text.includes(title)))) {
    database.run('UPDATE sessions SET title = NULL WHERE key = ?', key);
  }
  database.run(
    `UPDATE sessions SET
       message_count = (SELECT count(*) FROM messages WHERE session = key AND place IS NULL AND (active = 1 OR compacted = 1)),
       tool_call_count = (SELECT count(*) FROM tool_calls t JOIN messages m ON m.id = t.message_id
         WHERE m.session = key AND (m.active = 1 OR m.compacted = 1))
     WHERE key = ?`,
    key,
  );
}

/** What a compression put in was drawn from everything before it. */
function dropSummaries(database: Database, { key }: Pick<ForgottenSession, 'key'>): void {
  const { changes } = database.run('DELETE FROM messages WHERE session = ? AND place IS NOT NULL', key);
  if (changes > 0) {
    database.run('UPDATE messages SET active = 1, compacted = 0 WHERE session = ? AND compacted = 1', key);
  }
}

/** A fork has copies that are found through the original; when that goes, the first of them takes its place in the index. */
function keepCopies(
  database: Database,
  lanes: Lanes,
  { session, gone }: { readonly session: ForgottenSession; readonly gone: ReadonlySet<number> },
): void {
  const ids = JSON.stringify(session.messages.map(({ id }) => id));
  const copies = database.all<IndexableRow & { readonly copy_of: number }>(
    `SELECT m.id, m.session, s.id AS session_id, m.seq, m.role, m.speaker, m.at, m.body, m.copy_of
     FROM messages m JOIN sessions s ON s.key = m.session
     WHERE m.copy_of IN (SELECT value FROM json_each(?)) ORDER BY m.session, m.seq`,
    ids,
  );
  const heirs = new Map<number, number>();
  const kept = copies.filter(({ id }) => !gone.has(id));
  const last = new Map(kept.map((copy) => [copy.session, copy.seq]));
  for (const copy of kept) {
    const heir = heirs.get(copy.copy_of);
    database.run('UPDATE messages SET copy_of = ? WHERE id = ?', heir ?? null, copy.id);
    if (heir !== undefined) continue;
    heirs.set(copy.copy_of, copy.id);
    const message = prepared(copy);
    // What a fork began with lies before its first turn of its own.
    const spoken = copy.seq - (last.get(copy.session) ?? copy.seq);
    if (message.analysis.terms !== '') indexMessage(lanes, message, { ...copy, spoken });
  }
}

/** What stands beside the messages: titles, folders, summaries, what spans told. */
function clearAsides(database: Database, holds: (text: string) => boolean): void {
  clearColumn(database, 'sessions', 'title', holds);
  clearColumn(database, 'spans', 'detail', holds);
  const folders = database.all<{ cwd: string }>('SELECT DISTINCT cwd FROM sessions').filter(({ cwd }) => holds(cwd));
  for (const { cwd } of folders) database.run("UPDATE sessions SET cwd = '' WHERE cwd = ?", cwd);
  const isMeant = bodyTest(holds);
  const summaries = database
    .all<{ session: number; body: string }>('SELECT session, body FROM messages WHERE place IS NOT NULL')
    .filter(({ body }) => isMeant(body));
  for (const { session } of summaries) dropSummaries(database, { key: session });
}

function clearColumn(database: Database, table: string, column: string, holds: (text: string) => boolean): void {
  const rows = database
    .all<{ id: string; cell: string }>(`SELECT id, ${column} AS cell FROM ${table} WHERE ${column} IS NOT NULL`)
    .filter(({ cell }) => holds(cell));
  for (const { id } of rows) database.run(`UPDATE ${table} SET ${column} = NULL WHERE id = ?`, id);
}

/** A session whose prompt goes gets a new one when it is resumed. */
function dropPrompts(database: Database, holds: ForgetRequest['holds']): number {
  if (holds) {
    const prompts = database.all<{ hash: string; system: string }>('SELECT hash, system FROM prompts');
    for (const { hash, system } of prompts) {
      if (holds(system)) database.run('UPDATE sessions SET prompt_hash = NULL WHERE prompt_hash = ?', hash);
    }
  }
  return database.run(
    'DELETE FROM prompts WHERE hash NOT IN (SELECT prompt_hash FROM sessions WHERE prompt_hash IS NOT NULL)',
  ).changes;
}

/** Deleted words stay in the segments of a full-text index until they are merged. */
function tidyIndex(database: Database, lanes: Lanes): void {
  for (const lane of [lanes.spoken, lanes.tool]) {
    lane.count();
    database.run(`DELETE FROM ${lane.name}_words WHERE rows <= 0`);
    database.exec(`INSERT INTO ${lane.name}_index(${lane.name}_index) VALUES('optimize')`);
  }
}
