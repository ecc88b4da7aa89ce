// Owns carrying the sessions of any sources into the ledger, newest first, beside what stands there (curator notes 4).
import { throwIfAborted } from '#base/abort.ts';
import { systemClock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { errorCode, errorText } from '#base/errors.ts';
import { plural } from '#base/text.ts';
import { insertSessionEvent, insertToolEvent, insertTurnEvent } from '#mind/evidence/ledger/event-rows.ts';
import type { Redact } from '#mind/evidence/redact-json.ts';
import { type SessionEvents, sessionEvents } from './session-events.ts';
import type { Candidate, SessionSource } from './session-sources.ts';

interface FillPlace {
  /** Asked anew for each session: a damaged file may have been replaced. */
  readonly ledger: () => Database;
  readonly redact: Redact;
  readonly now: number;
  /** Sessions whose last activity is before it (epoch ms) are passed over. */
  readonly since: number;
  readonly limit?: number | undefined;
}

/** `sessions_imported`: with something new in them; `files_failed`: sessions that could not be read. */
const NOTHING = {
  sessions_seen: 0,
  sessions_imported: 0,
  sessions_skipped_old: 0,
  files_failed: 0,
  tool_events_imported: 0,
  turn_events_imported: 0,
  session_events_imported: 0,
};

export type SessionCounts = Readonly<typeof NOTHING>;

export function addedLine(counts: SessionCounts): string {
  const { tool_events_imported: tools, turn_events_imported: turns, session_events_imported: ends } = counts;
  return `${plural(tools, 'tool call')}, ${plural(turns, 'turn')}, ${plural(ends, 'session end')}`;
}

const MOST_PROBLEMS = 5;
const BUSY_MS = 50;

/** `total` counts a session that several sources hold once, `sources` in each. `problems`: how many could not be read, the first few by name. */
export async function fillEvidence(sources: readonly SessionSource[], place: FillPlace, signal: AbortSignal) {
  const { limit = Number.POSITIVE_INFINITY } = place;
  const total = { ...NOTHING };
  const reports = sources.map(({ kind, path, old }) => {
    add(total, { sessions_seen: old, sessions_skipped_old: old });
    return { source: kind, path, ...NOTHING, sessions_seen: old, sessions_skipped_old: old };
  });
  const problems: string[] = [];
  let inWindow = 0;
  let rested = systemClock.monotonic();
  for (const held of newestFirst(sources)) {
    throwIfAborted(signal);
    if (inWindow >= limit) break;
    const { isInWindow, counts, details } = await takeSession(held, reports, place);
    add(total, counts);
    problems.push(...details.slice(0, MOST_PROBLEMS - problems.length));
    if (isInWindow) inWindow += 1;
    if (systemClock.monotonic() - rested < BUSY_MS) continue;
    await systemClock.sleep(0); // the process's other work, and whoever wants to stop this, gets a turn
    rested = systemClock.monotonic();
  }
  const failed = total.files_failed;
  const head = failed > 0 ? [`${plural(failed, 'session')} could not be read:`] : [];
  const rest = failed > MOST_PROBLEMS ? [`and ${failed - MOST_PROBLEMS} more`] : [];
  return { total, sources: reports, problems: [...head, ...problems, ...rest] };
}

type Tally = { -readonly [Name in keyof SessionCounts]: number };

function add(to: Tally, more: Partial<SessionCounts>): void {
  for (const name of Object.keys(NOTHING) as (keyof SessionCounts)[]) to[name] += more[name] ?? 0;
}

type Held = readonly { readonly at: number; readonly candidate: Candidate }[];

/** Each session once, in every source that has it (`at`: number of the source). */
function newestFirst(sources: readonly SessionSource[]): readonly Held[] {
  const all = sources.flatMap(({ candidates }, at) => candidates.map((candidate) => ({ at, candidate })));
  const newest = (held: Held) => Math.max(...held.map(({ candidate }) => candidate.at));
  return [...Map.groupBy(all, ({ candidate }) => candidate.id)]
    .map(([id, held]) => ({ id, held, at: newest(held) }))
    .sort((a, b) => b.at - a.at || (a.id < b.id ? -1 : 1))
    .map(({ held }) => held);
}

/** Counts it in the report of each source; `counts`: of the session as a whole. */
async function takeSession(held: Held, reports: readonly Tally[], place: FillPlace) {
  const counts: Tally = { ...NOTHING, sessions_seen: 1 };
  const outcomes = new Set<string>();
  const details: string[] = [];
  for (const { at, candidate } of held) {
    const { outcome, counts: taken, problem } = await take(candidate, place);
    outcomes.add(outcome);
    const report = reports[at];
    if (report) add(report, { ...taken, sessions_seen: 1 });
    add(counts, taken);
    if (problem !== undefined) details.push(problem);
  }
  const isInWindow = outcomes.has('imported') || outcomes.has('same');
  counts.sessions_imported = Number(outcomes.has('imported'));
  counts.sessions_skipped_old = Number(!isInWindow && outcomes.has('old'));
  return { isInWindow, counts, details };
}

interface Taken {
  readonly outcome: 'imported' | 'same' | 'old' | 'failed';
  readonly counts: Partial<SessionCounts>;
  readonly problem?: string;
}

async function take(candidate: Candidate, { ledger, since, now, redact }: FillPlace): Promise<Taken> {
  const failed = (detail: string): Taken => ({
    outcome: 'failed',
    counts: { files_failed: 1 },
    problem: `not read: ${candidate.path ?? candidate.id}: ${detail}`,
  });
  let events: SessionEvents;
  let standing: StandingEvents;
  try {
    const session = candidate.read();
    if (!session.ok) return failed(session.detail);
    if (session.value.lastActiveAt < since) return { outcome: 'old', counts: { sessions_skipped_old: 1 } };
    standing = standingEvents(ledger(), session.value.id);
    events = sessionEvents(session.value, { standing: standing.keys, now, redact });
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return failed(errorText(error));
  }
  const counts = await writeEvents(ledger(), events, standing);
  return counts === undefined ? { outcome: 'same', counts: {} } : { outcome: 'imported', counts };
}

const UNREADABLE = new Set(['database-corrupt', 'database-failed', 'database-io', 'no-such-session']);

/** A damaged row, or data of a shape that nothing wrote on purpose (nested a hundred thousand times, numbers for names). */
function isUnreadable(error: unknown): boolean {
  return error instanceof RangeError || error instanceof TypeError || UNREADABLE.has(errorCode(error) ?? '');
}

type StandingEvents = ReturnType<typeof standingEvents>;

/** What tells an event apart without the number of its turn. */
const nameOfTool = (taskId: string, tool: string) =>
  JSON.stringify([taskId.toWellFormed().replace(/^turn:\d+:/, ''), tool.toWellFormed()]);
const nameOfTurn = (user: string, assistant: string) => JSON.stringify([user.toWellFormed(), assistant.toWellFormed()]);

/** What the ledger holds of one session. */
function standingEvents(database: Database, sessionId: string) {
  const tools = database
    .all<{ event_key: string; task_id: string; tool_name: string }>(
      'SELECT event_key, task_id, tool_name FROM tool_events WHERE session_id = ?',
      sessionId,
    )
    .map((row) => ({ key: row.event_key, name: nameOfTool(row.task_id, row.tool_name) }));
  const turns = database
    .all<{ event_key: string; user_preview: string; assistant_preview: string }>(
      'SELECT event_key, user_preview, assistant_preview FROM turn_events WHERE session_id = ?',
      sessionId,
    )
    .map((row) => ({ key: row.event_key, name: nameOfTurn(row.user_preview, row.assistant_preview) }));
  const ended = database.get('SELECT 1 FROM session_events WHERE session_id = ?', sessionId) !== undefined;
  return { keys: new Set([...tools, ...turns].map(({ key }) => key)), tools, turns, ended };
}

/** Writes what is new of them. Nothing new: no transaction, and undefined. */
async function writeEvents(
  database: Database,
  events: SessionEvents,
  standing: StandingEvents,
): Promise<Partial<SessionCounts> | undefined> {
  const { keys } = events;
  const tools = withoutMoved(events.tools, standing.tools, keys, ({ taskId, tool }) => nameOfTool(taskId, tool));
  const turns = withoutMoved(events.turns, standing.turns, keys, (turn) =>
    nameOfTurn(turn.userPreview, turn.assistantPreview),
  );
  const end = standing.ended ? undefined : events.end;
  if (tools.length + turns.length === 0 && end === undefined) return undefined;
  const counts = await database.lightTransaction(() => {
    if (end !== undefined) insertSessionEvent(database, end);
    return {
      tool_events_imported: tools.filter((event) => insertToolEvent(database, event)).length,
      turn_events_imported: turns.filter((event) => insertTurnEvent(database, event)).length,
      session_events_imported: end === undefined ? 0 : 1,
    };
  });
  const isNew = Object.values(counts).some((count) => count > 0);
  return isNew ? { ...counts, sessions_imported: 1 } : undefined;
}

/** But for those that stand under a key which the session does not give any more, counted by name. */
function withoutMoved<T>(
  events: readonly T[],
  standing: StandingEvents['tools'],
  keys: ReadonlySet<string>,
  nameOf: (event: T) => string,
): readonly T[] {
  const moved = new Map<string, number>();
  for (const { key, name } of standing) if (!keys.has(key)) moved.set(name, (moved.get(name) ?? 0) + 1);
  if (moved.size === 0) return events;
  return events.filter((event) => {
    const name = nameOf(event);
    const left = moved.get(name) ?? 0;
    if (left > 0) moved.set(name, left - 1);
    return left === 0;
  });
}
