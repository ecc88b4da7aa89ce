// Owns the table of verdicts (state.db): what a judge said about what, for `why`. Knows no model. Invariant: a verdict is never changed.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { JudgedClaim, Judgement, JudgePolicy } from './judge.ts';

/** A step of the room's schema. */
export const VERDICTS_TABLE = `
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
