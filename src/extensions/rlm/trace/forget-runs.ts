// Owns `forget` for runs: whoever holds a text, or began before a time, goes wholly, with its context and its bytes. A run without a part of
// itself would be no record. Invariant: without runs no file is made; texts that another run names stay.
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { openDatabase } from '#base/database.ts';
import { eraseFreed } from '#mind/sessions/forget/erase-freed.ts';
import { contextFolder } from '../ask/open/open-context.ts';
import { traceStorePath } from './open-trace-store.ts';
import { selectRuns, selectText } from './store/run-rows.ts';
import { traceSchema } from './store/trace-schema.ts';

export interface RunsToForget {
  /** Does a text, as it is or within JSON, hold what is to go? */
  readonly holds?: (text: string) => boolean;
  /** Epoch ms. */
  readonly before?: number;
}

export interface ForgottenRuns {
  readonly count: number;
  /** Files whose freed bytes another process still holds. */
  readonly busy: readonly string[];
}

/** Throws TalariaError as `openDatabase`; a damaged file is left alone. */
export async function forgetRuns(
  { home, clock }: { readonly home: string; readonly clock: Clock },
  what: RunsToForget,
): Promise<ForgottenRuns> {
  const path = traceStorePath(home);
  if (!existsSync(path)) return { count: 0, busy: [] };
  const { database } = openDatabase(path, { rooms: [traceSchema], onCorrupt: 'throw', clock });
  try {
    database.exec('PRAGMA secure_delete = ON');
    const gone = await database.transaction(() => removeRuns(database, what));
    for (const run_id of gone) await rm(contextFolder({ home, run_id }), { recursive: true, force: true });
    const isBusy = gone.length > 0 && (await eraseFreed(database, clock)) === 'busy';
    return { count: gone.length, busy: isBusy ? [path] : [] };
  } finally {
    database.close();
  }
}

function removeRuns(database: Database, { holds, before }: RunsToForget): readonly string[] {
  const gone = selectRuns(database, { limit: -1, kind: null }).filter(({ run_id, started_at }) => {
    if (before !== undefined && started_at < before) return true;
    return holds !== undefined && textsOf(database, run_id).some(holds);
  });
  for (const { run_id } of gone) database.run('DELETE FROM rlm_runs WHERE run_id = ?', run_id);
  database.run('DELETE FROM rlm_texts WHERE hash NOT IN (SELECT hash FROM rlm_run_texts)');
  return gone.map(({ run_id }) => run_id);
}

/** Everything that is stored of a run; JSON as it stands. */
function textsOf(database: Database, run_id: string): readonly string[] {
  const columns = database.all<{ text: string | null }>(
    `SELECT root || ' ' || sources || ' ' || request AS text FROM rlm_runs WHERE run_id = ?1
     UNION ALL SELECT outcome FROM rlm_runs WHERE run_id = ?1
     UNION ALL SELECT data FROM rlm_events WHERE run_id = ?1
     UNION ALL SELECT record FROM rlm_calls WHERE run_id = ?1`,
    run_id,
  );
  const hashes = database.all<{ hash: string }>('SELECT hash FROM rlm_run_texts WHERE run_id = ?', run_id);
  const kept = hashes.flatMap(({ hash }) => selectText(database, hash) ?? []);
  return [...columns.flatMap(({ text }) => text ?? []), ...kept];
}
