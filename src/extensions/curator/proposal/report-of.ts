// Owns the evidence report that a proposal is made from and checked against. Reads only.
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

export function reportOf(
  { places, clock }: Pick<CuratorGround, 'places' | 'clock'>,
  mind: Pick<CuratorMind, 'evidence'>,
  { days, skill }: ReportWindow,
): EvidenceReport {
  return buildReport(ledgerReader(mind.evidence()), { dbPath: places.evidenceDatabase, days, skill, now: clock.now() });
}
