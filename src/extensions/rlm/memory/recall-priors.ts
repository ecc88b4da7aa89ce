/**
 * Owns which remembered observations are priors for the calls that come (notes 5): by task, family and category.
 * It does not know prompts. Invariant: total on any list (what is no sound record is no prior), order independent of the input's,
 * and the answer holds no text beyond the listed words and the caller's own family and category. Serves seed 003, memory.
 */
import { type MemoryRecord, validateMemoryRecord } from './memory-record.ts';

export type MemoryPrior = Omit<MemoryRecord, 'outcome' | 'created_at'>;

export interface RecallQuery {
  readonly tasks: readonly string[];
  /** Absent or null: only what holds for any family. */
  readonly family_id?: string | null;
  readonly fixture_category?: string | null;
}

/** All that match, sorted by task, kind, family, category and recommendation; nothing is merged, aged or cut. */
export function recallPriors(records: readonly unknown[], query: RecallQuery): readonly MemoryPrior[] {
  return records
    .flatMap((value) => {
      const checked = validateMemoryRecord(value);
      return checked.ok && matches(checked.record, query) ? [priorOf(checked.record)] : [];
    })
    .sort(byPlace);
}

function matches(record: MemoryRecord, { tasks, family_id, fixture_category }: RecallQuery): boolean {
  return (
    tasks.includes(record.task) &&
    (record.family_id === null || record.family_id === family_id) &&
    (record.fixture_category === null || record.fixture_category === fixture_category)
  );
}

function priorOf({ kind, task, recommendation, family_id, fixture_category, confidence }: MemoryRecord): MemoryPrior {
  return { kind, task, recommendation, family_id, fixture_category, confidence };
}

/** The order in which memory is listed and told: task, kind, family (any first), category, recommendation. */
export function byPlace(left: MemoryPrior, right: MemoryPrior): number {
  for (const key of ['task', 'kind', 'family_id', 'fixture_category', 'recommendation'] as const) {
    const [one, other] = [left[key] ?? '', right[key] ?? ''];
    if (one !== other) return one < other ? -1 : 1;
  }
  return left.confidence - right.confidence;
}
