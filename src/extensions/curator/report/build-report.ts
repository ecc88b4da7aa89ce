// Owns the evidence report (seed 002, steps 1 and 2; curator notes 5). Knows no table and no file: it asks an `EvidenceReader`.
// Invariant: reads only and says so; equal evidence and equal time give an equal report.
import { eventTime } from '#mind/evidence/ledger/event-rows.ts';
import { epochOf, type Instant } from '../text/time-stamp.ts';
import type { EvidenceReport, EvidenceRow } from './evidence.ts';
import { LEDGER_ORDER } from './evidence.ts';
import type { EvidenceReader } from './ledger-reader.ts';

export interface ReportQuestion {
  readonly dbPath: string;
  /** Clamped to 1..3650; `longest` narrows it (365 for the agent's tool). */
  readonly days: number;
  readonly longest?: number;
  readonly skill?: string | null;
  readonly now: Instant;
}

const DAY_MS = 86_400_000;
const LONGEST_DAYS = 3650;
const MOST_ROWS = 20;
const MOST_TURNS = 10;

function clampDays(days: number, longest = LONGEST_DAYS): number {
  return Math.min(longest, Math.max(1, Math.trunc(days)));
}

export function buildReport(reader: EvidenceReader, question: ReportQuestion): EvidenceReport {
  const days = clampDays(question.days, question.longest);
  const skill = question.skill ?? null;
  const window = { since: eventTime(epochOf(question.now) - days * DAY_MS), skill };
  return {
    title: 'Curator evidence report',
    read_only: true,
    db_path: question.dbPath,
    filters: { days, skill },
    summary: reader.summary(window, MOST_ROWS),
    skill_evidence: reader.evidence(window, MOST_ROWS).map(plainRow),
    recent_turns: reader.turns(window, MOST_TURNS),
    recommendation_policy: {
      v0_1: 'report_only',
      mutation: 'not_supported',
      next_steps: [
        'Read the failing rows of the most used skills first.',
        'Draft a change with `propose` and check it with `verify`.',
        'Apply only what was reviewed, through the guarded apply with its hash, backup and verification.',
      ],
    },
  };
}

/** A report is plain data, in its order already. */
function plainRow({ [LEDGER_ORDER]: _order, ...row }: EvidenceRow): EvidenceRow {
  return row;
}
