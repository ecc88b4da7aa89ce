// Owns the ablation as one report (notes 8): the original's scripted table, the guard on injected faults, the contracts on the real engine.
import type { JsonObject } from '#base/json.ts';
import { contractAblation } from '../../fixtures/contract-ablation.ts';
import { type BenchReport, type BenchTable, figure } from '../bench-report.ts';
import { engineAblation } from './engine-ablation.ts';
import { gateFaults } from './gate-faults.ts';

const NOTES = [
  'Original: completions scripted by contract and scored; its rate is the share of evaluations with a claim beyond the evidence. Its calls are a label, ours below are counted.',
  'Injected faults: one fault in a sound completion, then the guard really judges it, strict and as the original.',
  'Engine: scripted replies, but real runs; a refused synthesis is asked for once more, hence one call more where the gate refuses. What is left in the state is what was accepted.',
  'A summary is prose that nobody is shown as checked: the guard does not read it (omitted_fact_in_the_summary), the scorer does.',
] as const;

export async function ablationBench(signal: AbortSignal): Promise<BenchReport> {
  const scripted = contractAblation();
  const faults = gateFaults();
  const engine = await engineAblation(signal);
  const { harmful_accepted: left } = faults;
  const document = {
    schema_version: 'talaria.rlm.contract_ablation.v1',
    scripted,
    gate_faults: faults,
    engine,
  };
  return {
    bench: 'ablation',
    notes: [
      ...NOTES,
      `Harmful completions that become state: without a gate ${figure(left.without_gate)}, with the original's guard ${figure(left.v1)}, with the strict guard ${figure(left.strict)}.`,
    ],
    tables: [scriptedTable(scripted), faultTable(faults), engineTable(engine)],
    document: document as unknown as JsonObject,
    passed:
      faults.unexpected_count === 0 &&
      left.strict === 0 &&
      engine.policy_summary.every((row) => row.unsupported_rate_with_gate === 0),
  };
}

function scriptedTable({ policy_summary, fixture_count }: ReturnType<typeof contractAblation>): BenchTable {
  return {
    title: `Contracts as scripted, ${fixture_count} fixtures`,
    columns: ['contract', 'rate', 'score', 'retained', 'safety', 'claimed omitted', 'cited omitted', 'missing'],
    rows: policy_summary.map((row) => [
      row.policy_id,
      ...[
        row.unsupported_claim_rate,
        row.mean_score,
        row.mean_retained_fact_citation_score,
        row.mean_omitted_fact_safety_score,
        row.mean_claimed_omitted_facts,
        row.mean_cited_omitted_chunks,
        row.mean_missing_retained_facts,
      ].map(figure),
    ]),
  };
}

function faultTable({ fault_summary, fixture_count }: ReturnType<typeof gateFaults>): BenchTable {
  return {
    title: `Injected faults, each into ${fixture_count} completions`,
    columns: ['fault', 'harmful', 'refused strict', 'refused v1', 'reasons (strict)', 'unsupported claims'],
    rows: fault_summary.map((row) => [
      row.fault_id,
      row.harmful ? 'yes' : 'no',
      String(row.strict_refused),
      String(row.v1_refused),
      row.strict_reasons.join(' ') || '-',
      figure(row.mean_unsupported_claim_rate),
    ]),
  };
}

function engineTable({ policy_summary }: Awaited<ReturnType<typeof engineAblation>>): BenchTable {
  return {
    title: 'Contracts on the engine',
    columns: ['contract', 'calls counted', 'accepted', 'unsupported without gate', 'unsupported in the state'],
    rows: policy_summary.map((row) => [
      row.policy_id,
      figure(row.mean_call_count),
      `${row.accepted_count} of ${row.evaluation_count}`,
      figure(row.unsupported_rate_without_gate),
      figure(row.unsupported_rate_with_gate),
    ]),
  };
}
