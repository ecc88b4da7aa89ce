// Owns the plain data of the evidence gate: what is claimed, what it rests on, what the gate says. Knows no store, no message, no
// dialect: proposals, recursion and the fleet turn their own things into these. Invariant: readonly JSON data.
import type { Origin } from '#core/model/message.ts';

/** The words a claim is rested on, and where they are said to stand. */
export interface Citation {
  /** Handle of an evidence entry, e.g. `message:123`. */
  readonly handle: string;
  /** Verbatim, white space and case folded when compared; three words or an identifier at least. */
  readonly quote: string;
}

export interface Claim {
  /** Unique within one check. */
  readonly id: string;
  /** What would be kept. */
  readonly text: string;
  readonly citations: readonly Citation[];
}

/** One piece of a source, all of one origin. */
export interface EvidenceText {
  readonly text: string;
  readonly origin: Origin;
}

/** A source that may be cited: a stored message, a child's output, a span of a file. */
export interface EvidenceEntry {
  readonly handle: string;
  readonly texts: readonly EvidenceText[];
}

/** What a kind of claim needs. */
export interface ClaimPolicy {
  /** At least one quote must stand in a text of one of these origins, and such texts of the cited entries alone must support the claim. */
  readonly origins: readonly Origin[];
  /** Words a quote needs, unless it is an identifier. */
  readonly minQuoteWords: number;
  /**
   * Share of the claim's content words (stemmed) that the cited texts must hold; numbers, paths, identifiers, URLs and names: all. What is
   * denied must be denied there too.
   */
  readonly minSupport: number;
}

export type ClaimRefusalReason =
  | 'no-citation'
  | 'unknown-handle'
  | 'quote-too-short'
  | 'quote-not-found'
  /** The text is supported, but only by origins that the policy does not take: it waits for the owner. */
  | 'origin-not-allowed'
  | 'evidence_text_mismatch';

export type ClaimVerdict =
  | { readonly claim: Claim; readonly accepted: true }
  | {
      readonly claim: Claim;
      readonly accepted: false;
      readonly reason: ClaimRefusalReason;
      /** One sentence that names the handle, quote or word that failed. */
      readonly detail: string;
    };
