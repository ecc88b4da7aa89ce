// Owns opening a database file: private permissions, each room's schema, what happens with damaged and with newer files.
// Knows no table of any room. Invariant: nothing is ever silently empty: a damaged file stays until somebody chose, or is kept aside and a
// notice says so.
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeFolders } from './atomic-write.ts';
import { type Clock, systemClock } from './clock.ts';
import { type ConnectionOptions, Database } from './database/connection.ts';
import {
  damagedError,
  fileStamp,
  forgetDamage,
  isSuspect,
  quarantine,
  raiseFlag,
  rememberDamage,
  rememberedDamage,
  type WriterFlag,
} from './database/damage.ts';
import { sqliteError } from './database/sqlite-error.ts';
import { logDamage } from './database/write-log.ts';
import { errorCode, errorText, TalariaError } from './errors.ts';

export interface OpenDatabaseOptions {
  /** Schemas of the rooms that keep tables here; they are created or migrated before the call returns. */
  readonly rooms: readonly RoomSchema[];
  readonly readOnly?: boolean;
  /** A file of a newer version: `refuse` (default) throws `newer-schema`, `read-only` opens it for reading with a notice. */
  readonly onNewer?: 'refuse' | 'read-only';
  /**
   * A damaged file: `quarantine` (default) moves it aside and starts an empty one with a notice; `throw` leaves it; `keep` leaves it too, and
   * refuses it from then on without looking again, until it was mended or taken away.
   */
  readonly onCorrupt?: 'quarantine' | 'throw' | 'keep';
  /** With `keep`: files that are there only once the database was; where one is, a database that is not there is lost and no new one. */
  readonly traces?: () => readonly string[];
  /** Where writers show that they have the file open: after a crash it is looked at as a whole. */
  readonly flags?: string;
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
  /** A process crashed with it, and it is too large to be looked at here: `findDamageSlowly`, then this. */
  readonly unchecked?: () => void;
}

/** A file up to this size is looked at when it is opened after a crash: some tens of milliseconds. */
const CHECKED_AT_ONCE = 32 * 1024 ** 2;

/** Opens or makes the file at `path` (0600, its folder 0700). Throws TalariaError. */
export function openDatabase(path: string, options: OpenDatabaseOptions): OpenedDatabase {
  const clock = options.clock ?? systemClock;
  if (options.onCorrupt === 'keep') return openKept(path, options, clock);
  const mayMove = !options.readOnly && options.onCorrupt !== 'throw';
  const file = fileIdentity(path);
  try {
    if (mayMove && isSuspect(path)) refuseDamaged(path, clock);
    return openOnce(path, options, clock);
  } catch (error) {
    if (errorCode(error) !== 'database-corrupt' || !mayMove) throw error;
    if (fileIdentity(path) !== file) return openOnce(path, options, clock); // another process has moved it meanwhile
    return reopenAfterQuarantine(path, options, clock);
  }
}

/** Damage is remembered, and the file left alone. */
function openKept(path: string, options: OpenDatabaseOptions, clock: Clock): OpenedDatabase {
  if (options.readOnly) return openOnce(path, options, clock);
  const known = rememberedDamage(path) ?? goneAway(path, options.traces);
  if (known !== undefined) throw damagedError(path, known);
  makeWhole(path);
  const flag = options.flags === undefined ? undefined : raiseFlag(path, options.flags);
  try {
    const large = flag?.crashed === true && sizeOf(path) > CHECKED_AT_ONCE;
    if (isSuspect(path) || (flag?.crashed && !large)) refuseDamaged(path, clock);
    if (!large) flag?.clear();
    return withFlag(openOnce(path, options, clock), flag, large);
  } catch (error) {
    flag?.lower();
    if (errorCode(error) !== 'database-corrupt') throw error;
    rememberDamage(path, errorText(error));
    throw damagedError(path, errorText(error));
  }
}

function withFlag(opened: OpenedDatabase, flag: WriterFlag | undefined, isUnchecked: boolean): OpenedDatabase {
  if (flag === undefined) return opened;
  opened.database.atClose(flag.lower);
  return isUnchecked ? { ...opened, unchecked: flag.clear } : opened;
}

/** What once was there leaves a log, a name without content, or what was made after it; to SQLite all of them would be a new file. */
export function goneAway(path: string, traces: () => readonly string[] = () => []): string | undefined {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size !== undefined) return size === 0 ? 'it is empty' : undefined;
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (log > 0) return 'it is gone, and its log is there';
  const trace = traces().find((file) => existsSync(file));
  // Another process may have made all of them meanwhile.
  return trace === undefined || existsSync(path) ? undefined : `it is gone, and ${trace} is there`;
}

/** A new file has its name only once it is a database. */
function makeWhole(path: string): void {
  if (existsSync(path)) return;
  const fresh = `${path}.${process.pid}.fresh`;
  try {
    makePrivateFile(fresh);
    new Database(fresh, { readOnly: false, clock: systemClock, busyMs: 1_000 }).close();
    linkSync(fresh, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw sqliteError(path, error); // another process was faster
  } finally {
    rmSync(fresh, { force: true });
  }
}

function sizeOf(path: string): number {
  return ['', '-wal'].reduce((sum, part) => sum + (statSync(path + part, { throwIfNoEntry: false })?.size ?? 0), 0);
}

function fileIdentity(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

function reopenAfterQuarantine(path: string, options: OpenDatabaseOptions, clock: Clock): OpenedDatabase {
  const moved = quarantine(path, clock);
  forgetDamage(path);
  const opened = openOnce(path, options, clock);
  const message = `${path} was damaged; it was kept as ${moved} and a new, empty one was started`;
  return { ...opened, notices: [{ code: 'database-quarantined', message, copy: moved }, ...opened.notices] };
}

function openOnce(path: string, options: OpenDatabaseOptions, clock: Clock): OpenedDatabase {
  const readOnly = options.readOnly ?? false;
  if (readOnly)
    return { database: openToRead(path, { readOnly, clock, busyMs: options.busyMs ?? 10_000 }), notices: [] };
  makePrivateFile(path);
  const database = new Database(path, { readOnly, clock, busyMs: options.busyMs ?? 10_000 });
  try {
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

/**
 * In a folder that cannot be written SQLite wants a log and its index beside the file, or to be told that nobody writes. A log that was left
 * there is read from a copy.
 */
function openToRead(path: string, options: ConnectionOptions): Database {
  try {
    return new Database(path, options);
  } catch (error) {
    const code = errorCode(error);
    if ((code !== 'database-unopenable' && code !== 'database-read-only') || !existsSync(path)) throw error;
  }
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) {
    const as = pathToFileURL(path);
    as.searchParams.set('immutable', '1');
    return new Database(path, { ...options, as });
  }
  const folder = mkdtempSync(join(tmpdir(), 'talaria-read-'));
  const as = join(folder, basename(path));
  for (const part of ['', '-wal']) copyFileSync(path + part, as + part);
  const database = new Database(path, { ...options, as });
  database.atClose(() => rmSync(folder, { recursive: true, force: true }));
  return database;
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

/** Looks at the whole file after damage was met in mid-work, or after a crash; takes the mark away when it is well. Writes nothing into it. */
function refuseDamaged(path: string, clock: Clock): void {
  if (!existsSync(path)) return;
  const log = logDamage(path);
  if (log !== undefined) throw damagedError(path, log);
  const database = new Database(path, { readOnly: true, clock, busyMs: 10_000 });
  try {
    const damage = database.findDamage();
    if (damage !== undefined) throw damagedError(path, damage);
    forgetDamage(path);
  } finally {
    database.abandon();
  }
}

export interface RoomSchema {
  readonly room: string;
  /** Step n brings version n to n + 1; never changed after a release, only appended to. SQL text, or code for what SQL cannot do. */
  readonly steps: readonly (string | ((database: Database) => void))[];
}

interface VersionRow {
  readonly room: string;
  readonly version: number;
}

export interface OpenVersions {
  readonly versions: ReadonlyMap<string, number>;
  /** `room version` of the first room that is ahead of this program. */
  readonly newer: string | undefined;
}

export function openVersions(database: Database, rooms: readonly RoomSchema[]): OpenVersions {
  const versions = readVersions(database);
  const ahead = rooms.find((room) => (versions.get(room.room) ?? 0) > room.steps.length);
  return { versions, newer: ahead && `${ahead.room} ${versions.get(ahead.room)}` };
}

/** Gives the path of the copy that was made before existing tables were changed, if any were. */
export function migrate(database: Database, rooms: readonly RoomSchema[], clock: Clock): string | undefined {
  const pending = (versions: ReadonlyMap<string, number>) =>
    rooms.filter((room) => (versions.get(room.room) ?? 0) < room.steps.length);
  const before = readVersions(database);
  const waiting = pending(before);
  if (waiting.length === 0) return undefined;
  const changed = waiting.filter((room) => before.has(room.room));
  const copy = changed.length > 0 ? `${database.path}.before-${fileStamp(clock)}` : undefined;
  if (copy !== undefined) database.copyTo(copy);
  database.transactionSync(() => {
    database.exec(
      'CREATE TABLE IF NOT EXISTS schema_versions(room TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID',
    );
    const now = readVersions(database); // another process may have been first
    for (const room of pending(now)) takeSteps(database, room, now.get(room.room) ?? 0);
  });
  return copy;
}

function takeSteps(database: Database, room: RoomSchema, from: number): void {
  for (const step of room.steps.slice(from)) {
    if (typeof step === 'string') database.exec(step);
    else step(database);
  }
  database.run(
    'INSERT INTO schema_versions VALUES(?, ?) ON CONFLICT DO UPDATE SET version = excluded.version',
    room.room,
    room.steps.length,
  );
}

function readVersions(database: Database): ReadonlyMap<string, number> {
  const known = database.get("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_versions'");
  if (known === undefined) return new Map();
  const rows = database.all<VersionRow>('SELECT room, version FROM schema_versions');
  return new Map(rows.map((row) => [row.room, row.version]));
}
