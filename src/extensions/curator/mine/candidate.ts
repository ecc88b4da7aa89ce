// Owns a mined candidate: its fields, its id, its two safety flags (curator notes 7). Pure. Invariant: a candidate always needs a person
// and can never be applied by itself; building one that says otherwise is refused, and so is queueing one.
import { TalariaError } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import type { JsonObject } from '#base/json.ts';
import { comparePoints, cutPoints } from '#base/text/code-points.ts';

export const CANDIDATE_TYPES = ['memory', 'skill_update', 'skill_new', 'replay_benchmark', 'ignore'] as const;
export type CandidateType = (typeof CANDIDATE_TYPES)[number];

export interface Candidate {
  readonly id: string;
  readonly candidate_type: CandidateType;
  readonly title: string;
  /** One line of at most 140 characters. */
  readonly rationale: string;
  /** 0 to 1. */
  readonly confidence: number;
  readonly evidence_refs: readonly string[];
  readonly target_skill: string | null;
  readonly auto_apply_allowed: false;
  readonly requires_human_review: true;
  readonly metadata: JsonObject;
}

/** What a caller may say; the flags are there to be refused. */
export interface CandidateDraft {
  readonly candidate_type: CandidateType;
  readonly title: string;
  readonly rationale: string;
  readonly confidence: number;
  readonly evidence_refs: readonly string[];
  readonly target_skill: string | null;
  readonly metadata: JsonObject;
  readonly auto_apply_allowed?: boolean;
  readonly requires_human_review?: boolean;
}

const LONGEST_RATIONALE = 140;
/** UTF-16 units that are sure to hold more than the longest rationale. */
const ENOUGH = 400;

/** @throws TalariaError `unsafe-candidate` for a draft that asks to be applied, `invalid-candidate` for a confidence outside 0..1. */
export function createCandidate(draft: CandidateDraft): Candidate {
  refuseUnsafe(draft);
  const { candidate_type, title, evidence_refs } = draft;
  return {
    ...draft,
    id: candidateId(candidate_type, title, evidence_refs),
    rationale: cutPoints(draft.rationale.slice(0, ENOUGH).replaceAll('\n', ' '), LONGEST_RATIONALE),
    auto_apply_allowed: false,
    requires_human_review: true,
  };
}

/** Also for the queue, which trusts no one's candidate. */
export function refuseUnsafe(candidate: {
  readonly confidence: number;
  readonly auto_apply_allowed?: boolean;
  readonly requires_human_review?: boolean;
}): void {
  const { auto_apply_allowed: auto = false, requires_human_review: review = true, confidence } = candidate;
  if (auto !== false || review !== true) {
    throw new TalariaError('A candidate can never be applied by itself and always needs a person.', {
      code: 'unsafe-candidate',
    });
  }
  if (!(confidence >= 0 && confidence <= 1)) {
    throw new TalariaError('The confidence of a candidate is between 0 and 1.', { code: 'invalid-candidate' });
  }
}

/** First 32 hex digits of SHA-256 over type, title and sorted references. */
export function candidateId(type: string, title: string, refs: readonly string[]): string {
  return sha256(`${type}|${title}|${[...refs].sort(comparePoints).join(',')}`).slice(0, 32);
}
