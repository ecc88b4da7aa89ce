// Owns reading the uses of one skill: counts by version, and the turns behind them. Knows no verdict and no price.
// Invariants: counted by the database; a version that changed the managed block alone has no uses of its own; the turns come one by one,
// since a skill may have been used very often.
import type { Database } from '#base/database/connection.ts';
import { allVersions, countedVersions } from '../door/history/version-rows.ts';
import type { UseCounts } from './worse-probability.ts';

export interface VersionUses extends UseCounts {
  /** 0: what stood there before the first write that is known. */
  readonly version: number;
}

/** By the version that they count for, the oldest first; versions without a use are left out. */
export function usesByVersion(database: Database, skill: string): readonly VersionUses[] {
  const rows = database.all<{ version: number; successes: number; uses: number }>(
    `SELECT version, sum(outcome = 'success') AS successes, count(*) AS uses FROM skill_uses
     WHERE skill = ? GROUP BY version ORDER BY version`,
    skill,
  );
  const counted = countedVersions(allVersions(database, skill));
  const sums = new Map<number, VersionUses>();
  for (const { version: own, successes, uses } of rows) {
    const version = counted.get(own) ?? own;
    const sum = sums.get(version) ?? { version, successes: 0, failures: 0 };
    sums.set(version, {
      version,
      successes: sum.successes + successes,
      failures: sum.failures + uses - successes,
    });
  }
  return [...sums.values()].sort((a, b) => a.version - b.version);
}

/** What counts for `version`. */
export function countUses(database: Database, skill: string, version: number): UseCounts {
  const { successes = 0, failures = 0 } = usesByVersion(database, skill).find((row) => row.version === version) ?? {};
  return { successes, failures };
}

export interface UsedTurn {
  readonly sessionId: string;
  readonly turn: number;
}

/** Those that count for `version`, in the order in which they were counted. Leave no loop over it unfinished inside a transaction. */
export function usedTurns(database: Database, skill: string, version: number): Generator<UsedTurn, void, undefined> {
  const counted = countedVersions(allVersions(database, skill));
  const versions = [version, ...[...counted].flatMap(([own, counts]) => (counts === version ? [own] : []))];
  return database.iterate<UsedTurn>(
    `SELECT session_id AS sessionId, turn FROM skill_uses WHERE skill = ?
       AND version IN (SELECT value FROM json_each(?)) ORDER BY id`,
    skill,
    JSON.stringify(versions),
  );
}
