// Owns telling a SQLite file from any other by its first bytes. Opens no database.
import { closeSync, openSync, readSync } from 'node:fs';

/** Does the file begin as SQLite's file format says? An empty file is none. Throws what the file system throws. */
export function isDatabaseFile(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(16);
    readSync(file, head);
    return head.toString('latin1') === 'SQLite format 3\0';
  } finally {
    closeSync(file);
  }
}
