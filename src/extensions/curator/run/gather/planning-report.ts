// Owns the evidence of one run: the whole window, and a skill's failures when it is planned (seed 002, steps 1, 2 and 7f). Knows no table.
// Invariant: every skill of the window is counted, not the first twenty: who is protected keeps nobody from being seen.
import { eventTime } from '#mind/evidence/ledger/event-rows.ts';
import type { PlanningReport, SkillReport } from '../../plan/auto-run-request.ts';
import type { EvidenceReader } from '../../report/evidence-reader.ts';

export interface PlanningEvidence {
  readonly report: PlanningReport;
  readonly reportOf: (skill: string) => SkillReport;
}

const DAY_MS = 86_400_000;
const MOST_ROWS = 20;
const ALL = 1_000_000;

export function planningEvidence(
  reader: EvidenceReader,
  { dbPath, days, now }: { readonly dbPath: string; readonly days: number; readonly now: number },
): PlanningEvidence {
  const since = eventTime(now - days * DAY_MS);
  const whole = { since, skill: null };
  return {
    report: { db_path: dbPath, summary: reader.summary(whole, ALL), skill_evidence: reader.evidence(whole, MOST_ROWS) },
    reportOf: (skill) => {
      const window = { since, skill };
      return { summary: reader.summary(window, 1), skill_evidence: reader.failures(window) };
    },
  };
}
