// Owns the plain data of the evidence gate: what is claimed, what it rests on, what the gate says. Knows no store, no message, no
// dialect: proposals, recursion and the fleet turn their own things into these. Invariant: readonly JSON data.
import type { Origin } from '#core/model/message.ts';

/** The words a claim is rested on, and where they are said to stand. */
export interface Citation {
  /** Handle of an evidence entry, e.g. `message:123`. */
  readonly handle: string;
  /**
   * Verbatim, white space and case folded when compared: two words, an identifier or a whole message. Empty: the tool call of that message,
   * which ended well.
   */
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
  /** Our record of a call that ended well. */
  readonly isRecord?: true;
}

/** A source that may be cited: a stored message, a child's output, a span of a file. */
export interface EvidenceEntry {
  readonly handle: string;
  readonly texts: readonly EvidenceText[];
}

/** What a kind of claim needs. */
export interface ClaimPolicy {
  /** At least one citation must stand in a text of one of these origins; only such texts carry hard values. */
  readonly origins: readonly Origin[];
  /** Texts whose hard values need no citation: what the change replaces; for steps of a skill, every call that ended well. */
  readonly known?: readonly string[];
  /** What own commands printed: numbers and names of errors may come from there, no place and no command. */
  readonly printed?: readonly string[];
}

export type ClaimRefusalReason =
  | 'no-citation'
  | 'unknown-handle'
  | 'quote-too-short'
  | 'quote-not-found'
  /** It rests on words that may not speak for it: it waits for the owner. */
  | 'origin-not-allowed'
  /** A number, path or other hard value occurs in nothing that is cited: it waits. */
  | 'value-not-cited'
  /** Most of its words stand in what the owner did not write, and not in what he did: it waits. */
  | 'foreign-words';

/** What waits for the owner instead of being refused. */
export const WAITING_REASONS: ReadonlySet<string> = new Set(['origin-not-allowed', 'value-not-cited', 'foreign-words']);
