// Owns the table of the review queue (curator notes 7) and its history of versions. Knows no query. A table that the original made stays as
// it is: the columns are the same.
import type { RoomSchema } from '#base/database/migrate.ts';

const REVIEW_CANDIDATES = `
CREATE TABLE IF NOT EXISTS review_candidates(
  id TEXT PRIMARY KEY,
  candidate_type TEXT NOT NULL,
  title TEXT NOT NULL,
  rationale TEXT NOT NULL,
  confidence REAL NOT NULL,
  evidence_refs_json TEXT NOT NULL,
  target_skill TEXT,
  auto_apply_allowed INTEGER NOT NULL DEFAULT 0 CHECK (auto_apply_allowed = 0),
  requires_human_review INTEGER NOT NULL DEFAULT 1 CHECK (requires_human_review = 1),
  metadata_json TEXT NOT NULL DEFAULT '{}',
  status TEXT NOT NULL DEFAULT 'pending',
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS idx_review_candidates_status ON review_candidates(status);
CREATE INDEX IF NOT EXISTS idx_review_candidates_type ON review_candidates(candidate_type);
`;

export const queueSchema: RoomSchema = { room: 'review-queue', steps: [REVIEW_CANDIDATES] };
