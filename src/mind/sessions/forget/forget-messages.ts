// Owns taking messages out of the stored conversations for good: rows, index, words, titles, prompts, what spans told. Knows no file.
// Invariants: all in the caller's transaction; index and statistics agree with what is left; nothing that was derived from what went
// stays (summaries go, and their other originals are live again); costs stay, since money was spent.
import type { Database } from '#base/database/connection.ts';
import { indexMessage, type Lanes, prepareMessage } from '../append-message.ts';
import { decodeMessage, encodeMessage } from '../message-rows.ts';
import { bodyTest, type SelectedSession } from './select-messages.ts';

export interface ForgottenRows {
  readonly sessions: number;
  readonly messages: number;
  readonly prompts: number;
}

export interface ForgetRequest {
  readonly sessions: readonly SelectedSession[];
  /** Given where a text is forgotten: titles and prompts that hold it go too. */
  readonly holds?: (text: string) => boolean;
  /** Given where a time is forgotten: what happened before it, epoch ms. */
  readonly before?: number;
}

/** Inside a transaction, with `secure_delete` on. */
export function forgetMessages(database: Database, lanes: Lanes, request: ForgetRequest): ForgottenRows {
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
function dropSession(database: Database, { key, id }: SelectedSession): void {
  database.run('UPDATE usage SET session = 0 WHERE session = ?', key);
  database.run('UPDATE sessions SET parent_id = NULL WHERE parent_id = ?', id);
  database.run('DELETE FROM messages WHERE session = ?', key);
  database.run('DELETE FROM sessions WHERE key = ?', key);
}

function tidySession(database: Database, session: SelectedSession, holds: ForgetRequest['holds']): void {
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
function dropSummaries(database: Database, { key }: Pick<SelectedSession, 'key'>): void {
  const { changes } = database.run('DELETE FROM messages WHERE session = ? AND place IS NOT NULL', key);
  if (changes > 0) {
    database.run('UPDATE messages SET active = 1, compacted = 0 WHERE session = ? AND compacted = 1', key);
  }
}

interface CopyRow {
  readonly id: number;
  readonly session: number;
  readonly session_id: string;
  readonly seq: number;
  readonly role: string;
  readonly speaker: string | null;
  readonly at: number;
  readonly body: string;
}

/** A fork has copies that are found through the original; when that goes, the first of them takes its place in the index. */
function keepCopies(
  database: Database,
  lanes: Lanes,
  { session, gone }: { readonly session: SelectedSession; readonly gone: ReadonlySet<number> },
): void {
  const ids = JSON.stringify(session.messages.map(({ id }) => id));
  const copies = database.all<CopyRow & { readonly copy_of: number }>(
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
    indexCopy(lanes, copy, copy.seq - (last.get(copy.session) ?? copy.seq));
  }
}

/** What a fork began with lies before its first turn of its own. */
function indexCopy(lanes: Lanes, row: CopyRow, turn: number): void {
  const { message } = decodeMessage(row, row.session_id);
  const prepared = prepareMessage({
    sessionId: row.session_id,
    encoded: encodeMessage(message),
    speaker: row.speaker ?? undefined,
    at: row.at,
  });
  if (prepared.analysis.terms === '') return;
  indexMessage(lanes, prepared, { id: row.id, session: row.session, seq: row.seq, spoken: turn });
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
