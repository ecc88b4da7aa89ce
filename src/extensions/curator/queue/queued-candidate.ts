// Owns a candidate as it waits in the queue, and its row (curator notes 7). Knows no database. Invariants: what is written is well formed;
// a row that says of itself that it may be applied is read as one that was tampered with, never as a candidate.
import { TalariaError } from '#base/errors.ts';
import { canonicalJson, isJsonObject, parseJson } from '#base/json.ts';
import { type Candidate, type CandidateType, refuseUnsafe } from '../mine/candidate.ts';

export const CANDIDATE_STATUSES = ['pending', 'accepted', 'rejected'] as const;
export type CandidateStatus = (typeof CANDIDATE_STATUSES)[number];

export interface QueuedCandidate extends Candidate {
  readonly status: CandidateStatus;
  /** UTC ISO, whole seconds, `+00:00`. */
  readonly created_at: string;
  readonly updated_at: string;
}

export interface CandidateRow {
  readonly id: string;
  readonly candidate_type: string;
  readonly title: string;
  readonly rationale: string;
  readonly confidence: number;
  readonly evidence_refs_json: string;
  readonly target_skill: string | null;
  readonly auto_apply_allowed: number;
  readonly requires_human_review: number;
  readonly metadata_json: string;
  readonly status: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/** @throws TalariaError as `refuseUnsafe`. */
export function rowOf(candidate: Candidate, at: string): CandidateRow {
  refuseUnsafe(candidate);
  const { evidence_refs, metadata, ...plain } = candidate;
  return {
    ...plain,
    title: candidate.title.toWellFormed(),
    rationale: candidate.rationale.toWellFormed(),
    target_skill: candidate.target_skill?.toWellFormed() ?? null,
    evidence_refs_json: JSON.stringify(evidence_refs.map((ref) => ref.toWellFormed())),
    metadata_json: canonicalJson(metadata).toWellFormed(),
    auto_apply_allowed: 0,
    requires_human_review: 1,
    status: 'pending',
    created_at: at,
    updated_at: at,
  };
}

/** @throws TalariaError `unsafe-candidate` for a row whose flags were changed by hand. */
export function candidateOf(row: CandidateRow): QueuedCandidate {
  const { evidence_refs_json, metadata_json, auto_apply_allowed, requires_human_review, ...plain } = row;
  if (auto_apply_allowed !== 0 || requires_human_review !== 1) {
    throw new TalariaError(`Candidate ${row.id} says that it needs no person: somebody changed its row.`, {
      code: 'unsafe-candidate',
      fix: 'Delete that row, or give the queue another file.',
    });
  }
  const [refs, metadata] = [evidence_refs_json, metadata_json].map((text) => parseJson(text));
  return {
    ...plain,
    candidate_type: row.candidate_type as CandidateType,
    status: row.status as CandidateStatus,
    evidence_refs: refs?.ok && Array.isArray(refs.value) ? refs.value.map(String) : [],
    metadata: metadata?.ok && isJsonObject(metadata.value) ? metadata.value : {},
    auto_apply_allowed: false,
    requires_human_review: true,
  };
}
