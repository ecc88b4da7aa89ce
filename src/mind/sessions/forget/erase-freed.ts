// Owns making sure that deleted bytes are gone from a database file: freed pages, and the log. Knows no table.
// Invariant: when it says `clean`, neither the file nor its log holds anything that was deleted before.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { errorCode } from '#base/errors.ts';

const TRIES = 50;
const PAUSE_MS = 100;

/** Rewrites the file without its free pages and empties its log. `busy`: another process reads it; its log goes when that one is done. */
export async function eraseFreed(database: Database, clock: Clock): Promise<'clean' | 'busy'> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    if (attempt > 0) await clock.sleep(PAUSE_MS);
    try {
      database.exec('VACUUM');
      const done = database.get<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)');
      if (done?.busy !== 1) return 'clean';
    } catch (error) {
      if (errorCode(error) !== 'database-locked') throw error;
    }
  }
  return 'busy';
}
