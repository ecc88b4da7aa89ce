// Owns reading stretches of a stored conversation and the form in which a tool shows them: verbatim text, capped, with ids.
// Every stored row counts, also those that compaction took out of the live context. Invariant: what is cut is said to be cut.
import { isoTime } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import { sliceText } from '#base/text.ts';

export interface ShownMessage {
  readonly id: number;
  readonly role: string;
  /** Who spoke, when it is not just the role. */
  readonly speaker?: string;
  /** ISO 8601. */
  readonly when: string;
  readonly text: string;
  /** Of a tool's answer: the call that it belongs to, so that it can be made again. */
  readonly call?: ShownCall;
}

export interface ShownCall {
  readonly name: string;
  readonly arguments: JsonObject;
  /** It ran and did not fail. */
  readonly ok: boolean;
}

export interface Stretch {
  readonly sessionKey: number;
  readonly roles: readonly string[];
  /** Characters of one message at most. */
  readonly cap: number;
}

interface Row {
  readonly id: number;
  readonly role: string;
  readonly speaker: string | null;
  readonly at: number;
  readonly text: string;
}

const READABLE = `FROM messages WHERE session = ? AND (active = 1 OR compacted = 1) AND text <> ''
  AND role IN (SELECT value FROM json_each(?))`;
const COLUMNS = 'SELECT id, role, speaker, at, text';

export function firstMessages(database: Database, stretch: Stretch, count: number): readonly ShownMessage[] {
  return read(database, stretch, `${COLUMNS} ${READABLE} ORDER BY seq LIMIT ?`, [count]);
}

export function lastMessages(database: Database, stretch: Stretch, count: number): readonly ShownMessage[] {
  return [...read(database, stretch, `${COLUMNS} ${READABLE} ORDER BY seq DESC LIMIT ?`, [count])].reverse();
}

export interface Surroundings {
  readonly messages: readonly ShownMessage[];
  /** How many more there are before and after. */
  readonly before: number;
  readonly after: number;
}

/** The message `id`, whatever its role, with `window` messages on both sides. */
export function messagesAround(
  database: Database,
  stretch: Stretch,
  around: { readonly id: number; readonly window: number },
): Surroundings {
  const { id, window } = around;
  const earlier = read(database, stretch, `${COLUMNS} ${READABLE} AND id < ? ORDER BY id DESC LIMIT ?`, [id, window]);
  const later = read(database, stretch, `${COLUMNS} ${READABLE} AND id > ? ORDER BY id LIMIT ?`, [id, window]);
  const own = database.get<Row>(`${COLUMNS} FROM messages WHERE session = ? AND id = ?`, stretch.sessionKey, id);
  return {
    messages: [...[...earlier].reverse(), ...(own === undefined ? [] : [show(database, own, stretch.cap)]), ...later],
    before: countMessages(database, stretch, { side: 'before', id }) - earlier.length,
    after: countMessages(database, stretch, { side: 'after', id }) - later.length,
  };
}

/** With a bound: only those on that side of the message. */
export function countMessages(
  database: Database,
  stretch: Stretch,
  bound?: { readonly side: 'before' | 'after'; readonly id: number },
): number {
  const condition = bound === undefined ? 'AND id >= ?' : `AND id ${bound.side === 'before' ? '<' : '>'} ?`;
  const sql = `SELECT count(*) AS count ${READABLE} ${condition}`;
  const row = database.get<{ count: number }>(sql, stretch.sessionKey, JSON.stringify(stretch.roles), bound?.id ?? 0);
  return row?.count ?? 0;
}

function read(database: Database, stretch: Stretch, sql: string, values: readonly number[]): readonly ShownMessage[] {
  const rows = database.all<Row>(sql, stretch.sessionKey, JSON.stringify(stretch.roles), ...values);
  return rows.map((row) => show(database, row, stretch.cap));
}

function show(database: Database, row: Row, cap: number): ShownMessage {
  const cut = row.text.length - cap;
  const call = row.role === 'tool' ? callOf(database, row.id, cap) : undefined;
  return {
    id: row.id,
    role: row.role,
    ...(row.speaker === null ? {} : { speaker: row.speaker }),
    when: isoTime(row.at),
    text: cut > 0 ? `${sliceText(row.text, cap)} [… ${cut} more characters]` : row.text,
    ...(call === undefined ? {} : { call }),
  };
}

interface CallRow {
  readonly name: string;
  readonly arguments: string;
  readonly is_error: number | null;
  readonly refused: string | null;
}

/** Arguments that are longer than what is shown of a message are left out: such a call is not shown. */
function callOf(database: Database, resultId: number, cap: number): ShownCall | undefined {
  const row = database.get<CallRow>(
    'SELECT name, arguments, is_error, refused FROM tool_calls WHERE result_id = ?',
    resultId,
  );
  const given = row === undefined || row.arguments.length > cap ? undefined : parseJsonObject(row.arguments);
  if (row === undefined || given === undefined || !given.ok) return undefined;
  return { name: row.name, arguments: given.value, ok: row.is_error === 0 && row.refused === null };
}
