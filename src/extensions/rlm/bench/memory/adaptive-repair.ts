// Owns the adaptive repair bench (notes 11): eight tasks one after the other, a provider that leaves handles out, and what a lesson changes.
// Real: observing, the door of records, recall, policy, guard, repair. Assumed: a provider that is asked for handles by schema gives them.
import type { GuardMode } from '../../guard/parent-claim.ts';
import type { MemoryRecord } from '../../memory/memory-record.ts';
import { observeCell } from '../../memory/observe-cell.ts';
import { priorPolicy } from '../../memory/prior-policy.ts';
import { recallPriors } from '../../memory/recall-priors.ts';
import { contaminationFixtures } from './contamination.ts';
import { type JudgedParent, judgeParent } from './judge-parent.ts';
import type { MemoryFixture } from './memory-fixture.ts';
import { memoryRates } from './memory-rates.ts';

/** `adaptive_by_category`: ours; a lesson holds for its category alone, as a run writes it. */
const POLICIES = ['no_memory', 'adaptive', 'adaptive_by_category'] as const;
type Policy = (typeof POLICIES)[number];
const TASK = 'synthesize_parent_answer_from_child_evidence';
const FAMILY = 'scripted';

export interface AdaptiveRow extends JudgedParent {
  readonly fixture_id: string;
  readonly category: string;
  readonly policy: Policy;
  readonly priors: number;
}

export function adaptiveRepair(mode: GuardMode) {
  const tasks = firstTwoOfEach(contaminationFixtures());
  const rows = POLICIES.flatMap((policy) => runPolicy(tasks, policy, mode));
  return {
    schema_version: 'talaria.rlm.memory_adaptive_repair.v1',
    task_count: tasks.length,
    evaluation_count: rows.length,
    policy_summary: POLICIES.map((policy) => ({
      policy,
      ...memoryRates(rows.filter((row) => row.policy === policy)),
    })),
    evaluations: rows,
  };
}

function firstTwoOfEach(fixtures: readonly MemoryFixture[]): readonly MemoryFixture[] {
  return [...Map.groupBy(fixtures, ({ category }) => category).values()].flatMap((group) => group.slice(0, 2));
}

function runPolicy(tasks: readonly MemoryFixture[], policy: Policy, mode: GuardMode): readonly AdaptiveRow[] {
  let memory: readonly MemoryRecord[] = [];
  return tasks.map((fixture): AdaptiveRow => {
    const { fixture_id, category } = fixture;
    const place = { family_id: FAMILY, fixture_category: category };
    const priors = recallPriors(memory, { tasks: [TASK], ...place });
    const asksForHandles = priorPolicy(priors).required_fact_fields.includes('evidence_chunk_id');
    const judged = judgeParent(fixture, asksForHandles ? 'safe' : 'missing_handle', mode);
    if (policy !== 'no_memory') memory = [...memory, ...lessons(judged, policy === 'adaptive' ? null : category)];
    return { fixture_id, category, policy, priors: priors.length, ...judged };
  });
}

function lessons(judged: JudgedParent, fixture_category: string | null): readonly MemoryRecord[] {
  return observeCell({
    family_id: FAMILY,
    fixture_category,
    initial: {
      accepted: judged.initial_accept,
      accepted_claims: judged.initial_accept ? 1 : 0,
      reasons: judged.reasons,
    },
    repair_accepted: judged.repairs === 1 ? judged.final_accept : null,
    created_at: '2026-01-01T00:00:00Z',
  }).records.filter(({ kind }) => kind !== 'provider_schema_stability');
}
