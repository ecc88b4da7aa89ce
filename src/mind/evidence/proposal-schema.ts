// Owns the tables of state.db that hold proposals, what they cite, what came of them (design 2, write doors), and the verdicts of the judge.
// Invariant: a released step never changes; a proposal is never deleted by deciding it.

import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { RoomSchema } from '#base/database.ts';
import type { JudgedClaim, Judgement, JudgePolicy } from './judge.ts';

/** A step of the room's schema. */
const VERDICTS_TABLE = `
CREATE TABLE verdicts(
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  subject TEXT NOT NULL,
  claim TEXT NOT NULL,
  verdict TEXT NOT NULL,
  why TEXT NOT NULL,
  model TEXT NOT NULL,
  at INTEGER NOT NULL
);
CREATE INDEX verdicts_by_subject ON verdicts(subject);
`;

export interface VerdictRow {
  /** The claim as it was judged, cut. */
  readonly claim: string;
  readonly verdict: Judgement['verdict'];
  readonly why: string;
  readonly model: string;
  /** Epoch ms. */
  readonly at: number;
}

const SHOWN = 400;

export async function recordVerdicts(
  {
    database,
    clock,
    redact,
  }: { readonly database: Database; readonly clock: Clock; readonly redact: (text: string) => string },
  judgements: readonly Judgement[],
  claims: readonly JudgedClaim[],
  { subject }: JudgePolicy,
): Promise<void> {
  if (judgements.length === 0 || database.readOnly) return;
  const texts = new Map(claims.map(({ id, text }) => [id, redact(text).slice(0, SHOWN).toWellFormed()]));
  await database.transaction(() => {
    for (const { id, verdict, why, model } of judgements)
      database.run(
        'INSERT INTO verdicts(subject, claim, verdict, why, model, at) VALUES(?, ?, ?, ?, ?, ?)',
        ...[subject, texts.get(id) ?? '', verdict, why, model, clock.now()],
      );
  });
}

/** Oldest first. */
export function verdictsOf(database: Database, subject: string): readonly VerdictRow[] {
  return database.all<VerdictRow & Record<string, never>>(
    'SELECT claim, verdict, why, model, at FROM verdicts WHERE subject = ? ORDER BY key',
    subject,
  );
}

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
