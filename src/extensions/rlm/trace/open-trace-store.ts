// Owns opening `rlm/runs.sqlite` of a home. Invariants: reading never makes a file; a damaged file is kept aside by who writes, and said
// to be damaged by who reads; a newer file is only read.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, systemClock } from '#base/clock.ts';
import { openVersions } from '#base/database/migrate.ts';
import { type DatabaseNotice, type OpenedDatabase, openDatabase } from '#base/database.ts';
import { errorCode, TalariaError } from '#base/errors.ts';
import { memoryTraceStore } from './memory-trace-store.ts';
import { SqliteTraceStore } from './store/sqlite-trace-store.ts';
import { traceSchema } from './store/trace-schema.ts';
import type { TraceStore } from './trace-store.ts';

export interface OpenTraceStore {
  readonly clock?: Clock;
  /** Nothing is written, and no file is made: without one there are no runs. */
  readonly readOnly?: boolean;
}

export interface OpenedTraceStore extends TraceStore {
  /** What the person must be told. */
  readonly notices: readonly DatabaseNotice[];
}

export function traceStorePath(home: string): string {
  return join(home, 'rlm', 'runs.sqlite');
}

/** Throws TalariaError as `openDatabase`. */
export function openTraceStore(home: string, options: OpenTraceStore = {}): OpenedTraceStore {
  const { clock = systemClock, readOnly = false } = options;
  const path = traceStorePath(home);
  if (readOnly && !existsSync(path)) return Object.assign(memoryTraceStore(clock), { notices: [] });
  const { database, notices } = readOnly
    ? openToRead(path, clock)
    : openDatabase(path, { rooms: [traceSchema], clock });
  return Object.assign(new SqliteTraceStore(database, clock), { notices });
}

function openToRead(path: string, clock: Clock): OpenedDatabase {
  try {
    const opened = openDatabase(path, { rooms: [traceSchema], readOnly: true, clock });
    if (holdsRuns(opened)) return opened;
    opened.database.close();
  } catch (error) {
    if (errorCode(error) !== 'database-corrupt') throw error;
    throw new TalariaError(`${path} is no database that can be read.`, {
      code: 'database-corrupt',
      cause: error,
      fix: 'The next run keeps it aside and says where; the runs in it are not lost by that.',
    });
  }
  return openDatabase(path, { rooms: [traceSchema], clock });
}

/** Tables of this version or a newer one: older ones are brought up first, which is a write. */
function holdsRuns({ database }: OpenedDatabase): boolean {
  const { room, steps } = traceSchema;
  return (openVersions(database, [traceSchema]).versions.get(room) ?? 0) >= steps.length;
}
