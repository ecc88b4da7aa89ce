// Owns the evidence that a proposal is made from and checked against: the report, and what failed. Reads only.
import { eventTime } from '#mind/evidence/ledger/event-rows.ts';
import { type Failure, failuresOf } from '../block/failures.ts';
import type { CuratorGround, CuratorMind } from '../curator-ground.ts';
import { buildReport } from '../report/build-report.ts';
import type { EvidenceReport } from '../report/evidence.ts';
import { ledgerReader } from '../report/ledger-reader.ts';

export interface ReportWindow {
  /** Clamped to 1..3650. */
  readonly days: number;
  /** null: every skill. */
  readonly skill: string | null;
}

const DAY_MS = 86_400_000;

export function reportOf(
  { places, clock }: Pick<CuratorGround, 'places' | 'clock'>,
  mind: Pick<CuratorMind, 'evidence'>,
  { days, skill }: ReportWindow,
): EvidenceReport {
  return buildReport(ledgerReader(mind.evidence()), { dbPath: places.evidenceDatabase, days, skill, now: clock.now() });
}

/** Of the skill and the window of the report; `text`: the skill. */
export function failuresIn(
  { clock }: Pick<CuratorGround, 'clock'>,
  mind: Pick<CuratorMind, 'evidence'>,
  { report, text }: { readonly report: EvidenceReport; readonly text: string },
): readonly Failure[] {
  const { days, skill } = report.filters;
  const since = eventTime(clock.now() - days * DAY_MS);
  return failuresOf({ rows: ledgerReader(mind.evidence()).failures({ since, skill }), text });
}
