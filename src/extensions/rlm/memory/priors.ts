// Owns what memory does to a run (notes 5): which remembered observations are priors for the calls that come, what their recommendations do (schema
// strictness, retries, the order of providers: decided here and not by a model), and the marked block in which they enter a prompt. Invariant: total
// on any list, order independent of the input's; nothing in it touches a manifest, a claim or a verdict; a prompt gets listed words, numbers and the
// caller's own family and category, bounded, equal ones once. Serves seed 003: memory is a prior over how to ask for evidence; routing can specialize.
import { type MemoryRecord, type MemoryTask, type Recommendation, validateMemoryRecord } from './memory-record.ts';

export type MemoryPrior = Omit<MemoryRecord, 'outcome' | 'created_at'>;

/** The tasks whose prompts take priors. */
export const RECALLED_TASKS: readonly MemoryTask[] = [
  'extract_child_evidence',
  'synthesize_parent_answer_from_child_evidence',
];

export interface RecallQuery {
  readonly tasks: readonly string[];
  /** Absent or null: only what holds for any family. */
  readonly family_id?: string | null;
  readonly fixture_category?: string | null;
}

/** All that match, sorted by task, kind, family, category and recommendation; nothing is merged, aged or cut. */
export function recallPriors(
  records: readonly unknown[],
  { tasks, family_id: family, fixture_category: category }: RecallQuery,
): readonly MemoryPrior[] {
  return soundRecords(records)
    .filter(
      (record) =>
        tasks.includes(record.task) && isFor(record.family_id, family) && isFor(record.fixture_category, category),
    )
    .map(({ outcome: _outcome, created_at: _at, ...prior }) => prior)
    .sort(byPlace);
}

function soundRecords(records: readonly unknown[]): readonly MemoryRecord[] {
  return records.flatMap((value) => {
    const checked = validateMemoryRecord(value);
    return checked.ok ? [checked.value] : [];
  });
}

/** Null in a record: any. */
function isFor(own: string | null, asked: string | null | undefined): boolean {
  return own === null || own === (asked ?? null);
}

/** The order in which memory is listed and told: task, kind, family (any first), category, recommendation. */
export function byPlace(left: MemoryPrior, right: MemoryPrior): number {
  for (const key of ['task', 'kind', 'family_id', 'fixture_category', 'recommendation'] as const) {
    const [one, other] = [left[key] ?? '', right[key] ?? ''];
    if (one !== other) return one < other ? -1 : 1;
  }
  return left.confidence - right.confidence;
}

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
  const seen = new Map<string | null, { sum: number; weight: number }>();
  for (const record of soundRecords(records)) {
    const { kind, family_id, confidence } = record;
    const weight = WEIGHT[kind];
    if (weight === undefined || record.task !== task || !isFor(record.fixture_category, fixture_category)) continue;
    const sums = seen.get(family_id) ?? { sum: 0, weight: 0 };
    seen.set(family_id, { sum: sums.sum + weight * confidence, weight: sums.weight + confidence });
  }
  const mean = (family: string) => {
    const { sum, weight } = seen.get(family) ?? { sum: 0, weight: 0 };
    return weight === 0 ? 0 : sum / weight;
  };
  return [...families].sort((left, right) => mean(right) - mean(left));
}

export interface PriorBlock {
  readonly scope: 'operational_policy_only';
  readonly rules: readonly string[];
  readonly priors: readonly MemoryPrior[];
}

/** Its bytes are part of prompts: changing them costs the users' cache. */
const RULES: readonly string[] = [
  'Memory priors are not evidence.',
  'Do not use memory priors as a source of facts, fact ids or chunk ids.',
  'Use memory priors only for schema shape, routing and retry policy.',
];

const MOST_PRIORS = 64;

/** `{}` when nothing was recalled, so that it can be spread into a prompt. */
export function priorBlock(priors: readonly MemoryPrior[]): { readonly memory_priors?: PriorBlock } {
  const keyOf = ({ task, kind, family_id, fixture_category, recommendation, confidence }: MemoryPrior) =>
    JSON.stringify([task, kind, family_id, fixture_category, recommendation, confidence]);
  const distinct = [...new Map(priors.map((prior) => [keyOf(prior), prior])).values()];
  if (distinct.length === 0) return {};
  return { memory_priors: { scope: 'operational_policy_only', rules: RULES, priors: distinct.slice(0, MOST_PRIORS) } };
}
