// Owns the tables of state.db that hold proposals, what they cite, and what came of them (design 2, write doors). Knows no query.
// Invariant: a released step never changes; a proposal is never deleted by deciding it.
import type { RoomSchema } from '#base/database/migrate.ts';
import { VERDICTS_TABLE } from './judge/verdict-rows.ts';

const PROPOSALS = `
CREATE TABLE proposals(
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  actor TEXT NOT NULL,
  target TEXT NOT NULL,
  action TEXT NOT NULL,
  change TEXT NOT NULL,
  session_id TEXT,
  status TEXT NOT NULL,
  reason TEXT,
  detail TEXT,
  path TEXT,
  before_hash TEXT,
  after_hash TEXT,
  undo TEXT,
  writer TEXT,
  begun_at INTEGER,
  created_at INTEGER NOT NULL,
  decided_at INTEGER
);
CREATE INDEX proposals_by_status ON proposals(status, kind);
CREATE INDEX proposals_by_session ON proposals(session_id) WHERE session_id IS NOT NULL;

CREATE TABLE citations(
  proposal INTEGER NOT NULL REFERENCES proposals(key) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  handle TEXT NOT NULL,
  message_id INTEGER,
  quote TEXT NOT NULL,
  PRIMARY KEY(proposal, position)
) WITHOUT ROWID;
CREATE INDEX citations_by_message ON citations(message_id) WHERE message_id IS NOT NULL;

CREATE TABLE provenance(
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  target TEXT NOT NULL,
  thing TEXT NOT NULL,
  proposal INTEGER NOT NULL REFERENCES proposals(key) ON DELETE CASCADE,
  at INTEGER NOT NULL
);
CREATE UNIQUE INDEX provenance_by_thing ON provenance(kind, target, thing, proposal);
`;

export const evidenceSchema: RoomSchema = { room: 'evidence', steps: [PROPOSALS, VERDICTS_TABLE] };
