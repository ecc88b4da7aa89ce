// Owns putting a session's events beside those that stand in the ledger. Knows no source.
// Invariants: one transaction a session; an event counts once, also when messages before it were forgotten, taken back or compressed away
// since, so that it now stands under another number of its turn.
import type { Database } from '#base/database/connection.ts';
import {
  insertSessionEvent,
  insertToolEvent,
  insertTurnEvent,
  type ToolEvent,
  type TurnEvent,
} from '#mind/evidence/ledger/event-rows.ts';
import type { SessionEvents } from './session-events.ts';

/** What the ledger holds of one session. */
export interface StandingEvents {
  readonly keys: ReadonlySet<string>;
  readonly tools: readonly Named[];
  readonly turns: readonly Named[];
  readonly ended: boolean;
}

interface Named {
  readonly key: string;
  /** What tells the event apart without the number of its turn. */
  readonly name: string;
}

export interface WrittenEvents {
  readonly tools: number;
  readonly turns: number;
  readonly ends: number;
}

interface ToolRow {
  readonly event_key: string;
  readonly task_id: string;
  readonly tool_name: string;
}

interface TurnRow {
  readonly event_key: string;
  readonly user_preview: string;
  readonly assistant_preview: string;
}

export function standingEvents(database: Database, sessionId: string): StandingEvents {
  const tools = database
    .all<ToolRow>('SELECT event_key, task_id, tool_name FROM tool_events WHERE session_id = ?', sessionId)
    .map((row) => ({ key: row.event_key, name: toolName(row.task_id, row.tool_name) }));
  const turns = database
    .all<TurnRow>('SELECT event_key, user_preview, assistant_preview FROM turn_events WHERE session_id = ?', sessionId)
    .map((row) => ({ key: row.event_key, name: turnName(row.user_preview, row.assistant_preview) }));
  const ended = database.get('SELECT 1 FROM session_events WHERE session_id = ?', sessionId) !== undefined;
  return { keys: new Set([...tools, ...turns].map(({ key }) => key)), tools, turns, ended };
}

/** Writes what is new of them. Nothing new: no transaction. */
export async function writeEvents(
  database: Database,
  events: SessionEvents,
  standing: StandingEvents,
): Promise<WrittenEvents> {
  const tools = withoutMoved(events.tools, moved(standing.tools, events.keys), nameOfTool);
  const turns = withoutMoved(events.turns, moved(standing.turns, events.keys), nameOfTurn);
  const end = standing.ended ? undefined : events.end;
  if (tools.length + turns.length === 0 && end === undefined) return { tools: 0, turns: 0, ends: 0 };
  return database.lightTransaction(() => {
    if (end !== undefined) insertSessionEvent(database, end);
    return {
      tools: tools.filter((event) => insertToolEvent(database, event)).length,
      turns: turns.filter((event) => insertTurnEvent(database, event)).length,
      ends: end === undefined ? 0 : 1,
    };
  });
}

/** Those that stand under a key which the session does not give any more, counted by name. */
function moved(standing: readonly Named[], keys: ReadonlySet<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { key, name } of standing) {
    if (!keys.has(key)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

function withoutMoved<T>(events: readonly T[], counts: Map<string, number>, nameOf: (event: T) => string): T[] {
  if (counts.size === 0) return [...events];
  return events.filter((event) => {
    const name = nameOf(event);
    const left = counts.get(name) ?? 0;
    if (left > 0) counts.set(name, left - 1);
    return left === 0;
  });
}

function nameOfTool({ taskId, tool }: ToolEvent): string {
  return toolName(taskId.toWellFormed(), tool.toWellFormed());
}

function nameOfTurn({ userPreview, assistantPreview }: TurnEvent): string {
  return turnName(userPreview.toWellFormed(), assistantPreview.toWellFormed());
}

function toolName(taskId: string, tool: string): string {
  return JSON.stringify([taskId.replace(/^turn:\d+:/, ''), tool]);
}

function turnName(user: string, assistant: string): string {
  return JSON.stringify([user, assistant]);
}
