// Owns the tool `session_search` (core notes 2.3): finding, scrolling, reading and browsing stored conversations, always verbatim.
// Knows no ranking and no model. Invariant: every quote carries its message id, so that what is built on it can cite it.
import { z } from 'zod';
import { isoTime } from '#base/clock.ts';
import { type AnyTool, defineTool, type ToolOutput } from '#core/agent/tool.ts';
import { findSession, listSessions, type SessionRow } from '../session-rows.ts';
import type { SqliteSessionStore } from '../sqlite-session-store.ts';
import { discoverSessions } from './discover-sessions.ts';
import { countMessages, firstMessages, lastMessages, messagesAround } from './shown-messages.ts';

const input = z.object({
  query: z.string().optional(),
  limit: z.number().optional(),
  sort: z.enum(['newest', 'oldest']).optional(),
  detail: z.enum(['adaptive', 'full']).describe('full: uncut').optional(),
  session_id: z.string().optional(),
  around_message_id: z.number().optional(),
  window: z.number().describe('messages each side').optional(),
  role_filter: z.string().describe('default user,assistant; also tool').optional(),
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

export interface SessionSearchOptions {
  readonly summarise?: SummariseSession;
}

const DESCRIPTION =
  'Search past conversations, this one too. session_id: read one; with around_message_id: scroll. Nothing: list recent.';

const DEFAULT_LIMIT = 3;
const MOST_RESULTS = 10;
const DEFAULT_WINDOW = 5;
const WIDEST_WINDOW = 20;
const READ_FIRST = 20;
const READ_LAST = 10;
const MESSAGE_CAP = 4000;
const DEFAULT_ROLES = ['user', 'assistant'];
const ROLES = ['user', 'assistant', 'tool'];

export function createSessionSearchTool(store: SqliteSessionStore, options: SessionSearchOptions = {}): AnyTool {
  return defineTool<Input>({
    name: 'session_search',
    description: DESCRIPTION,
    input: options.summarise ? summarisingInput : input,
    toolset: 'session_search',
    effect: 'read',
    summary: (given) => `session_search ${given.query ?? given.session_id ?? 'recent'}`,
    run: async (given, { sessionId }, signal) => {
      const found = await answer(store, given, sessionId);
      const { summarise } = options;
      const wanted = given.summarise === true && summarise !== undefined && !found.isError;
      const { body, isError } = wanted
        ? await summarised(found, { given, askedIn: sessionId, summarise }, signal)
        : found;
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
  return query === '' ? browse(store, given) : discover(store, given, { query, askedIn });
}

interface Summarising {
  readonly given: Input;
  readonly askedIn: string;
  readonly summarise: SummariseSession;
}

/** The sessions that were found, each with its summary in place of the surroundings of its hit; verbatim where there is none. */
async function summarised(
  found: Answer,
  { given, askedIn, summarise }: Summarising,
  signal: AbortSignal,
): Promise<Answer> {
  const query = given.query?.trim() ?? '';
  const results: Result[] = [];
  for (const result of found.results) {
    const summary = await summarise({ query, sessionId: String(result.session_id), askedIn }, signal);
    const { messages: _whole, bookend_start: _start, bookend_end: _end, ...facts } = result;
    results.push(summary === undefined ? result : { ...facts, summary });
  }
  return { ...found, results, body: { ...found.body, results } };
}

async function discover(
  store: SqliteSessionStore,
  given: Input,
  { query, askedIn }: { readonly query: string; readonly askedIn: string },
): Promise<Answer> {
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
    message_count: row.message_count,
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
  const around = messagesAround(store.database, stretch, {
    id,
    window: clamp(given.window, DEFAULT_WINDOW, WIDEST_WINDOW),
  });
  const facts = { messages: around.messages, messages_before: around.before, messages_after: around.after };
  return done('scroll', [{ ...sessionFacts(session), ...facts }], {});
}

function readSession(
  store: SqliteSessionStore,
  session: SessionRow,
  stretch: { readonly sessionKey: number; readonly roles: readonly string[]; readonly cap: number },
): Answer {
  const total = countMessages(store.database, stretch);
  const short = total <= READ_FIRST + READ_LAST;
  const first = firstMessages(store.database, stretch, short ? total : READ_FIRST);
  const last = short ? [] : lastMessages(store.database, stretch, READ_LAST);
  const facts = { messages: first, messages_left_out: total - first.length - last.length, last_messages: last };
  return done('read', [{ ...sessionFacts(session), message_count: total, ...facts }], {});
}

function sessionFacts(row: SessionRow): Readonly<Record<string, unknown>> {
  return {
    session_id: row.id,
    when: isoTime(row.last_active_at),
    source: row.source,
    ...(row.model === null ? {} : { model: row.model }),
    ...(row.title === null ? {} : { title: row.title }),
    ...(row.parent_id === null ? {} : { parent_session_id: row.parent_id }),
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
