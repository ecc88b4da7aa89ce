// Owns the rows of what calls did to files: their table, what is forgotten of them. Knows no file and no copy; the room's front reads it.
// Invariant: a row is there before its call runs; `after` and `at_end` both missing is a call whose end nobody saw (a crash, a command
// in the background).

import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { RoomSchema } from '#base/database.ts';
import { TalariaError } from '#base/errors.ts';
import type { FileCall } from '#core/agent/tool.ts';

const FILE_CHANGES = `
CREATE TABLE file_changes(
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions(key) ON DELETE CASCADE,
  turn INTEGER NOT NULL,
  call_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  path TEXT NOT NULL,
  before TEXT NOT NULL,
  unkept TEXT,
  after TEXT,
  undone_at INTEGER,
  told INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX file_changes_by_session ON file_changes(session, id);
`;

const AT_END = 'ALTER TABLE file_changes ADD COLUMN at_end TEXT';

export const checkpointSchema: RoomSchema = { room: 'checkpoints', steps: [FILE_CHANGES, AT_END] };

export interface FileChangeRow {
  readonly id: number;
  readonly turn: number;
  readonly at: number;
  readonly path: string;
  /** State before the call, as `FileState` says it; `tree` and a hash: the states of all that was in this folder, while a command runs. */
  readonly before: string;
  readonly unkept: string | null;
  /** What the call itself left, where it named the file. */
  readonly after: string | null;
  /** What stood there when a command had ended that did not name it, or at the end of the turn: whoever wrote it. */
  readonly at_end: string | null;
}

/** False where the database says no: what fails else is a bug. */
export async function isDone(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof TalariaError)) throw error;
    return false;
  }
}

/** Of the session that a query names. */
export const OF_SESSION = 'session = (SELECT key FROM sessions WHERE id = ?)';

/** Inside a transaction. Gives the row's id. */
export function insertChange(
  { database, clock }: Pick<CheckpointPlace, 'database' | 'clock'>,
  { sessionId, turn, callId }: FileCall,
  change: Pick<FileChangeRow, 'path' | 'before'> & Partial<Pick<FileChangeRow, 'unkept' | 'at_end'>>,
): number {
  return database.run(
    `INSERT INTO file_changes(session, turn, call_id, at, path, before, unkept, at_end)
     VALUES((SELECT key FROM sessions WHERE id = ?), ?, ?, ?, ?, ?, ?, ?)`,
    ...[sessionId, turn, callId, clock.now(), change.path.toWellFormed(), change.before],
    ...[change.unkept ?? null, change.at_end ?? null],
  ).id;
}

export interface CheckpointPlace {
  readonly database: Database;
  /** Folder of the copies, one folder a session. */
  readonly folder: string;
  readonly clock: Clock;
  /** The person's own folder: a session there is not kept as a whole. */
  readonly userHome?: string;
}

export interface FileCopy {
  readonly session: string;
  readonly key: string;
}

/** Inside a transaction. A session that goes as a whole takes its rows along. Gives the copies that no row names any more: they are files. */
export function forgetFileChanges(
  database: Database,
  { before, holds }: { readonly before?: number; readonly holds?: (text: string) => boolean },
): readonly FileCopy[] {
  const named = new Map(namedCopies(database).map((copy) => [`${copy.session} ${copy.key}`, copy]));
  if (before !== undefined) database.run('DELETE FROM file_changes WHERE at < ?', before);
  const rows = holds ? database.all<{ path: string }>('SELECT DISTINCT path FROM file_changes') : [];
  for (const { path } of rows) if (holds?.(path)) database.run('DELETE FROM file_changes WHERE path = ?', path);
  const hashOf = ({ session, key }: FileCopy) => `${session} ${key.split(' ')[1]}`;
  const still = new Set(namedCopies(database).map(hashOf));
  return [...named.values()].filter((copy) => !still.has(hashOf(copy)));
}

function namedCopies(database: Database): readonly FileCopy[] {
  const of = (column: string) =>
    `SELECT sessions.id AS session, ${column} AS key FROM file_changes JOIN sessions ON sessions.key = file_changes.session`;
  return database.all<FileCopy>(`${of('before')} UNION ${of('at_end')} WHERE at_end IS NOT NULL`);
}
