// Owns what a sentence says about its subject, as far as rules understand it. Data only.
import type { ClaimKind } from '../cues/cue.ts';

export interface Claim {
  readonly kind: ClaimKind;
  /** In the speaker's words; empty only when `isDenied`. */
  readonly object: string;
  /** No longer, or not at all: takes back what was said before. */
  readonly isDenied: boolean;
}
