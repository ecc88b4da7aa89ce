// Owns what a finished run teaches operational memory (notes 5): how schema, handles and repair behaved, never what was answered. It does not write;
// times come in. Invariant: each observation passes the guard of records, and a verdict without a checked claim teaches nothing. Serves seed 003:
// TraceGuard rejection patterns can drive retry prompts or stricter child schemas.
import {
  judgeRecords,
  type MemoryKind,
  type MemoryTask,
  type ReadMemory,
  type Recommendation,
} from './memory-record.ts';

export interface ObservedCell {
  readonly family_id: string | null;
  readonly fixture_category: string | null;
  readonly initial: {
    readonly accepted: boolean;
    readonly accepted_claims: number;
    readonly reasons: readonly string[];
  };
  /** Whether the repair was accepted; null: none was tried. */
  readonly repair_accepted: boolean | null;
  /** Of the whole cell, when it was measured. */
  readonly latency_seconds?: number;
  /** ISO time. */
  readonly created_at: string;
}

type Lesson = readonly [kind: MemoryKind, task: MemoryTask, recommendation: Recommendation, outcome: string];

const SYNTHESIS: MemoryTask = 'synthesize_parent_answer_from_child_evidence';
const STABLE: Lesson = ['provider_schema_stability', SYNTHESIS, 'preserve_child_fact_identity', 'traceguard_accept'];
const NO_HANDLE: Lesson = [
  'missing_evidence_handle_seen',
  SYNTHESIS,
  'require_fact_id_and_evidence_chunk_id',
  'missing_evidence_handle',
];
const CHUNK_ONLY: Lesson = ['schema_hint_needed', SYNTHESIS, 'avoid_chunk_only_citations', 'chunk_handle_without_fact'];
const NO_SCHEMA: Lesson = ['schema_hint_needed', SYNTHESIS, 'prefer_strict_json_schema', 'claims_not_in_schema'];
const REPAIRED: Lesson = [
  'repair_strategy_succeeded',
  'parent_synthesis_retry',
  'retry_once_after_missing_handle_repair',
  'repair_accepted',
];
const UNREPAIRED: Lesson = [
  'repair_strategy_failed',
  SYNTHESIS,
  'route_synthesis_to_schema_stable_provider',
  'repair_refused',
];

export function observeCell(cell: ObservedCell): ReadMemory {
  const { family_id, fixture_category, created_at } = cell;
  const place = { family_id, fixture_category, created_at, confidence: 1 };
  return judgeRecords(
    lessonsOf(cell).map(([kind, task, recommendation, outcome]) => ({ kind, task, recommendation, outcome, ...place })),
  );
}

function lessonsOf({ initial, repair_accepted, latency_seconds: seconds = -1 }: ObservedCell): readonly Lesson[] {
  const { accepted, accepted_claims, reasons } = initial;
  const refusedFor = (...some: readonly string[]) => !accepted && some.some((reason) => reasons.includes(reason));
  const bucket = seconds < 60 ? 'under_60s' : seconds < 180 ? '60s_to_180s' : '180s_or_more';
  return [
    // The original learned its first "stable schema" from a reply in which nothing at all had been checked.
    ...(accepted && accepted_claims > 0 ? [STABLE] : []),
    ...(refusedFor('missing_evidence_handle') ? [NO_HANDLE] : []),
    ...(refusedFor('chunk_handle_without_fact') ? [CHUNK_ONLY] : []),
    ...(refusedFor('no_claims', 'claim_outside_schema') ? [NO_SCHEMA] : []),
    ...(repair_accepted === null ? [] : [repair_accepted ? REPAIRED : UNREPAIRED]),
    ...(seconds >= 0
      ? [['latency_bucket', SYNTHESIS, 'record_latency_without_quality_claim', bucket] satisfies Lesson]
      : []),
  ];
}
