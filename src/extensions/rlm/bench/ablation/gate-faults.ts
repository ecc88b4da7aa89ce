// Owns running the guard on injected faults (notes 22.10): what it refuses, what it lets through, how many claims nothing carries are left
// with and without it. Pure. Invariant: every figure is the guard's verdict on a real completion; nothing is scripted but the completion.
import { roundHalfEven } from '#base/number/round-half-even.ts';
import { ablationFixtures } from '../../fixtures/contract-ablation.ts';
import type { Generated } from '../../fixtures/generated-fixture.ts';
import { buildManifest } from '../../guard/build-manifest.ts';
import type { GuardMode, RejectionReason } from '../../guard/parent-claim.ts';
import { validateParentSynthesis } from '../../guard/validate-parent-synthesis.ts';
import { FAULTS, type Fault } from './inject-fault.ts';

export interface GatedRow {
  readonly fixture_id: string;
  readonly fault_id: string;
  readonly mode: GuardMode;
  readonly accepted: boolean;
  readonly unsupported_claim_rate: number;
  readonly accepted_claims: number;
  readonly reasons: readonly RejectionReason[];
  readonly as_expected: boolean;
}

export function gateFaults(fixtures: readonly Generated[] = ablationFixtures()) {
  const rows = fixtures.flatMap((generated) => FAULTS.flatMap((fault) => rowsOf(generated, fault)));
  const harmful = new Set(FAULTS.filter((fault) => fault.isHarmful).map(({ fault_id }) => fault_id));
  const left = (mode: GuardMode) => {
    const faulty = rows.filter((row) => row.mode === mode && harmful.has(row.fault_id));
    return share(faulty, (row) => row.accepted);
  };
  return {
    schema_version: 'talaria.rlm.gate_faults.v1',
    fixture_count: fixtures.length,
    fault_count: FAULTS.length,
    evaluation_count: rows.length,
    unexpected_count: rows.filter((row) => !row.as_expected).length,
    /** Share of harmful completions that become state. */
    harmful_accepted: { without_gate: 1, v1: left('v1'), strict: left('strict') },
    fault_summary: FAULTS.map((fault) => summary(fault, rows)),
    evaluations: rows,
  };
}

function rowsOf(generated: Generated, fault: Fault): readonly GatedRow[] {
  const manifest = buildManifest(generated.fixture);
  const synthesis = fault.inject(generated);
  return (['strict', 'v1'] as const).map((mode) => {
    const verdict = validateParentSynthesis({ manifest, synthesis, mode });
    const reasons = [...new Set(verdict.rejected_claims.map(({ reason }) => reason))];
    const expected = fault[mode];
    return {
      fixture_id: generated.fixture.fixture_id,
      fault_id: fault.fault_id,
      mode,
      accepted: verdict.accepted,
      unsupported_claim_rate: verdict.unsupported_claim_rate,
      accepted_claims: verdict.accepted_claims.length,
      reasons,
      as_expected: expected === null ? verdict.accepted : reasons.includes(expected),
    };
  });
}

function summary({ fault_id, isHarmful }: Fault, all: readonly GatedRow[]) {
  const of = (mode: GuardMode) => all.filter((row) => row.fault_id === fault_id && row.mode === mode);
  const [strict, v1] = [of('strict'), of('v1')];
  return {
    fault_id,
    harmful: isHarmful,
    injected: strict.length,
    strict_refused: strict.filter((row) => !row.accepted).length,
    v1_refused: v1.filter((row) => !row.accepted).length,
    strict_reasons: [...new Set(strict.flatMap((row) => row.reasons))].sort(),
    /** TraceGuard's: refused claims over all claims. */
    mean_unsupported_claim_rate: roundHalfEven(
      strict.reduce((sum, row) => sum + row.unsupported_claim_rate, 0) / Math.max(1, strict.length),
      4,
    ),
  };
}

function share(rows: readonly GatedRow[], test: (row: GatedRow) => boolean): number {
  return roundHalfEven(rows.filter(test).length / Math.max(1, rows.length), 4);
}
