/** The real stores of state.db, each in a home of its own that is gone when the process ends: for tests of what stands above them. */
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { evidenceSchema } from '#mind/evidence/proposal-schema.ts';
import { createSqliteSessionStore, type SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { createTempHome } from '#testing/temp-home.ts';

export function tempSessionStore(clock: Clock): SqliteSessionStore {
  const home = createTempHome();
  process.once('exit', () => home.remove());
  return createSqliteSessionStore({ path: join(home.path, 'state.db'), clock, rooms: [evidenceSchema] });
}

export function tempProposalLedger(clock: Clock): ReturnType<typeof createProposalLedger> {
  return createProposalLedger({ database: tempSessionStore(clock).database, clock });
}
