/**
 * Owns what recommendations do: schema strictness, retries, hints and the order of providers, decided here and not by a model (notes 5).
 * It does not know providers or prompts. Invariant: total on any priors; nothing in a policy touches a manifest, a claim or a verdict.
 * Serves seed 003: routing can specialize over time.
 */
import { type MemoryRecord, validateMemoryRecord } from './memory-record.ts';
import type { MemoryTask, Recommendation } from './memory-words.ts';
import type { MemoryPrior } from './recall-priors.ts';

export interface PriorPolicy {
  readonly output_schema: 'lenient' | 'strict';
  /** Fields every fact of a reply must carry; a reply without them is asked for again. */
  readonly required_fact_fields: readonly ('fact_id' | 'evidence_chunk_id')[];
  readonly refuse_chunk_only: boolean;
  /** How often the parent is asked again after a repaired handle. */
  readonly retries_after_repair: 0 | 1;
  readonly route_by_stability: boolean;
}

export function priorPolicy(priors: readonly MemoryPrior[]): PriorPolicy {
  const said = new Set<Recommendation>(priors.map((prior) => prior.recommendation));
  const wantsBoth = said.has('require_fact_id_and_evidence_chunk_id') || said.has('preserve_child_fact_identity');
  return {
    output_schema: said.has('prefer_strict_json_schema') ? 'strict' : 'lenient',
    required_fact_fields: wantsBoth ? ['fact_id', 'evidence_chunk_id'] : [],
    refuse_chunk_only: said.has('avoid_chunk_only_citations'),
    retries_after_repair: said.has('retry_once_after_missing_handle_repair') ? 1 : 0,
    route_by_stability: said.has('route_synthesis_to_schema_stable_provider'),
  };
}

const WEIGHT: Readonly<Partial<Record<MemoryRecord['kind'], number>>> = {
  provider_schema_stability: 1,
  missing_evidence_handle_seen: -1,
  schema_hint_needed: -1,
  repair_strategy_failed: -1,
};

export interface FamilyRanking {
  readonly records: readonly unknown[];
  readonly task: MemoryTask;
  readonly fixture_category?: string | null;
}

/**
 * The families in the order in which they should be asked: by the mean of what is remembered of their schema for the task, -1..1;
 * families of which nothing is remembered count 0, and equals keep their configured order.
 */
export function rankFamilies(
  families: readonly string[],
  { records, task, fixture_category }: FamilyRanking,
): readonly string[] {
  const seen = new Map<string, { sum: number; weight: number }>();
  for (const value of records) {
    const checked = validateMemoryRecord(value);
    if (!checked.ok) continue;
    const { record } = checked;
    const weight = WEIGHT[record.kind];
    if (weight === undefined || record.family_id === null || record.task !== task) continue;
    if (record.fixture_category !== null && record.fixture_category !== (fixture_category ?? null)) continue;
    const sums = seen.get(record.family_id) ?? { sum: 0, weight: 0 };
    seen.set(record.family_id, { sum: sums.sum + weight * record.confidence, weight: sums.weight + record.confidence });
  }
  const mean = (family: string) => meanOf(seen.get(family));
  return [...families].sort((left, right) => mean(right) - mean(left));
}

function meanOf(sums: { readonly sum: number; readonly weight: number } | undefined): number {
  return sums === undefined || sums.weight === 0 ? 0 : sums.sum / sums.weight;
}
