// Owns reading the uses of one skill: counts by version, and the turns behind them. Knows no verdict and no price.
// Invariant: counted by the database; the turns come one by one, since a skill may have been used very often.
import type { Database } from '#base/database/connection.ts';
import type { UseCounts } from './worse-probability.ts';

export interface VersionUses extends UseCounts {
  /** 0: what stood there before the first write that is known. */
  readonly version: number;
}

/** By version, the oldest first; versions without a use are left out. */
export function usesByVersion(database: Database, skill: string): readonly VersionUses[] {
  const rows = database.all<{ version: number; successes: number; uses: number }>(
    `SELECT version, sum(outcome = 'success') AS successes, count(*) AS uses FROM skill_uses
     WHERE skill = ? GROUP BY version ORDER BY version`,
    skill,
  );
  return rows.map(({ version, successes, uses }) => ({ version, successes, failures: uses - successes }));
}

export interface UsedTurn {
  readonly sessionId: string;
  readonly turn: number;
}

/** In the order in which they were counted. Leave no loop over it unfinished inside a transaction. */
export function usedTurns(database: Database, skill: string, version: number): Generator<UsedTurn, void, undefined> {
  return database.iterate<UsedTurn>(
    'SELECT session_id AS sessionId, turn FROM skill_uses WHERE skill = ? AND version = ? ORDER BY id',
    skill,
    version,
  );
}
