// Owns the event ledger, evidence.sqlite: opened, fed by hooks, pruned (curator notes 2 and 3). Knows no report and no skill file.
// Invariants: a turn's events are one commit, handed in when the turn ends; what is stored is redacted; a ledger that cannot be written
// (a newer file) costs no turn.
import { existsSync } from 'node:fs';
import { type Clock, systemClock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { suspectMark } from '#base/database/damage.ts';
import { type DatabaseNotice, type OpenedDatabase, openDatabase, type RoomSchema } from '#base/database.ts';
import { errorCode } from '#base/errors.ts';
import { redactSecrets } from '#base/secrets.ts';
import type { Hooks, SessionInfo, TurnInfo } from '#core/agent/hooks.ts';
import type { TurnOutcome } from '#core/agent/turn-event.ts';
import {
  isText,
  type Message,
  messageText,
  startsTurn,
  type ToolCallPart,
  type ToolResultPart,
} from '#core/model/message.ts';
import type { Redact } from '../redact-json.ts';
import {
  eventTime,
  insertSessionEvent,
  insertToolEvent,
  insertTurnEvent,
  previewOf,
  sessionEventKey,
  type ToolEvent,
  turnEventKey,
} from './event-rows.ts';
import { TurnCalls } from './turn-calls.ts';

export interface EvidenceLedgerOptions {
  readonly path: string;
  readonly clock?: Clock;
  /** Default: key-shaped strings. */
  readonly redact?: Redact;
  /** Told what the opening found: a damaged file was put aside, a newer one is only read. */
  readonly notice?: (notice: DatabaseNotice) => void;
}

export interface EvidenceLedger {
  readonly hooks: Hooks;
  /** For the rooms that read the events; opens the file. */
  readonly database: Database;
  /** Deletes events older than this (epoch ms); gives their number. */
  prune(before: number): Promise<number>;
  /** Writes what no turn's end has written yet, then closes. */
  close(): Promise<void>;
}

/** In a home that can only be read, what is there is read. */
function openLedger(path: string, clock: Clock): OpenedDatabase {
  const rooms = [ledgerSchema];
  try {
    return openDatabase(path, { rooms, onNewer: 'read-only', clock });
  } catch (error) {
    if (!['database-read-only', 'database-unopenable'].includes(errorCode(error) ?? '') || !existsSync(path))
      throw error;
    return openDatabase(path, { rooms, readOnly: true, clock });
  }
}

/** The file is opened with the first commit; where that fails, the hook fails and its turn does not. */
export function createEvidenceLedger(options: EvidenceLedgerOptions): EvidenceLedger {
  const clock = options.clock ?? systemClock;
  let opened: Database | undefined;
  const open = (): Database => {
    if (opened && !isSuspect(opened)) return opened;
    opened?.abandon();
    opened = undefined;
    const { database, notices } = openLedger(options.path, clock);
    opened = database;
    for (const notice of notices) options.notice?.(notice);
    return database;
  };
  const recorder = new Recorder(open, clock, options.redact ?? redactSecrets);
  return {
    hooks: {
      name: 'evidence-ledger',
      afterTool: async (turn, call, result) => recorder.tool(turn, call, result),
      afterTurn: (turn, ended) => recorder.turn(turn, ended),
      sessionEnd: (session) => recorder.sessionEnd(session),
    },
    get database() {
      return open();
    },
    prune: async (before) => prune(open(), before),
    close: async () => {
      await recorder.flush();
      opened?.close();
    },
  };
}

/** Damage was met in it: the next opening looks at all of it, and puts it aside when it is really broken. */
function isSuspect(database: Database): boolean {
  return !database.readOnly && existsSync(suspectMark(database.path));
}

interface Ended {
  readonly outcome: TurnOutcome;
  readonly messages: readonly Message[];
}

class Recorder {
  readonly #open: () => Database;
  readonly #clock: Clock;
  readonly #redact: Redact;
  #waiting: ToolEvent[] = [];
  /** Of each session's turn that runs. */
  readonly #calls = new Map<string, TurnCalls>();
  readonly #last = new Map<string, { readonly outcome: TurnOutcome; readonly model: string }>();

  constructor(open: () => Database, clock: Clock, redact: Redact) {
    this.#open = open;
    this.#clock = clock;
    this.#redact = redact;
  }

  tool(turn: TurnInfo, call: ToolCallPart, result: ToolResultPart): void {
    const calls = this.#callsOf(turn);
    this.#waiting.push(calls.event(call, { result, at: this.#clock.now() }, calls.place(call)));
    calls.ended(call, result);
  }

  #callsOf(turn: TurnInfo): TurnCalls {
    const known = this.#calls.get(turn.sessionId);
    if (known?.turn === turn.turn) return known;
    const calls = new TurnCalls(turn, { redact: this.#redact });
    this.#calls.set(turn.sessionId, calls);
    return calls;
  }

  async turn({ sessionId, turn, source }: TurnInfo, { outcome, messages }: Ended): Promise<void> {
    const from = messages.findLastIndex(startsTurn);
    const said = messages.slice(Math.max(0, from));
    const answer = said.findLast((message) => message.role === 'assistant' && messageText(message) !== '');
    const model = modelOf(said);
    this.#calls.delete(sessionId);
    this.#last.set(sessionId, { outcome, model });
    await this.#commit(sessionId, (database) =>
      insertTurnEvent(database, {
        key: turnEventKey(sessionId, turn),
        at: this.#clock.now(),
        sessionId,
        model,
        platform: source,
        userPreview: previewOf(from < 0 ? '' : typedText(said[0]), this.#redact),
        assistantPreview: previewOf(answer === undefined ? '' : messageText(answer), this.#redact),
      }),
    );
  }

  async sessionEnd({ sessionId, source }: SessionInfo): Promise<void> {
    const last = this.#last.get(sessionId);
    const outcome = last?.outcome ?? 'done';
    this.#last.delete(sessionId);
    await this.#commit(sessionId, (database) =>
      insertSessionEvent(database, {
        key: sessionEventKey(sessionId),
        at: this.#clock.now(),
        sessionId,
        completed: outcome === 'done' || outcome === 'stopped',
        interrupted: outcome === 'aborted',
        model: last?.model ?? '',
        platform: source,
      }),
    );
  }

  async flush(): Promise<void> {
    const sessions = new Set(this.#waiting.map(({ sessionId }) => sessionId));
    for (const sessionId of sessions) await this.#commit(sessionId, () => undefined);
  }

  /** The session's waiting tool events and `also`, in one light commit: the file can be filled again after a power cut. */
  async #commit(sessionId: string, also: (database: Database) => void): Promise<void> {
    const events = this.#waiting.filter((event) => event.sessionId === sessionId);
    this.#waiting = this.#waiting.filter((event) => event.sessionId !== sessionId);
    const database = this.#open();
    if (database.readOnly) return;
    await database.lightTransaction(() => {
      for (const event of events) insertToolEvent(database, event);
      also(database);
    });
  }
}

/** What a person typed of it, without what was put beside. */
export function typedText(message: Message | undefined): string {
  if (message?.role !== 'user') return '';
  return message.parts
    .filter(isText)
    .flatMap(({ label, text }) => (label === undefined ? [text] : []))
    .join('\n');
}

function modelOf(messages: readonly Message[]): string {
  const answer = messages.findLast((message) => message.role === 'assistant');
  return answer?.role === 'assistant' ? answer.model : '';
}

const TABLES = ['tool_events', 'turn_events', 'session_events'] as const;

function prune(database: Database, before: number): Promise<number> {
  const time = eventTime(before);
  return database.transaction(() =>
    TABLES.reduce((sum, table) => sum + database.run(`DELETE FROM ${table} WHERE created_at < ?`, time).changes, 0),
  );
}

// The three tables of evidence.sqlite (curator notes 2) and their history of versions. Knows no query. Everything here is derived or
// bulky: the file may be quarantined, pruned, dropped and filled again. Beside the notes' columns: a unique key of the event, so that a
// live row and one filled in later never count twice; the original's error verdict; the skill that was active.

const EVENTS = `
CREATE TABLE tool_events(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  created_at TEXT NOT NULL,
  session_id TEXT NOT NULL,
  task_id TEXT NOT NULL,
  tool_name TEXT NOT NULL,
  duration_ms INTEGER,
  is_error INTEGER NOT NULL,
  skill_name TEXT,
  args_json TEXT NOT NULL,
  result_preview TEXT NOT NULL,
  event_key TEXT NOT NULL UNIQUE,
  is_error_upstream INTEGER NOT NULL,
  active_skill TEXT
);
CREATE INDEX idx_tool_events_created ON tool_events(created_at);
CREATE INDEX idx_tool_events_skill ON tool_events(skill_name);
CREATE INDEX idx_tool_events_active ON tool_events(active_skill);
CREATE INDEX idx_tool_events_backfill_key ON tool_events(session_id, task_id, tool_name);

CREATE TABLE turn_events(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  created_at TEXT NOT NULL,
  session_id TEXT NOT NULL,
  model TEXT NOT NULL,
  platform TEXT NOT NULL,
  user_preview TEXT NOT NULL,
  assistant_preview TEXT NOT NULL,
  event_key TEXT NOT NULL UNIQUE
);
CREATE INDEX idx_turn_events_created ON turn_events(created_at);
CREATE INDEX idx_turn_events_session ON turn_events(session_id);

CREATE TABLE session_events(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  created_at TEXT NOT NULL,
  session_id TEXT NOT NULL,
  completed INTEGER NOT NULL,
  interrupted INTEGER NOT NULL,
  model TEXT NOT NULL,
  platform TEXT NOT NULL,
  event_key TEXT NOT NULL UNIQUE
);
CREATE INDEX idx_session_events_created ON session_events(created_at);
CREATE INDEX idx_session_events_session ON session_events(session_id);
`;

/** Counts by skill and tool are answered from it alone: a report reads no arguments and no preview of what it does not show. */
const TALLIES = `
CREATE INDEX idx_tool_events_tally ON tool_events(coalesce(skill_name, active_skill), tool_name, is_error, created_at);
`;

/** Every question about a skill asks for the one that was named, else the active one: the tallies answer it. */
const NO_ACTIVE = 'DROP INDEX idx_tool_events_active;';

export const ledgerSchema: RoomSchema = { room: 'ledger', steps: [EVENTS, TALLIES, NO_ACTIVE] };
