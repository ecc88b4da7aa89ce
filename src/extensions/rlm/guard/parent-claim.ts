// Owns what the guard says of a parent synthesis, as plain data in the seed's spelling. Knows no rule.
// Seed 003, notes 2.3.

export interface ParentClaim {
  readonly fact_id: string | null;
  readonly chunk_id: string | null;
  /** Where it stands: `result.retained_facts`, `result`, `evidence_references`, …; of what is no claim the key that holds it. */
  readonly surface: string;
  /** The texts of the object, one a line. */
  readonly text: string;
}

export type RejectionReason =
  | 'chunk_handle_without_fact'
  | 'unsupported_fact_id'
  | 'missing_evidence_handle'
  | 'evidence_handle_mismatch'
  /** From here on strict mode only. */
  | 'evidence_text_mismatch'
  | 'claim_outside_schema'
  | 'missing_required_fact'
  | 'no_claims';

export interface RejectedClaim {
  readonly reason: RejectionReason;
  readonly claim: ParentClaim;
  /** One sentence that names what failed. */
  readonly detail: string;
}

export interface Validation {
  readonly accepted: boolean;
  /** Rejected over all, 0 to 1, four decimals; 0 when there is none. */
  readonly unsupported_claim_rate: number;
  readonly accepted_claims: readonly ParentClaim[];
  readonly rejected_claims: readonly RejectedClaim[];
  readonly allowed_fact_ids: readonly string[];
  readonly allowed_chunk_ids: readonly string[];
}

/** `strict` closes the original's holes (notes 2.5); `v1` is the original. */
export type GuardMode = 'strict' | 'v1';
