// Owns the record of what repair found and did, as plain data in the seed's spelling (notes 4). Knows no rule.
// The fields of the original's second parent call are kept, and say that there is none: a handle that is known needs no model.
import type { RejectionReason, Validation } from '../guard/parent-claim.ts';

export type RepairStrategy =
  | 'patch_missing_evidence_handle_fields'
  | 'not_attempted_initial_traceguard_accept'
  | 'not_attempted_non_exclusive_traceguard_rejection'
  | 'not_attempted_non_repairable_traceguard_rejection';

export type RepairFailure =
  | 'selected_chunk_coverage_failed'
  | 'missing_evidence_handle_unresolved'
  | 'mixed_traceguard_rejection_reasons'
  | 'mixed_traceguard_rejection_reasons_after_repair'
  | 'traceguard_repair_rejected'
  | 'repair_already_attempted'
  | RejectionReason;

/** One object of the parent that names facts without the chunk they rest on. */
export interface HandleReference {
  readonly fact_ids: readonly string[];
  readonly surface: string;
  readonly text: string;
  /** `result.retained_facts[1].evidence_chunk_id` */
  readonly path: string;
  /** The one chunk that the manifest admits and a child of this run reported; null when there is none, or more than one. */
  readonly allowed_evidence_chunk_id: string | null;
}

export interface HandleChange {
  readonly path: string;
  readonly before: 'absent' | 'null';
  readonly after: string;
}

export interface RepairBlock {
  /** Null when the synthesis that is returned is accepted. */
  readonly failure_reason: RepairFailure | null;
  readonly initial_accept: boolean;
  readonly repair_eligible: boolean;
  readonly repair_attempted: boolean;
  readonly initial_failure_reason: RepairFailure | null;
  readonly repair_strategy: RepairStrategy;
  /** Null when nothing was attempted. */
  readonly repair_accept: boolean | null;
  readonly repair_failure_reason: RepairFailure | null;
  readonly repair_runtime_error: null;
  readonly patch_fidelity_errors: readonly string[];
  readonly parent_synthesis_retry_attempted: false;
  readonly parent_synthesis_retry_accept: null;
  readonly parent_synthesis_retry_failure_reason: null;
  readonly parent_synthesis_retry_runtime_error: null;
  readonly parent_synthesis_retry_validation: null;
  readonly parent_synthesis_retry_patch_fidelity_errors: readonly string[];
  readonly subsequent_repair_attempted: false;
  readonly subsequent_repair_skip_reason: 'one_repair_attempt_per_synthesis' | null;
  readonly initial_rejection_reasons: readonly RejectionReason[];
  readonly initial_rejection_exclusive_missing_evidence_handle: boolean;
  readonly initial_rejection_exclusive_repairable_missing_evidence_handle: boolean;
  readonly missing_evidence_handle_resolution_pass: boolean;
  readonly missing_evidence_handle_references: readonly HandleReference[];
  readonly allowed_evidence_handle_set: readonly string[];
  readonly before_validation: Validation;
  readonly after_validation: Validation | null;
  readonly before_after_diff: readonly HandleChange[];
}
