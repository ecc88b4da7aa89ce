// Owns opening a database file: private permissions, each room's schema, what happens with damaged and with newer files.
// Knows no table of any room. Invariant: nothing is ever silently empty: a damaged file is kept aside and a notice says so.
import { chmodSync, closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolders } from './atomic-write.ts';
import { type Clock, systemClock } from './clock.ts';
import { Database, suspectMark } from './database/connection.ts';
import { migrate, openVersions, type RoomSchema } from './database/migrate.ts';
import { quarantine } from './database/quarantine.ts';
import { sqliteError } from './database/sqlite-error.ts';
import { errorCode, TalariaError } from './errors.ts';

export interface OpenDatabaseOptions {
  /** Schemas of the rooms that keep tables here; they are created or migrated before the call returns. */
  readonly rooms: readonly RoomSchema[];
  readonly readOnly?: boolean;
  /** A file of a newer version: `refuse` (default) throws `newer-schema`, `read-only` opens it for reading with a notice. */
  readonly onNewer?: 'refuse' | 'read-only';
  /** A damaged file: `quarantine` (default) moves it aside and starts an empty one with a notice; `throw` leaves it. */
  readonly onCorrupt?: 'quarantine' | 'throw';
  /** How long a write waits for other processes, ms; default 10 000. */
  readonly busyMs?: number;
  readonly clock?: Clock;
}

/** Something that the person must be told: nothing was lost silently. */
export interface DatabaseNotice {
  readonly code: 'database-quarantined' | 'opened-read-only' | 'migrated';
  readonly message: string;
  /** The file that holds what was there before. */
  readonly copy?: string;
}

export interface OpenedDatabase {
  readonly database: Database;
  readonly notices: readonly DatabaseNotice[];
}

/** Opens or makes the file at `path` (0600, its folder 0700). Throws TalariaError. */
export function openDatabase(path: string, options: OpenDatabaseOptions): OpenedDatabase {
  const clock = options.clock ?? systemClock;
  const mayMove = !options.readOnly && options.onCorrupt !== 'throw';
  const file = fileIdentity(path);
  try {
    if (mayMove && existsSync(suspectMark(path))) refuseDamaged(path, clock);
    return openOnce(path, options, clock);
  } catch (error) {
    if (errorCode(error) !== 'database-corrupt' || !mayMove) throw error;
    if (fileIdentity(path) !== file) return openOnce(path, options, clock); // another process has moved it meanwhile
    return reopenAfterQuarantine(path, options, clock);
  }
}

function fileIdentity(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

function reopenAfterQuarantine(path: string, options: OpenDatabaseOptions, clock: Clock): OpenedDatabase {
  const moved = quarantine(path, clock);
  rmSync(suspectMark(path), { force: true });
  const opened = openOnce(path, options, clock);
  const message = `${path} was damaged; it was kept as ${moved} and a new, empty one was started`;
  return { ...opened, notices: [{ code: 'database-quarantined', message, copy: moved }, ...opened.notices] };
}

function openOnce(path: string, options: OpenDatabaseOptions, clock: Clock): OpenedDatabase {
  const readOnly = options.readOnly ?? false;
  if (!readOnly) makePrivateFile(path);
  const database = new Database(path, { readOnly, clock, busyMs: options.busyMs ?? 10_000 });
  try {
    if (readOnly) return { database, notices: [] };
    const newer = openVersions(database, options.rooms).newer;
    if (newer !== undefined) return openNewer(database, newer, options);
    const copy = migrate(database, options.rooms, clock);
    if (copy === undefined) return { database, notices: [] };
    return {
      database,
      notices: [{ code: 'migrated', message: `${path} was migrated; the old file is kept as ${copy}`, copy }],
    };
  } catch (error) {
    database.abandon();
    throw error;
  }
}

function openNewer(database: Database, newer: string, options: OpenDatabaseOptions): OpenedDatabase {
  const message = `${database.path} was written by a newer version of Talaria (${newer})`;
  if (options.onNewer !== 'read-only') {
    throw new TalariaError(message, {
      code: 'newer-schema',
      fix: 'Update Talaria, or open it for reading only.',
    });
  }
  const busyMs = options.busyMs ?? 10_000;
  database.abandon();
  const readable = new Database(database.path, { readOnly: true, clock: options.clock ?? systemClock, busyMs });
  return {
    database: readable,
    notices: [{ code: 'opened-read-only', message: `${message}; opened for reading only` }],
  };
}

function makePrivateFile(path: string): void {
  try {
    makeFolders(dirname(path));
    if (existsSync(path)) return;
    closeSync(openSync(path, 'a', 0o600));
    chmodSync(path, 0o600);
  } catch (error) {
    throw sqliteError(path, error);
  }
}

/** Looks at the whole file after damage was met in mid-work; takes the mark away when it is well. */
function refuseDamaged(path: string, clock: Clock): void {
  const database = new Database(path, { readOnly: false, clock, busyMs: 10_000 });
  try {
    const damage = database.findDamage();
    if (damage !== undefined) throw new TalariaError(`${path} is damaged: ${damage}`, { code: 'database-corrupt' });
    rmSync(suspectMark(path), { force: true });
  } finally {
    database.abandon();
  }
}
