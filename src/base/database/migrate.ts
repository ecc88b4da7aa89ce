// Owns `schema_versions(room, version)`: bringing each room's tables to the version that its code knows. Knows no table of any room.
// Invariant: an existing room's step is taken only after the whole file was copied; all steps commit together or not at all.
import type { Clock } from '../clock.ts';
import type { Database } from './connection.ts';
import { fileStamp } from './quarantine.ts';

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
