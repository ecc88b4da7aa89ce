// Owns SlotCandidate: one way in which a slot may be filled at one place of a line.

export interface Candidate {
  /** Index of the first token after the slot. */
  readonly end: number;
  /** The owner's own words, or the name that they stand for. */
  readonly value: string;
  /** 0 to 1; multiplies the score of the fit. */
  readonly quality: number;
  readonly quoted?: boolean;
  /** A path by its spelling, its noun or a name that projects share: not just any word. */
  readonly sure?: boolean;
}
