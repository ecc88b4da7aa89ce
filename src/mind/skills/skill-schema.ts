// Owns the tables of state.db that hold what became of skills: versions, records, uses, pairs that were rolled back. A released step never changes.
import type { RoomSchema } from '#base/database.ts';

const SKILLS = `
CREATE TABLE skill_versions(
  id INTEGER PRIMARY KEY,
  skill TEXT NOT NULL,
  version INTEGER NOT NULL,
  parent INTEGER,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  folder TEXT NOT NULL,
  original_hash TEXT,
  new_hash TEXT,
  original_tree TEXT,
  new_tree TEXT,
  backup TEXT NOT NULL UNIQUE,
  proposal_id TEXT NOT NULL UNIQUE,
  at INTEGER NOT NULL,
  undoes INTEGER,
  rolled_back_at INTEGER
);
CREATE UNIQUE INDEX skill_versions_by_skill ON skill_versions(skill, version);

CREATE TABLE skill_records(
  name TEXT PRIMARY KEY,
  created_by TEXT NOT NULL,
  status TEXT NOT NULL,
  pinned INTEGER NOT NULL DEFAULT 0,
  confidence REAL NOT NULL DEFAULT 0.5,
  validated_count INTEGER NOT NULL DEFAULT 0,
  improved_count INTEGER NOT NULL DEFAULT 0,
  view_count INTEGER NOT NULL DEFAULT 0,
  use_count INTEGER NOT NULL DEFAULT 0,
  success_count INTEGER NOT NULL DEFAULT 0,
  failure_count INTEGER NOT NULL DEFAULT 0,
  attribution REAL NOT NULL DEFAULT 0,
  bloodstain INTEGER NOT NULL DEFAULT 0,
  lineage TEXT NOT NULL DEFAULT '[]',
  version INTEGER NOT NULL DEFAULT 0,
  parent_version INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_used_at INTEGER,
  last_viewed_at INTEGER,
  patch_count INTEGER NOT NULL DEFAULT 0,
  last_patched_at INTEGER,
  archived_at INTEGER
) WITHOUT ROWID;

CREATE TABLE skill_uses(
  id INTEGER PRIMARY KEY,
  skill TEXT NOT NULL,
  version INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  turn INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  reason TEXT NOT NULL,
  at INTEGER NOT NULL
);
CREATE UNIQUE INDEX skill_uses_by_turn ON skill_uses(session_id, turn, skill);
CREATE INDEX skill_uses_by_version ON skill_uses(skill, version);

CREATE TABLE skill_rollback_pairs(
  skill TEXT NOT NULL,
  better TEXT NOT NULL,
  worse TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY(skill, better, worse)
) WITHOUT ROWID;
`;

const PRIORS = [
  'ALTER TABLE skill_records ADD COLUMN prior_confidence REAL NOT NULL DEFAULT 0.5',
  'ALTER TABLE skill_records ADD COLUMN prior_weight REAL NOT NULL DEFAULT 2',
  "ALTER TABLE skill_records ADD COLUMN categories TEXT NOT NULL DEFAULT '[]'",
  'ALTER TABLE skill_records ADD COLUMN derived_from TEXT',
];

export const skillSchema: RoomSchema = { room: 'skills', steps: [SKILLS, PRIORS.join(';')] };
