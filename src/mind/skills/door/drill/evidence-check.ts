// Owns whether the database that a change rests on can still be read. Knows no table. Invariants: nothing beside it is made (a reader of a
// database with a write-ahead log would make that log again), and a large one is never copied.
import { closeSync, copyFileSync, existsSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isDatabaseFile } from '#base/database/database-file.ts';
import { openDatabase } from '#base/database.ts';
import { errorCode } from '#base/errors.ts';

export type DatabaseLook = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** Larger ones are judged by their first bytes. */
const COPIED_BYTES = 64 * 1_048_576;
const BROKEN: DatabaseLook = { ok: false, reason: 'db-not-readable:DatabaseError' };
const CLOSED: DatabaseLook = { ok: false, reason: 'db-not-readable:OperationalError' };

/** `scratch`: an existing folder for a copy, which is gone afterwards. The reason is the original's. */
export function lookAtDatabase(path: string, scratch: string): DatabaseLook {
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return CLOSED;
    if (stats.size === 0) return { ok: true };
    if (!isDatabaseFile(path)) return BROKEN;
    if (!hasLog(path) || existsSync(`${path}-shm`)) return opens(path);
    return stats.size > COPIED_BYTES ? { ok: true } : opensAsCopy(path, join(scratch, '.evidence-copy'));
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { ok: false, reason: 'db-path-missing' };
    return code === 'database-corrupt' ? BROKEN : CLOSED;
  }
}

/** File format version 2: it is read through a write-ahead log. */
function hasLog(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(20);
    readSync(file, head);
    return head[19] === 2;
  } finally {
    closeSync(file);
  }
}

function opens(path: string): DatabaseLook {
  openDatabase(path, { rooms: [], readOnly: true }).database.abandon();
  return { ok: true };
}

function opensAsCopy(path: string, copy: string): DatabaseLook {
  try {
    copyFileSync(path, copy);
    return opens(copy);
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(copy + suffix, { force: true });
  }
}
