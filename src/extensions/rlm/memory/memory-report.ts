// Owns what a person is told of a memory file: what stands in it, and what it makes the code do. Pure. Knows no prompt and no run.
// Invariant: what is said of effects is computed by the same functions that runs use. Serves seed 003: memory is a prior over how to ask.
import { roundHalfEven } from '#base/number/round-half-even.ts';
import type { MemoryFile } from './memory-file.ts';
import type { MemoryRecord } from './memory-record.ts';
import { MEMORY_TASKS, type MemoryTask } from './memory-words.ts';
import { type PriorPolicy, priorPolicy, rankFamilies } from './prior-policy.ts';
import { byPlace, recallPriors } from './recall-priors.ts';

export interface MemoryGroup extends Pick<MemoryRecord, 'kind' | 'task' | 'recommendation'> {
  readonly family_id: string | null;
  readonly fixture_category: string | null;
  readonly count: number;
  readonly mean_confidence: number;
}

export interface MemoryEffect {
  readonly task: MemoryTask;
  /** Null: any. */
  readonly family_id: string | null;
  readonly fixture_category: string | null;
  readonly policy: PriorPolicy;
  readonly does: readonly string[];
}

export interface MemoryReport {
  readonly schema_version: 'talaria.rlm.memory_report.v1';
  readonly record_count: number;
  readonly rejected_count: number;
  readonly passed_over: number;
  readonly groups: readonly MemoryGroup[];
  readonly effects: readonly MemoryEffect[];
  /** Families of which something is remembered, best first, for the synthesis. */
  readonly family_order: readonly string[];
  readonly rejected_reasons: Readonly<Record<string, number>>;
  readonly rejected: MemoryFile['rejected'];
}

export function memoryReport(file: Omit<MemoryFile, 'path' | 'exists'>): MemoryReport {
  const { records, rejected } = file;
  const families = [...new Set(records.flatMap((record) => record.family_id ?? []))].sort();
  const reasons = Map.groupBy(rejected, ({ reason }) => reason);
  return {
    schema_version: 'talaria.rlm.memory_report.v1',
    record_count: records.length,
    rejected_count: file.rejected_count,
    passed_over: file.passed_over,
    groups: groupsOf(records),
    effects: effectsOf(records),
    family_order: rankFamilies(families, { records, task: 'synthesize_parent_answer_from_child_evidence' }),
    rejected_reasons: Object.fromEntries([...reasons].map(([reason, lines]) => [reason, lines.length])),
    rejected,
  };
}

function groupsOf(records: readonly MemoryRecord[]): readonly MemoryGroup[] {
  const groups = Map.groupBy(records.toSorted(byPlace), ({ kind, task, recommendation, family_id, fixture_category }) =>
    JSON.stringify([task, kind, family_id, fixture_category, recommendation]),
  );
  return [...groups.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const { kind, task, recommendation, family_id, fixture_category } = first;
    const confidence = same.reduce((sum, record) => sum + record.confidence, 0) / same.length;
    const words = { kind, task, recommendation, family_id, fixture_category };
    return [{ ...words, count: same.length, mean_confidence: roundHalfEven(confidence, 4) }];
  });
}

function effectsOf(records: readonly MemoryRecord[]): readonly MemoryEffect[] {
  const places = new Map(
    records
      .toSorted(byFamily)
      .map(({ family_id, fixture_category }) => [
        JSON.stringify([family_id, fixture_category]),
        { family_id, fixture_category },
      ]),
  );
  return MEMORY_TASKS.flatMap((task) =>
    [...places.values()].flatMap((place) => {
      const policy = priorPolicy(recallPriors(records, { tasks: [task], ...place }));
      const does = effectWords(policy);
      return does.length === 0 ? [] : [{ task, ...place, policy, does }];
    }),
  );
}

function byFamily(left: MemoryRecord, right: MemoryRecord): number {
  const { kind, task, recommendation } = left;
  return byPlace(left, { ...right, kind, task, recommendation });
}

function effectWords(policy: PriorPolicy): readonly string[] {
  return [
    ...(policy.output_schema === 'strict' ? ['replies are read by the strict schema'] : []),
    ...(policy.required_fact_fields.length > 0
      ? [`facts without ${policy.required_fact_fields.join(' and ')} are asked for again`]
      : []),
    ...(policy.refuse_chunk_only ? ['citations of a chunk without a fact are refused'] : []),
    ...(policy.retries_after_repair > 0 ? ['the parent is asked once more after a repaired handle'] : []),
    ...(policy.route_by_stability ? ['the synthesis goes to the family with the steadiest schema'] : []),
  ];
}
