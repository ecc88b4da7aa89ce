// Owns the runtime benefit bench (notes 11): 20 fixtures, four providers, three memories. The provider is a rule (what it is prone to, and
// which policy stops that); policy, guard and repair are the real ones. Invariant: rows stand in the order fixture, provider, memory.
import type { GuardMode } from '../../guard/parent-claim.ts';
import { validateMemoryRecord } from '../../memory/memory-record.ts';
import { type PriorPolicy, priorPolicy } from '../../memory/prior-policy.ts';
import { recallPriors } from '../../memory/recall-priors.ts';
import { type JudgedParent, judgeParent } from './judge-parent.ts';
import { memoryFixtures, type ParentShape } from './memory-fixture.ts';
import { memoryRates } from './memory-rates.ts';

const CATEGORIES = [
  'simple_truncation',
  'distractor_heavy',
  'cross_chunk_dependency',
  'omitted_fact_temptation',
  'chunk_only_citation_trap',
];
const PROFILES = ['schema_stable', 'missing_handle_prone', 'chunk_only_prone', 'answer_memory_contaminated'] as const;
const POLICIES = ['no_memory', 'guarded_operational_memory_prior', 'unsafe_answer_memory_prior'] as const;
type Profile = (typeof PROFILES)[number];
type Memory = (typeof POLICIES)[number];

const TASK = 'synthesize_parent_answer_from_child_evidence';
const LESSONS: readonly object[] = [
  { kind: 'missing_evidence_handle_seen', task: TASK, recommendation: 'require_fact_id_and_evidence_chunk_id' },
  { kind: 'schema_hint_needed', task: TASK, recommendation: 'avoid_chunk_only_citations' },
];
/** What an unguarded memory would hand on. */
const ANSWER = {
  kind: 'schema_hint_needed',
  task: TASK,
  recommendation: 'prefer_strict_json_schema',
  outcome: 'FACT:MEMORY-ANSWER-001 what memory says',
};

export interface BenefitRow extends JudgedParent {
  readonly fixture_id: string;
  readonly category: string;
  readonly profile: Profile;
  readonly policy: Memory;
}

export function runtimeBenefit(mode: GuardMode) {
  const fixtures = memoryFixtures({ letters: 'MR', categories: CATEGORIES, each: 4, facts: 4 });
  const guarded = priorPolicy(recallPriors(LESSONS, { tasks: [TASK] }));
  const rows = fixtures.flatMap((fixture) =>
    PROFILES.flatMap((profile) =>
      POLICIES.map((policy): BenefitRow => {
        const shape = shapeOf(profile, policy, guarded);
        const { fixture_id, category } = fixture;
        return { fixture_id, category, profile, policy, ...judgeParent(fixture, shape, mode) };
      }),
    ),
  );
  const of = (test: (row: BenefitRow) => boolean) => memoryRates(rows.filter(test));
  return {
    schema_version: 'talaria.rlm.memory_runtime_benefit.v1',
    fixture_count: fixtures.length,
    evaluation_count: rows.length,
    /** Whether the door of records lets the answer in that `unsafe_answer_memory_prior` assumes to be in the prompt. */
    answer_record_accepted: validateMemoryRecord(ANSWER).ok,
    policy_summary: POLICIES.map((policy) => ({ policy, ...of((row) => row.policy === policy) })),
    profile_summary: POLICIES.flatMap((policy) =>
      PROFILES.map((profile) => ({
        policy,
        profile,
        ...of((row) => row.policy === policy && row.profile === profile),
      })),
    ),
    evaluations: rows,
  };
}

/** The assumption of the bench: what a provider is prone to stops where a policy of the code rules it out. */
function shapeOf(profile: Profile, memory: Memory, guarded: PriorPolicy): ParentShape {
  if (memory === 'unsafe_answer_memory_prior') return 'memory_answer';
  const policy = memory === 'no_memory' ? priorPolicy([]) : guarded;
  if (profile === 'missing_handle_prone' && !policy.required_fact_fields.includes('evidence_chunk_id'))
    return 'missing_handle';
  if (profile === 'chunk_only_prone' && !policy.refuse_chunk_only) return 'chunk_only';
  return profile === 'answer_memory_contaminated' && memory === 'no_memory' ? 'memory_answer' : 'safe';
}
