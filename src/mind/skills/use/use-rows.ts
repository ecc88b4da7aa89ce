// Owns the rows of `skill_uses` and `skill_rollback_pairs`. Knows no turn. Invariant: one use a skill and turn; a pair of texts is kept
// for good once it was rolled back.
import type { Database } from '#base/database/connection.ts';

export interface SkillUse {
  readonly skill: string;
  readonly version: number;
  readonly sessionId: string;
  readonly turn: number;
  readonly outcome: 'success' | 'failure';
  /** `command-failed`, `undone`, `failed`, `aborted`, `next-turn`, `session-end`. */
  readonly reason: string;
  /** Epoch ms. */
  readonly at: number;
}

/** False when this turn's use of the skill is counted already. */
export function insertUse(database: Database, use: SkillUse): Promise<boolean> {
  return database.transaction(() => {
    const done = database.run(
      `INSERT OR IGNORE INTO skill_uses(skill, version, session_id, turn, outcome, reason, at) VALUES(?, ?, ?, ?, ?, ?, ?)`,
      use.skill,
      use.version,
      use.sessionId,
      use.turn,
      use.outcome,
      use.reason,
      use.at,
    );
    return done.changes > 0;
  });
}

/** A use that counted as a success was none after all: the skill's last one of the session. Gives its version; undefined: there is none. */
export function failUse(
  database: Database,
  { skill, sessionId, reason }: Pick<SkillUse, 'skill' | 'sessionId' | 'reason'>,
) {
  return database.transaction(() => {
    const row = database.get<{ version: number }>(
      `UPDATE skill_uses SET outcome = 'failure', reason = ? WHERE outcome = 'success' AND id =
         (SELECT max(id) FROM skill_uses WHERE skill = ? AND session_id = ?) RETURNING version`,
      reason,
      skill,
      sessionId,
    );
    return row?.version;
  });
}

/** Two states of a skill by the hashes of their folders: the same text under another number is the same pair. */
export interface RollbackPair {
  readonly skill: string;
  readonly better: string;
  readonly worse: string;
}

export function wasRolledBack(database: Database, { skill, better, worse }: RollbackPair): boolean {
  const row = database.get(
    'SELECT 1 FROM skill_rollback_pairs WHERE skill = ? AND better = ? AND worse = ?',
    skill,
    better,
    worse,
  );
  return row !== undefined;
}

export function keepPair(database: Database, { skill, better, worse }: RollbackPair, at: number): Promise<void> {
  return database.transaction(() => {
    database.run('INSERT OR IGNORE INTO skill_rollback_pairs VALUES(?, ?, ?, ?)', skill, better, worse, at);
  });
}
