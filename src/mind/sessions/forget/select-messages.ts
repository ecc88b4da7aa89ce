// Owns finding what is to be forgotten in the stored conversations. Reads only. Invariant: what is left is a legal history: a call goes
// with its results, a user's message with the whole turn that answered it; a session of which nothing is left goes as a whole.

import type { Database } from '#base/database/connection.ts';
import { canonicalJson, isJsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import { noSuchSession } from '../session-rows.ts';
import { someText } from './json-texts.ts';

export type ForgetQuery =
  | { readonly kind: 'session'; readonly sessionId: string }
  /** Everything said before this moment, epoch ms. */
  | { readonly kind: 'before'; readonly at: number }
  /** Every message that holds this text, upper and lower case alike. */
  | { readonly kind: 'match'; readonly text: string };

export interface SelectedSession {
  readonly key: number;
  readonly id: string;
  readonly title: string | undefined;
  /** Nothing of it is left. */
  readonly whole: boolean;
  readonly messages: readonly SelectedMessage[];
}

export interface SelectedMessage {
  readonly id: number;
  readonly role: string;
  readonly text: string;
  /** File that holds the whole output of a tool. */
  readonly spill?: string;
}

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
export function selectMessages(database: Database, query: ForgetQuery): readonly SelectedSession[] {
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
export function forksHolding(database: Database, sessions: readonly SelectedSession[]): readonly string[] {
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
export function bodyTest(holds: (text: string) => boolean): (body: string) => boolean {
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

/** The text as it stands in plain text and within JSON strings. */
export function variantsOf(text: string): readonly string[] {
  const escaped = canonicalJson(text).slice(1, -1);
  return escaped === text ? [text] : [text, escaped];
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

function selected(session: SessionRow, rows: readonly Row[], whole: boolean): SelectedSession {
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
    })),
  };
}

function spillOf(role: string, body: string): { readonly spill?: string } {
  const spill = role !== 'assistant' ? /"spill":"((?:[^"\\]|\\.)*)"/.exec(body)?.[1] : undefined;
  return spill === undefined ? {} : { spill: spill.replace(/\\(.)/g, '$1') };
}
