// Owns bringing a whole session of another program into state.db: its id, times and order kept, one transaction. Knows no foreign format.
// Invariant: a session is brought wholly or not at all, and a second time changes nothing: what is here is compared before it is written.
import type { Database } from '#base/database/connection.ts';
import { type Message, toolCalls } from '#core/model/message.ts';
import { appendMessage, type Lanes, type PreparedMessage, prepareMessage } from '../append-message.ts';
import { encodeMessage } from '../message-rows.ts';
import { findSession, insertRow } from '../session-rows.ts';

/** `live`: in the context. `compacted`: out of it, still searchable. `rewound`: taken back, kept for completeness only. */
export type BroughtState = 'live' | 'compacted' | 'rewound';

export interface BroughtMessage {
  /** Epoch ms. */
  readonly at: number;
  readonly message: Message;
  readonly state: BroughtState;
}

export interface BroughtSession {
  readonly id: string;
  readonly source: string;
  readonly cwd: string;
  readonly userId?: string;
  readonly chatId?: string;
  readonly parentId?: string;
  readonly title?: string;
  readonly model?: string;
  /** Epoch ms. */
  readonly startedAt: number;
  readonly lastActiveAt: number;
  readonly endedAt?: number;
}

/** `renamed`: another session has this id, so that this one got another. `continued`: messages came that were not here yet. */
export type BringOutcome = 'new' | 'continued' | 'renamed' | 'same';

export interface BringPlan {
  readonly outcome: BringOutcome;
  /** Id of the session here. */
  readonly id: string;
  readonly session: BroughtSession;
  /** Those that are still to be written. */
  readonly messages: readonly BroughtMessage[];
}

/** Reads only. What was forgotten here since an earlier time stays forgotten. */
export function planBringing(
  database: Database,
  session: BroughtSession,
  messages: readonly BroughtMessage[],
): BringPlan {
  const wanted = messages.map((one) => ({ at: one.at, key: keyOf(encodeMessage(one.message)) }));
  for (let n = 0; ; n += 1) {
    const id = nameOf(session.id, n);
    const row = findSession(database, id);
    if (row === undefined) return { outcome: n === 0 ? 'new' : 'renamed', id, session, messages };
    const fresh = freshOnes({ said: said(database, row.key), until: row.lastActiveAt }, wanted);
    if (fresh !== undefined) {
      const rest = messages.filter((_, index) => fresh.has(index));
      return { outcome: rest.length === 0 ? 'same' : 'continued', id, session, messages: rest };
    }
  }
}

/** The same at every import, so that a session that was renamed once is found again. */
function nameOf(id: string, collisions: number): string {
  if (collisions === 0) return id;
  return `${id}-imported${collisions === 1 ? '' : `-${collisions}`}`;
}

/** Writes what a fresh plan holds. Throws `database-locked` after the usual wait. */
export async function carryOut(database: Database, lanes: Lanes, plan: BringPlan): Promise<void> {
  if (plan.outcome === 'same') return;
  const prepared = plan.messages.map((one) => ({ ...one, row: prepare(plan.id, one) }));
  await database.transaction(() => {
    if (plan.outcome !== 'continued') insertRow(database, plan.id, plan.session);
    for (const { row, ...one } of prepared)
      settle(database, { id: appendMessage(database, lanes, row), in: plan.id }, one);
    closeBrought(database, plan);
  });
}

/** Gives an appended row the standing that it had there. */
function settle(database: Database, row: { id: number; in: string }, { state, message }: BroughtMessage): void {
  if (state !== 'live') retire(database, row.id, state);
  if (isSummary(message)) database.run('UPDATE messages SET place = seq WHERE id = ?', row.id);
  if (state === 'rewound' || isSummary(message)) uncount(database, row.in, toolCalls(message).length);
}

function prepare(sessionId: string, { at, message, state }: BroughtMessage): PreparedMessage {
  const input = { sessionId, encoded: encodeMessage(message), speaker: undefined, at };
  return state === 'rewound' ? { ...input, analysis: { terms: '', flags: 0 } } : prepareMessage(input);
}

function retire(database: Database, id: number, state: BroughtState): void {
  database.run('UPDATE messages SET active = 0, compacted = ? WHERE id = ?', state === 'compacted' ? 1 : 0, id);
}

/** What a compression put in: it stands for others, and is neither counted nor searched. */
function isSummary(message: Message): boolean {
  return message.role === 'user' && message.parts.some(({ label }) => label === 'summary');
}

function uncount(database: Database, sessionId: string, calls: number): void {
  database.run(
    'UPDATE sessions SET message_count = message_count - 1, tool_call_count = tool_call_count - ? WHERE id = ?',
    calls,
    sessionId.toWellFormed(),
  );
}

/** An append opens a session again and takes the model from its message: the end is written last. */
function closeBrought(database: Database, { id, session }: BringPlan): void {
  database.run(
    'UPDATE sessions SET ended_at = ?, last_active_at = max(last_active_at, ?) WHERE id = ?',
    session.endedAt ?? null,
    session.lastActiveAt,
    id.toWellFormed(),
  );
}

interface Said {
  readonly at: number;
  /** Role and text. */
  readonly key: string;
}

function keyOf({ role, text }: { readonly role: string; readonly text: string }): string {
  return `${role}\0${text}`;
}

/** As bytes: text that holds a NUL comes back whole. */
function said(database: Database, session: number): readonly Said[] {
  return database
    .all<{ role: string; at: number; text: Uint8Array }>(
      'SELECT role, at, CAST(text AS BLOB) AS text FROM messages WHERE session = ? ORDER BY seq',
      session,
    )
    .map(({ role, at, text }) => ({ at, key: keyOf({ role, text: Buffer.from(text).toString('utf8') }) }));
}

interface Here {
  readonly said: readonly Said[];
  /** When something was last said here, forgotten or not. Epoch ms. */
  readonly until: number;
}

/** Which of `wanted` are not here yet, by index; undefined when the two are different conversations. */
function freshOnes(here: Here, wanted: readonly Said[]): ReadonlySet<number> | undefined {
  return freshByTime(here, wanted) ?? freshByOrder(here.said, wanted);
}

/** One message that was said at the same moment proves it; then only what is later than everything here is new: the rest was forgotten. */
function freshByTime({ said, until }: Here, wanted: readonly Said[]): ReadonlySet<number> | undefined {
  const known = new Set(said.map(({ at, key }) => `${at} ${key}`));
  const last = wanted.findLastIndex(({ at, key }) => known.has(`${at} ${key}`));
  if (last < 0) return undefined;
  return new Set(wanted.flatMap(({ at }, index) => (index > last && at > until ? [index] : [])));
}

/** A session file may have no times: then the words must follow each other as they do here. */
function freshByOrder(here: readonly Said[], wanted: readonly Said[]): ReadonlySet<number> | undefined {
  let at = 0;
  let matched = 0;
  for (const [index, { key }] of wanted.entries()) {
    if (here[at]?.key !== key) continue;
    at += 1;
    matched = index + 1;
  }
  if (matched < wanted.length && at < here.length) return undefined;
  return new Set(wanted.keys().filter((index) => index >= matched));
}
