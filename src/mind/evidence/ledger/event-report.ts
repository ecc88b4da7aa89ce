// Owns reading the ledger for a report (curator notes 5): counts of a window and its newest rows. Knows no report and no clock.
// Invariants: a window begins at a time and never ends, so that rows of a clock that went back are in it; what comes back is bounded by a
// limit however large the file is; rows of one second come newest id first.
import type { Database, SqlValue } from '#base/database/connection.ts';
import type { CompatOptions } from './compact-value.ts';

export interface EventWindow {
  /** In the form of `eventTime`, compared as text. */
  readonly since: string;
  /** One skill, or null for all. */
  readonly skill: string | null;
}

export interface EventCounts {
  readonly events: number;
  readonly errors: number;
}

export interface EventTally extends EventCounts {
  readonly name: string;
}

export interface ToolEventRow {
  /** Of two rows the larger was written later. */
  readonly id: number;
  readonly created_at: string;
  readonly session_id: string;
  readonly task_id: string;
  readonly tool_name: string;
  readonly duration_ms: number | null;
  readonly is_error: number;
  readonly skill_name: string | null;
  readonly args_json: string;
  readonly result_preview: string;
}

export interface TurnEventRow {
  readonly created_at: string;
  readonly session_id: string;
  readonly model: string;
  readonly platform: string;
  readonly user_preview: string;
  readonly assistant_preview: string;
}

/** Calls that went well, for each that failed, that are looked at for the one that worked afterwards. */
const FINE_PER_FAILED = 10;

interface Asked {
  /** Ours: the skill that was named, else the active one, and our verdict. The original's: named alone, its verdict. */
  readonly skill: string;
  readonly error: string;
  readonly where: string;
  readonly values: readonly SqlValue[];
  /** Columns of a `ToolEventRow`. */
  readonly columns: string;
}

function askedOf({ since, skill: wanted }: EventWindow, { compat }: CompatOptions, how?: 'by-time'): Asked {
  const isUpstream = compat === 'upstream';
  const skill = isUpstream ? 'skill_name' : 'coalesce(skill_name, active_skill)';
  const error = isUpstream ? 'is_error_upstream' : 'is_error';
  // The plus keeps the planner off the index by time: counting reads the index of tallies alone, never the wide rows.
  const time = isUpstream || how === 'by-time' ? 'created_at' : '+created_at';
  const columns = `id, created_at, session_id, task_id, tool_name, duration_ms, ${error} AS is_error, ${skill} AS skill_name,
    args_json, result_preview`;
  const where = wanted === null ? `${time} >= ?` : `${time} >= ? AND ${skill} = ?`;
  return { skill, error, where, values: wanted === null ? [since] : [since, wanted], columns };
}

/** All tool calls of the window, and those that belong to a skill. */
export function countToolEvents(
  database: Database,
  window: EventWindow,
  options: CompatOptions = {},
): EventCounts & { readonly ofSkills: number } {
  const { skill, error, where, values } = askedOf(window, options);
  const row = database.get<EventCounts & { readonly ofSkills: number }>(
    `SELECT count(*) AS events, coalesce(sum(${error}), 0) AS errors, count(${skill}) AS ofSkills FROM tool_events WHERE ${where}`,
    ...values,
  );
  return { events: 0, errors: 0, ofSkills: 0, ...row };
}

/** By events, then by name; at most `top`. */
export function tallySkills(
  database: Database,
  window: EventWindow,
  { top, ...options }: CompatOptions & { readonly top: number },
): readonly EventTally[] {
  const { skill, error, where, values } = askedOf(window, options);
  return database.all<EventTally>(
    `SELECT ${skill} AS name, count(*) AS events, sum(${error}) AS errors FROM tool_events
     WHERE ${where} AND ${skill} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?`,
    ...[...values, top],
  );
}

/** As `tallySkills`, by tool. Counted by skill and tool first: that order stands in an index, so nothing large is sorted. */
export function tallyTools(
  database: Database,
  window: EventWindow,
  { top, ...options }: CompatOptions & { readonly top: number },
): readonly EventTally[] {
  const { skill, error, where, values } = askedOf(window, options);
  return database.all<EventTally>(
    `SELECT tool AS name, sum(n) AS events, sum(failed) AS errors FROM (
       SELECT ${skill} AS skill, tool_name AS tool, count(*) AS n, sum(${error}) AS failed FROM tool_events
       WHERE ${where} GROUP BY 1, 2
     ) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?`,
    ...[...values, top],
  );
}

/** Newest first. The rows are chosen by what indexes hold, and only the chosen ones are read whole. */
export function newestToolEvents(
  database: Database,
  window: EventWindow,
  { limit, ...options }: CompatOptions & { readonly limit: number },
): readonly ToolEventRow[] {
  const { columns, where, values } = askedOf(window, options, 'by-time');
  return database.all<ToolEventRow>(
    `SELECT ${columns} FROM tool_events
     WHERE id IN (SELECT id FROM tool_events WHERE ${where} ORDER BY created_at DESC, id DESC LIMIT ?)
     ORDER BY created_at DESC, id DESC`,
    ...[...values, limit],
  );
}

/** The newest calls of the window that failed, and those of the same sessions and tools that went well after the first of them. */
export function failedToolEvents(
  database: Database,
  window: EventWindow,
  { limit, ...options }: CompatOptions & { readonly limit: number },
): readonly ToolEventRow[] {
  const { columns, error, where, values } = askedOf(window, options, 'by-time');
  const failed = database.all<ToolEventRow>(
    `SELECT ${columns} FROM tool_events WHERE ${where} AND ${error} = 1 ORDER BY created_at DESC, id DESC LIMIT ?`,
    ...[...values, limit],
  );
  const named = (key: 'session_id' | 'tool_name') => JSON.stringify([...new Set(failed.map((row) => row[key]))]);
  const first = Math.min(...failed.map(({ id }) => id), Number.MAX_SAFE_INTEGER);
  const fine = database.all<ToolEventRow>(
    `SELECT ${columns} FROM tool_events WHERE session_id IN (SELECT value FROM json_each(?))
       AND tool_name IN (SELECT value FROM json_each(?)) AND ${error} = 0 AND id > ? ORDER BY id LIMIT ?`,
    ...[named('session_id'), named('tool_name'), first, FINE_PER_FAILED * limit],
  );
  return [...failed, ...fine];
}

/** Newest first, of every skill. */
export function newestTurnEvents(database: Database, since: string, limit: number): readonly TurnEventRow[] {
  return database.all<TurnEventRow>(
    `SELECT created_at, session_id, model, platform, user_preview, assistant_preview FROM turn_events
     WHERE created_at >= ? ORDER BY created_at DESC, id DESC LIMIT ?`,
    since,
    limit,
  );
}

export function countEventsSince(database: Database, table: 'turn_events' | 'session_events', since: string): number {
  return database.get<{ n: number }>(`SELECT count(*) AS n FROM ${table} WHERE created_at >= ?`, since)?.n ?? 0;
}
