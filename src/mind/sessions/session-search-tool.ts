// Owns the tool `session_search` (core notes 2.3): finding, scrolling, reading and browsing stored conversations, always verbatim.
// A question is answered by its best hits, one a lineage, each with its surroundings; every stored row counts, also those that compaction took
// out of the live context, but not the very line that is being answered. Knows no ranking and no model. Invariants: every quote carries its
// message id, so that what is built on it can cite it; what is cut is said to be cut. Serves seed 001 chapter 9.
import { z } from 'zod';
import { isoTime } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import { sliceText } from '#base/text.ts';
import { type AnyTool, defineTool, type ToolOutput } from '#core/agent/tool.ts';
import type { SearchHit } from './search/message-search.ts';
import { findSession, listSessions, type SessionRow } from './session-rows.ts';
import type { SqliteSessionStore } from './sqlite-session-store.ts';

const input = z.object({
  query: z.string().optional(),
  limit: z.number().optional(),
  sort: z.enum(['newest', 'oldest']).optional().meta({ hidden: true }),
  detail: z.enum(['adaptive', 'full']).optional().meta({ hidden: true }),
  session_id: z.string().optional(),
  around_message_id: z.number().optional(),
  window: z.number().describe('messages each side').optional(),
  role_filter: z.string().describe('user,assistant,tool').optional(),
});

/** The same with the option that needs a model; shown only where there is one. */
const summarisingInput = input.extend({ summarise: z.boolean().optional() });

type Input = z.infer<typeof summarisingInput>;

/** A cited summary of one session about a question. Contract: never throws for what the model did; absent when nothing could be cited. */
export type SummariseSession = (
  asked: { readonly query: string; readonly sessionId: string; readonly askedIn: string },
  signal: AbortSignal,
) => Promise<SessionSummary | undefined>;

export interface SessionSummary {
  /** Topic and day, e.g. `staging server, 2026-05-03`. */
  readonly topic: string;
  /** Each sentence ends in the ids that it rests on: `… [#12, #15]`. */
  readonly text: string;
  /** Sentences that were dropped because they could not be cited. */
  readonly dropped: number;
}

const DESCRIPTION =
  'Search past conversations, this one too. session_id: read one; around_message_id: scroll. Nothing: list recent.';

const DEFAULT_LIMIT = 3;
const MOST_RESULTS = 10;
const DEFAULT_WINDOW = 5;
const WIDEST_WINDOW = 20;
const READ_FIRST = 20;
const READ_LAST = 10;
const MESSAGE_CAP = 4000;
const DEFAULT_ROLES = ['user', 'assistant'];
const ROLES = ['user', 'assistant', 'tool'];

export function createSessionSearchTool(
  store: SqliteSessionStore,
  { summarise }: { readonly summarise?: SummariseSession } = {},
): AnyTool {
  return defineTool<Input>({
    name: 'session_search',
    description: DESCRIPTION,
    input: summarise ? summarisingInput : input,
    toolset: 'session_search',
    effect: 'read',
    summary: (given) => `session_search ${given.query ?? given.session_id ?? 'recent'}`,
    run: async (given, { sessionId }, signal) => {
      const found = await answer(store, given, sessionId);
      const wanted = given.summarise === true && summarise !== undefined && !found.isError;
      const asked = { query: given.query?.trim() ?? '', askedIn: sessionId };
      const { body, isError } = wanted ? await summarised(found, summarise, asked, signal) : found;
      return { text: JSON.stringify(body), isError } satisfies ToolOutput;
    },
  });
}

type Result = Readonly<Record<string, unknown>>;

interface Answer {
  readonly body: Readonly<Record<string, unknown>>;
  readonly results: readonly Result[];
  readonly isError: boolean;
}

async function answer(store: SqliteSessionStore, given: Input, askedIn: string): Promise<Answer> {
  const query = given.query?.trim() ?? '';
  const sessionId = given.session_id?.trim() ?? '';
  if (sessionId !== '') return showSession(store, sessionId, given);
  return query === '' ? browse(store, given) : discover(store, given, query, askedIn);
}

/** The sessions that were found, each with its summary in place of the surroundings of its hit; verbatim where there is none. */
async function summarised(
  found: Answer,
  summarise: SummariseSession,
  asked: { readonly query: string; readonly askedIn: string },
  signal: AbortSignal,
): Promise<Answer> {
  const results: Result[] = [];
  for (const result of found.results) {
    const summary = await summarise({ ...asked, sessionId: String(result.session_id) }, signal);
    const { messages: _whole, bookend_start: _start, bookend_end: _end, ...facts } = result;
    results.push(summary === undefined ? result : { ...facts, summary });
  }
  return { ...found, results, body: { ...found.body, results } };
}

async function discover(store: SqliteSessionStore, given: Input, query: string, askedIn: string): Promise<Answer> {
  const results = await discoverSessions(store, {
    query,
    askedIn,
    limit: clamp(given.limit, DEFAULT_LIMIT, MOST_RESULTS),
    sort: given.sort,
    detail: given.detail ?? 'adaptive',
    window: clamp(given.window, DEFAULT_WINDOW, WIDEST_WINDOW),
    roles: rolesOf(given),
  });
  return done('discover', results, { query, sessions_searched: countSessions(store) });
}

function browse(store: SqliteSessionStore, given: Input): Answer {
  const rows = listSessions(store.database, { limit: clamp(given.limit, DEFAULT_LIMIT, MOST_RESULTS) });
  const stretch = (row: SessionRow) => ({ sessionKey: row.key, roles: DEFAULT_ROLES, cap: 200 });
  const results = rows.map((row) => ({
    ...sessionFacts(row),
    message_count: row.messageCount,
    first: firstMessages(store.database, stretch(row), 1)[0]?.text,
  }));
  return done('browse', results, { sessions_searched: countSessions(store) });
}

function showSession(store: SqliteSessionStore, sessionId: string, given: Input): Answer {
  const session = findSession(store.database, sessionId);
  if (session === undefined) return failed(`no session ${sessionId}; call without arguments to list recent ones`);
  const stretch = { sessionKey: session.key, roles: rolesOf(given), cap: MESSAGE_CAP };
  if (given.around_message_id === undefined) return readSession(store, session, stretch);
  const id = Math.trunc(given.around_message_id);
  if (store.database.get('SELECT 1 FROM messages WHERE session = ? AND id = ?', session.key, id) === undefined) {
    return failed(`no message ${id} in session ${sessionId}`);
  }
  const around = messagesAround(store.database, stretch, id, clamp(given.window, DEFAULT_WINDOW, WIDEST_WINDOW));
  const facts = { messages: around.messages, messages_before: around.before, messages_after: around.after };
  return done('scroll', [{ ...sessionFacts(session), ...facts }], {});
}

function readSession(store: SqliteSessionStore, session: SessionRow, stretch: Stretch): Answer {
  const total = countMessages(store.database, stretch, '>', 0);
  const short = total <= READ_FIRST + READ_LAST;
  const first = firstMessages(store.database, stretch, short ? total : READ_FIRST);
  const last = short ? [] : lastMessages(store.database, stretch, READ_LAST);
  const facts = { messages: first, messages_left_out: total - first.length - last.length, last_messages: last };
  return done('read', [{ ...sessionFacts(session), message_count: total, ...facts }], {});
}

function sessionFacts(row: SessionRow): Readonly<Record<string, unknown>> {
  return {
    session_id: row.id,
    when: isoTime(row.lastActiveAt),
    source: row.source,
    ...(row.model === undefined ? {} : { model: row.model }),
    ...(row.title === undefined ? {} : { title: row.title }),
    ...(row.parentId === undefined ? {} : { parent_session_id: row.parentId }),
  };
}

function done(mode: string, found: readonly object[], facts: Readonly<Record<string, unknown>>): Answer {
  const results = found.map((one) => ({ ...one }));
  return { isError: false, results, body: { success: true, mode, ...facts, results, count: results.length } };
}

function failed(error: string): Answer {
  return { isError: true, results: [], body: { success: false, error } };
}

function countSessions(store: SqliteSessionStore): number {
  return store.database.get<{ count: number }>('SELECT count(*) AS count FROM sessions')?.count ?? 0;
}

function rolesOf(given: Input): readonly string[] {
  const asked = (given.role_filter ?? '').split(/[\s,]+/).filter((role) => ROLES.includes(role));
  return asked.length > 0 ? asked : DEFAULT_ROLES;
}

function clamp(value: number | undefined, byDefault: number, most: number): number {
  return value === undefined || Number.isNaN(value) ? byDefault : Math.min(most, Math.max(1, Math.trunc(value)));
}

interface DiscoverOrder {
  readonly query: string;
  readonly limit: number;
  readonly sort: 'newest' | 'oldest' | undefined;
  readonly detail: 'adaptive' | 'full';
  readonly window: number;
  readonly roles: readonly string[];
  /** Id of the session that asks. */
  readonly askedIn: string;
}

/** Work of other agents and of tools is not what a person remembers. */
const HIDDEN_SOURCES = ['kanban', 'subagent', 'tool', 'review'];
const LOWERED_SOURCE = 'cron';
const HITS = 60;
const BOOKENDS = 3;
const BOOKEND_CAP = 1200;
const BRIEF_WINDOW = 1;
const BRIEF_CAP = 600;
const DEEPEST_LINEAGE = 50;

async function discoverSessions(store: SqliteSessionStore, order: DiscoverOrder): Promise<readonly Result[]> {
  const { database } = store;
  const hits = await store.search(order.query, { limit: HITS, roles: order.roles, hiddenSources: HIDDEN_SOURCES });
  const now = lineUnderWay(database, order.askedIn);
  const earlier = hits.filter((hit) => hit.sessionId !== order.askedIn || hit.messageId < now);
  const chosen = onePerLineage(database, earlier).slice(0, order.limit);
  if (order.sort !== undefined) {
    const sign = order.sort === 'newest' ? -1 : 1;
    chosen.sort((a, b) => sign * (a.hit.at - b.hit.at));
  }
  return chosen.map((found, place) =>
    describe(database, found, { ...order, full: order.detail === 'full' || place === 0 }),
  );
}

/** Id of the owner's newest message there: with it the turn begins that asks. */
function lineUnderWay(database: Database, sessionId: string): number {
  const session = findSession(database, sessionId);
  if (session === undefined) return Number.POSITIVE_INFINITY;
  const row = database.get<{ id: number | null }>(
    "SELECT max(id) AS id FROM messages WHERE session = ? AND role = 'user'",
    session.key,
  );
  return row?.id ?? Number.POSITIVE_INFINITY;
}

interface Found {
  readonly hit: SearchHit;
  readonly session: SessionRow;
}

function onePerLineage(database: Database, hits: readonly SearchHit[]): Found[] {
  const seen = new Set<string>();
  const found: Found[] = [];
  const lowered: Found[] = [];
  for (const hit of hits) {
    const session = findSession(database, hit.sessionId);
    if (session === undefined) continue;
    const root = lineageRoot(database, session);
    if (seen.has(root)) continue;
    seen.add(root);
    (session.source === LOWERED_SOURCE ? lowered : found).push({ hit, session });
  }
  return [...found, ...lowered];
}

function lineageRoot(database: Database, session: SessionRow): string {
  let root = session;
  for (let depth = 0; depth < DEEPEST_LINEAGE && root.parentId !== undefined; depth += 1) {
    const parent = findSession(database, root.parentId);
    if (parent === undefined) return root.id;
    root = parent;
  }
  return root.id;
}

function describe(database: Database, found: Found, order: DiscoverOrder & { readonly full: boolean }): Result {
  const { hit, session } = found;
  const stretch = (cap: number): Stretch => ({ sessionKey: session.key, roles: order.roles, cap });
  const shown = stretch(order.full ? MESSAGE_CAP : BRIEF_CAP);
  const around = messagesAround(database, shown, hit.messageId, order.full ? order.window : BRIEF_WINDOW);
  const { parent_session_id: parent, ...facts } = sessionFacts(session);
  return {
    ...facts,
    when: isoTime(hit.at),
    matched_role: hit.role,
    match_message_id: hit.messageId,
    snippet: hit.snippet,
    ...(order.full ? bookends(database, stretch(BOOKEND_CAP), around.messages) : {}),
    messages: around.messages,
    messages_before: around.before,
    messages_after: around.after,
    detail: order.full ? 'full' : 'brief',
    link: `@session:default/${session.id}`,
    ...(parent === undefined ? {} : { parent_session_id: parent }),
  };
}

/** How the session began and ended; what `messages` shows already is not shown twice. */
function bookends(database: Database, stretch: Stretch, shown: readonly ShownMessage[]): Result {
  const known = new Set(shown.map((message) => message.id));
  const unseen = (messages: readonly ShownMessage[]) => messages.filter((message) => !known.has(message.id));
  return {
    bookend_start: unseen(firstMessages(database, stretch, BOOKENDS)),
    bookend_end: unseen(lastMessages(database, stretch, BOOKENDS)),
  };
}

interface ShownMessage {
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

interface ShownCall {
  readonly name: string;
  readonly arguments: JsonObject;
  /** It ran and did not fail. */
  readonly ok: boolean;
}

interface Stretch {
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

function firstMessages(database: Database, stretch: Stretch, count: number): readonly ShownMessage[] {
  return read(database, stretch, `${COLUMNS} ${READABLE} ORDER BY seq LIMIT ?`, [count]);
}

function lastMessages(database: Database, stretch: Stretch, count: number): readonly ShownMessage[] {
  return [...read(database, stretch, `${COLUMNS} ${READABLE} ORDER BY seq DESC LIMIT ?`, [count])].reverse();
}

/** The message `id`, whatever its role, with `window` messages on both sides; and how many more there are before and after. */
function messagesAround(database: Database, stretch: Stretch, id: number, window: number) {
  const earlier = read(database, stretch, `${COLUMNS} ${READABLE} AND id < ? ORDER BY id DESC LIMIT ?`, [id, window]);
  const later = read(database, stretch, `${COLUMNS} ${READABLE} AND id > ? ORDER BY id LIMIT ?`, [id, window]);
  const own = database.get<Row>(`${COLUMNS} FROM messages WHERE session = ? AND id = ?`, stretch.sessionKey, id);
  return {
    messages: [...[...earlier].reverse(), ...(own === undefined ? [] : [show(database, own, stretch.cap)]), ...later],
    before: countMessages(database, stretch, '<', id) - earlier.length,
    after: countMessages(database, stretch, '>', id) - later.length,
  };
}

/** Only those on that side of the message `id`. */
function countMessages(database: Database, stretch: Stretch, side: '<' | '>', id: number): number {
  const sql = `SELECT count(*) AS count ${READABLE} AND id ${side} ?`;
  return database.get<{ count: number }>(sql, stretch.sessionKey, JSON.stringify(stretch.roles), id)?.count ?? 0;
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
    text: cut > 0 ? `${sliceText(row.text, cap)} [… ${cut} more characters; detail: full]` : row.text,
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
