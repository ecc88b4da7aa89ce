/**
 * Owns what a finished run teaches operational memory (notes 5): how schema, handles and repair behaved, never what was answered.
 * It does not write; times come in. Invariant: each observation passes the guard of records, and a verdict without a checked claim
 * teaches nothing. Serves seed 003: TraceGuard rejection patterns can drive retry prompts or stricter child schemas.
 */
import { type MemoryRecord, validateMemoryRecord } from './memory-record.ts';
import type { MemoryKind, MemoryTask, Recommendation } from './memory-words.ts';
import type { ReadMemory, RejectedLine } from './read-memory.ts';

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

export function observeCell(cell: ObservedCell): ReadMemory {
  const records: MemoryRecord[] = [];
  const rejected: RejectedLine[] = [];
  for (const [index, [kind, task, recommendation, outcome]] of lessonsOf(cell).entries()) {
    const { family_id, fixture_category, created_at } = cell;
    const words = { kind, task, recommendation, outcome, confidence: 1 };
    const checked = validateMemoryRecord({ ...words, family_id, fixture_category, created_at });
    if (checked.ok) records.push(checked.record);
    else rejected.push({ line: index + 1, reason: checked.reason, detail: checked.detail });
  }
  return { records, rejected };
}

function lessonsOf(cell: ObservedCell): readonly Lesson[] {
  return [
    ...initialLessons(cell.initial),
    ...repairLessons(cell.repair_accepted),
    ...latencyLessons(cell.latency_seconds),
  ];
}

function initialLessons({ accepted, accepted_claims, reasons }: ObservedCell['initial']): readonly Lesson[] {
  // The original learned its first "stable schema" from a reply in which nothing at all had been checked.
  if (accepted) {
    return accepted_claims > 0
      ? [['provider_schema_stability', SYNTHESIS, 'preserve_child_fact_identity', 'traceguard_accept']]
      : [];
  }
  const lessons: Lesson[] = [];
  if (reasons.includes('missing_evidence_handle')) {
    lessons.push([
      'missing_evidence_handle_seen',
      SYNTHESIS,
      'require_fact_id_and_evidence_chunk_id',
      'missing_evidence_handle',
    ]);
  }
  if (reasons.includes('chunk_handle_without_fact')) {
    lessons.push(['schema_hint_needed', SYNTHESIS, 'avoid_chunk_only_citations', 'chunk_handle_without_fact']);
  }
  if (reasons.includes('no_claims') || reasons.includes('claim_outside_schema')) {
    lessons.push(['schema_hint_needed', SYNTHESIS, 'prefer_strict_json_schema', 'claims_not_in_schema']);
  }
  return lessons;
}

function repairLessons(accepted: boolean | null): readonly Lesson[] {
  if (accepted === null) return [];
  return accepted
    ? [
        [
          'repair_strategy_succeeded',
          'parent_synthesis_retry',
          'retry_once_after_missing_handle_repair',
          'repair_accepted',
        ],
      ]
    : [['repair_strategy_failed', SYNTHESIS, 'route_synthesis_to_schema_stable_provider', 'repair_refused']];
}

function latencyLessons(seconds: number | undefined): readonly Lesson[] {
  if (seconds === undefined || !(seconds >= 0)) return [];
  const bucket = seconds < 60 ? 'under_60s' : seconds < 180 ? '60s_to_180s' : '180s_or_more';
  return [['latency_bucket', SYNTHESIS, 'record_latency_without_quality_claim', bucket]];
}
