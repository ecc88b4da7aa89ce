// Owns the memory benches as one report (notes 11), apart from every clean run. Pure: nothing is read, asked or remembered.
// Invariant: it says beside its figures which half is real and which is assumed.
import type { JsonObject } from '#base/json.ts';
import type { GuardMode } from '../../guard/parent-claim.ts';
import { type BenchReport, type BenchTable, figure } from '../bench-report.ts';
import { adaptiveRepair } from './adaptive-repair.ts';
import { contamination } from './contamination.ts';
import { layeredAblation } from './layered-ablation.ts';
import type { MemoryRates } from './memory-rates.ts';
import { runtimeBenefit } from './runtime-benefit.ts';

const ASSUMED = [
  'Assumed by construction: what a provider writes. A profile leaves a handle out, cites chunks only or repeats memory, unless the policy in its row rules that out; no model is asked.',
  'Real: the guard on each parent, the repair of handles, the door of memory records, observing, recall, and the policy that recommendations come to.',
  'A memory bench says that the feedback loop closes. It claims nothing of the quality of a model, and is no part of a clean run.',
  'Calls are counted as published, a repair as one; ours fills handles without a model, so its calls are 1 throughout.',
] as const;

export function memoryBench(): BenchReport {
  const [strict, v1] = [benches('strict'), benches('v1')];
  const document = {
    schema_version: 'talaria.rlm.memory_bench.v1',
    clean: false,
    assumed_by_construction: [ASSUMED[0]],
    measured: [ASSUMED[1]],
    guard_modes: { strict, v1 },
  };
  return {
    bench: 'memory',
    notes: ASSUMED,
    tables: tablesOf(strict, JSON.stringify(summaries(strict)) === JSON.stringify(summaries(v1))),
    document: document as unknown as JsonObject,
    passed: holds(strict) && holds(v1),
  };
}

type Benches = ReturnType<typeof benches>;

function benches(mode: GuardMode) {
  return {
    runtime_benefit: runtimeBenefit(mode),
    contamination: contamination(mode),
    layered_ablation: layeredAblation(mode),
    adaptive_repair: adaptiveRepair(mode),
  };
}

function summaries({ runtime_benefit, contamination: poisoned, layered_ablation, adaptive_repair }: Benches) {
  return [
    runtime_benefit.profile_summary,
    poisoned.policy_summary,
    layered_ablation.layer_summary,
    adaptive_repair.policy_summary,
  ];
}

/** No answer of memory becomes state behind the guard, and the door keeps it out before. */
function holds({ runtime_benefit, contamination: poisoned }: Benches): boolean {
  const behind = poisoned.policy_summary.filter(({ gate }) => gate === 'traceguard');
  return !runtime_benefit.answer_record_accepted && behind.every((row) => row.memory_answer_accept_rate === 0);
}

const RATES = ['initial', 'final', 'repairs', 'calls', 'unsupported'] as const;

function tablesOf(strict: Benches, isSameInV1: boolean): readonly BenchTable[] {
  const same = isSameInV1 ? 'strict and v1 alike' : 'strict';
  return [
    {
      title: `Runtime benefit, ${strict.runtime_benefit.evaluation_count} evaluations (${same})`,
      columns: ['memory', ...RATES],
      rows: strict.runtime_benefit.policy_summary.map((row) => [row.policy, ...rates(row)]),
    },
    {
      title: 'Runtime benefit by provider',
      columns: ['memory', 'provider', ...RATES],
      rows: strict.runtime_benefit.profile_summary.map((row) => [row.policy, row.profile, ...rates(row)]),
    },
    {
      title: `Contamination, ${strict.contamination.evaluation_count} evaluations`,
      columns: ['gate', 'memory', 'accepted', 'answer of memory accepted', 'unsupported'],
      rows: strict.contamination.policy_summary.map((row) => [
        row.gate,
        row.memory,
        ...[row.accept_rate, row.memory_answer_accept_rate, row.mean_unsupported_claim_rate].map(figure),
      ]),
    },
    {
      title: `Layered ablation, ${strict.layered_ablation.evaluation_count} evaluations`,
      columns: ['runtime memory', 'recursion memory', ...RATES],
      rows: strict.layered_ablation.layer_summary.map((row) => [
        onOff(row.hermes_memory),
        onOff(row.rlm_memory),
        ...rates(row),
      ]),
    },
    {
      title: `Adaptive repair, ${strict.adaptive_repair.task_count} tasks`,
      columns: ['memory', ...RATES],
      rows: strict.adaptive_repair.policy_summary.map((row) => [row.policy, ...rates(row)]),
    },
  ];
}

function rates(row: MemoryRates): readonly string[] {
  const { initial_accept_rate, final_accept_rate, mean_repairs, mean_calls, mean_unsupported_claim_rate } = row;
  return [initial_accept_rate, final_accept_rate, mean_repairs, mean_calls, mean_unsupported_claim_rate].map(figure);
}

function onOff(on: boolean): string {
  return on ? 'on' : 'off';
}
