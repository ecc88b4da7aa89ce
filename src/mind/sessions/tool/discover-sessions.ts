// Owns the answer to a question about the past: best hits, one a lineage, each with its surroundings, verbatim. Knows no ranking.
// Invariant: the live session and compacted rows are found like any other, but not the very line that is being answered. Serves seed 001 chapter 9 without its summariser.
import { isoTime } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { SearchHit } from '../search/message-search.ts';
import { findSession, type SessionRow } from '../session-rows.ts';
import type { SqliteSessionStore } from '../sqlite-session-store.ts';
import { firstMessages, lastMessages, messagesAround, type ShownMessage, type Stretch } from './shown-messages.ts';

export interface DiscoverOrder {
  readonly query: string;
  readonly limit: number;
  readonly sort: 'newest' | 'oldest' | undefined;
  readonly detail: 'adaptive' | 'full';
  readonly window: number;
  readonly roles: readonly string[];
  /** Id of the session that asks. */
  readonly askedIn: string;
}

export interface FoundSession {
  readonly session_id: string;
  readonly when: string;
  readonly source: string;
  readonly model?: string;
  readonly title?: string;
  readonly matched_role: string;
  readonly match_message_id: number;
  readonly snippet: string;
  readonly bookend_start?: readonly ShownMessage[];
  readonly bookend_end?: readonly ShownMessage[];
  readonly messages: readonly ShownMessage[];
  readonly messages_before: number;
  readonly messages_after: number;
  readonly detail: 'full' | 'brief';
  readonly link: string;
  readonly parent_session_id?: string;
}

/** Work of other agents and of tools is not what a person remembers. */
const HIDDEN_SOURCES = ['kanban', 'subagent', 'tool', 'review'];
const LOWERED_SOURCE = 'cron';
const HITS = 60;
const BOOKENDS = 3;
const BOOKEND_CAP = 1200;
const MESSAGE_CAP = 4000;
const BRIEF_WINDOW = 1;
const BRIEF_CAP = 600;
const DEEPEST_LINEAGE = 50;

export async function discoverSessions(
  store: SqliteSessionStore,
  order: DiscoverOrder,
): Promise<readonly FoundSession[]> {
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
  for (let depth = 0; depth < DEEPEST_LINEAGE && root.parent_id !== null; depth += 1) {
    const parent = findSession(database, root.parent_id);
    if (parent === undefined) return root.id;
    root = parent;
  }
  return root.id;
}

function describe(database: Database, found: Found, order: DiscoverOrder & { readonly full: boolean }): FoundSession {
  const { hit, session } = found;
  const stretch = (cap: number): Stretch => ({ sessionKey: session.key, roles: order.roles, cap });
  const around = messagesAround(database, stretch(order.full ? MESSAGE_CAP : BRIEF_CAP), {
    id: hit.messageId,
    window: order.full ? order.window : BRIEF_WINDOW,
  });
  return {
    session_id: session.id,
    when: isoTime(hit.at),
    source: session.source,
    ...(session.model === null ? {} : { model: session.model }),
    ...(session.title === null ? {} : { title: session.title }),
    matched_role: hit.role,
    match_message_id: hit.messageId,
    snippet: hit.snippet,
    ...(order.full ? bookends(database, stretch(BOOKEND_CAP), around.messages) : {}),
    messages: around.messages,
    messages_before: around.before,
    messages_after: around.after,
    detail: order.full ? 'full' : 'brief',
    link: `@session:default/${session.id}`,
    ...(session.parent_id === null ? {} : { parent_session_id: session.parent_id }),
  };
}

/** How the session began and ended; what `messages` shows already is not shown twice. */
function bookends(
  database: Database,
  stretch: Stretch,
  shown: readonly ShownMessage[],
): Pick<FoundSession, 'bookend_start' | 'bookend_end'> {
  const known = new Set(shown.map((message) => message.id));
  const unseen = (messages: readonly ShownMessage[]) => messages.filter((message) => !known.has(message.id));
  return {
    bookend_start: unseen(firstMessages(database, stretch, BOOKENDS)),
    bookend_end: unseen(lastMessages(database, stretch, BOOKENDS)),
  };
}
