// Owns writing events into their rows. Knows no hook. Invariants: inside the caller's transaction; an event whose key stands already is
// not counted again; every text is redacted before it is cut, so that no half of a secret stays.
import { isoTime } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { JsonObject } from '#base/json.ts';
import { type Redact, redactObject } from '../redact-json.ts';
import { compactArguments, compactPreview } from './compact-value.ts';

export interface ToolEvent {
  readonly key: string;
  /** Epoch ms. */
  readonly at: number;
  readonly sessionId: string;
  readonly taskId: string;
  readonly tool: string;
  readonly ms: number | null;
  readonly isError: boolean;
  readonly isErrorUpstream: boolean;
  readonly skill: string | null;
  readonly activeSkill: string | null;
  readonly argsJson: string;
  readonly resultPreview: string;
}

export interface TurnEvent {
  readonly key: string;
  readonly at: number;
  readonly sessionId: string;
  readonly model: string;
  readonly platform: string;
  readonly userPreview: string;
  readonly assistantPreview: string;
}

export interface SessionEvent {
  readonly key: string;
  readonly at: number;
  readonly sessionId: string;
  readonly completed: boolean;
  readonly interrupted: boolean;
  readonly model: string;
  readonly platform: string;
}

/** UTC, whole seconds, `+00:00`: the form that windows are compared in. */
export function eventTime(epochMs: number): string {
  return `${isoTime(epochMs).slice(0, 19)}+00:00`;
}

/** More of a text than any preview keeps, so that cutting it first costs nothing. */
const ENOUGH = 40_000;

export function previewOf(text: string, redact: Redact): string {
  return compactPreview(redact(text.slice(0, ENOUGH)));
}

export function argumentsOf(given: JsonObject, redact: Redact): string {
  return compactArguments(redactObject(given, redact));
}

/** False: it stands already. */
export function insertToolEvent(database: Database, event: ToolEvent): boolean {
  const { changes } = database.run(
    `INSERT OR IGNORE INTO tool_events(created_at, session_id, task_id, tool_name, duration_ms, is_error, skill_name, args_json,
       result_preview, event_key, is_error_upstream, active_skill) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[eventTime(event.at), event.sessionId.toWellFormed(), event.taskId.toWellFormed()],
    ...[event.tool.toWellFormed(), event.ms, Number(event.isError), event.skill?.toWellFormed() ?? null],
    ...[event.argsJson.toWellFormed(), event.resultPreview.toWellFormed(), event.key.toWellFormed()],
    ...[Number(event.isErrorUpstream), event.activeSkill?.toWellFormed() ?? null],
  );
  return changes > 0;
}

/** False: it stands already. */
export function insertTurnEvent(database: Database, event: TurnEvent): boolean {
  const { changes } = database.run(
    `INSERT OR IGNORE INTO turn_events(created_at, session_id, model, platform, user_preview, assistant_preview, event_key)
     VALUES(?, ?, ?, ?, ?, ?, ?)`,
    ...[eventTime(event.at), event.sessionId.toWellFormed(), event.model.toWellFormed()],
    ...[event.platform.toWellFormed(), event.userPreview.toWellFormed(), event.assistantPreview.toWellFormed()],
    ...[event.key.toWellFormed()],
  );
  return changes > 0;
}

/** A session that was resumed ends again: its last end counts. */
export function insertSessionEvent(database: Database, event: SessionEvent): void {
  database.run(
    `INSERT INTO session_events(created_at, session_id, completed, interrupted, model, platform, event_key)
     VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT(event_key) DO UPDATE SET created_at = excluded.created_at,
       completed = excluded.completed, interrupted = excluded.interrupted, model = excluded.model`,
    ...[eventTime(event.at), event.sessionId.toWellFormed(), Number(event.completed)],
    ...[Number(event.interrupted), event.model.toWellFormed(), event.platform.toWellFormed()],
    ...[event.key.toWellFormed()],
  );
}

/** `occurrence`: how many calls of the turn had this id before; some providers count anew in each step. */
export function toolEventKey(call: {
  readonly sessionId: string;
  readonly turn: number;
  readonly callId: string;
  readonly occurrence: number;
}): string {
  return JSON.stringify(['tool', call.sessionId, call.turn, call.callId, call.occurrence]);
}

export function turnEventKey(sessionId: string, turn: number): string {
  return JSON.stringify(['turn', sessionId, turn]);
}

export function sessionEventKey(sessionId: string): string {
  return JSON.stringify(['session', sessionId]);
}
