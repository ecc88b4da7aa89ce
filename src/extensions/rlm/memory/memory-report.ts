// Owns what a person is told of a memory file: what stands in it, and what it makes the code do. Pure. Knows no prompt and no run.
// Invariant: what is said of effects is computed by the same functions that runs use. Serves seed 003: memory is a prior over how to ask.
import { roundHalfEven } from '#base/round-half-even.ts';
import type { MemoryFile } from './memory-file.ts';
import { MEMORY_TASKS, type MemoryRecord } from './memory-record.ts';
import { byPlace, type PriorPolicy, priorPolicy, rankFamilies, recallPriors } from './priors.ts';

export function memoryReport({ records, rejected, rejected_count, passed_over }: MemoryFile) {
  const families = [...new Set(records.flatMap((record) => record.family_id ?? []))].sort();
  return {
    schema_version: 'talaria.rlm.memory_report.v1',
    record_count: records.length,
    rejected_count,
    passed_over,
    groups: groupsOf(records),
    effects: effectsOf(records),
    /** Families of which something is remembered, best first, for the synthesis. */
    family_order: rankFamilies(families, { records, task: 'synthesize_parent_answer_from_child_evidence' }),
    rejected,
  };
}

/** Equal but for outcome and time. */
function groupsOf(records: readonly MemoryRecord[]) {
  const groups = Map.groupBy(records.toSorted(byPlace), ({ kind, task, recommendation, family_id, fixture_category }) =>
    JSON.stringify({ task, kind, family_id, fixture_category, recommendation }),
  );
  return [...groups.values()].flatMap((same) =>
    same.slice(0, 1).map(({ kind, task, recommendation, family_id, fixture_category }) => {
      const confidence = same.reduce((sum, record) => sum + record.confidence, 0) / same.length;
      const mean_confidence = roundHalfEven(confidence, 4);
      return { kind, task, recommendation, family_id, fixture_category, count: same.length, mean_confidence };
    }),
  );
}

/** What is remembered of each family and category comes to, for each task. */
function effectsOf(records: readonly MemoryRecord[]) {
  const places = new Map(
    records.map(({ family_id, fixture_category }) => {
      const place = { family_id, fixture_category };
      return [JSON.stringify(place), place] as const;
    }),
  );
  const sorted = [...places.keys()].sort().flatMap((key) => places.get(key) ?? []);
  return MEMORY_TASKS.flatMap((task) =>
    sorted.flatMap((place) => {
      const policy = priorPolicy(recallPriors(records, { tasks: [task], ...place }));
      const does = effectWords(policy);
      return does.length === 0 ? [] : [{ task, ...place, policy, does }];
    }),
  );
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
