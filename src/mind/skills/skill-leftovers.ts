// Owns the cheap question before mending: can a killed process have left anything of a write to a skill? Answers for `reconcileSkills`,
// whose modules need not be loaded when nothing is there. Knows no proposal's content.
// Invariant: never false where a write that was cut short left something; each look is a row by index or the name of a file.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '#base/database/connection.ts';
import { errorCode } from '#base/errors.ts';
import type { SkillPlaces } from './door/door-parts.ts';

/** As many of the newest as are mended. */
const LOOKED_AT = 50;

export function mayHaveSkillLeftovers(database: Database, { root, backups }: SkillPlaces): boolean {
  return (
    hasOpenProposal(database) ||
    names(join(root, '.staging')).length > 0 ||
    hasUntiedVersion(database) ||
    hasUnfinishedBackup(backups)
  );
}

function hasOpenProposal(database: Database): boolean {
  const sql = "SELECT 1 FROM proposals WHERE status IN ('writing', 'proposed') AND kind = 'skill' LIMIT 1";
  return database.get(sql) !== undefined;
}

/** A version whose write ended just before its evidence was tied to it. */
function hasUntiedVersion(database: Database): boolean {
  const sql = `SELECT 1 FROM (SELECT skill, version, proposal_id FROM skill_versions ORDER BY id DESC LIMIT ?) v
    JOIN proposals p ON p.id = v.proposal_id
    WHERE NOT EXISTS (SELECT 1 FROM provenance t WHERE t.kind = 'skill' AND t.target = v.skill
      AND t.thing = CAST(v.version AS TEXT) AND t.proposal = p.key) LIMIT 1`;
  return database.get(sql, LOOKED_AT) !== undefined;
}

/** The manifest is the last file of a backup, and is put in place whole. */
function hasUnfinishedBackup(backups: string): boolean {
  return names(backups)
    .filter((name) => /^\d{8}T\d+Z$/.test(name))
    .sort()
    .slice(-LOOKED_AT)
    .some((stamp) => !existsSync(join(backups, stamp, 'manifest.json')));
}

function names(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
