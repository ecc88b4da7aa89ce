// Owns the Verifier seam: a last word on a skill that was just written, before the write counts. Knows no verifier; the list is empty by default.

export interface VerifierRequest {
  /** Absolute folder of the skill as it stands now. */
  readonly path: string;
  /** SKILL.md before and after; null: there was or is none. */
  readonly before: string | null;
  readonly after: string | null;
}

export interface VerifierResult {
  readonly passed: boolean;
  /** What was found; at most the last 4,000 characters are kept. */
  readonly detail: string;
}

/** Contract: writes nothing below the skill's folder, ends by itself, throws only for bugs (the write is then taken back). */
export interface Verifier {
  readonly name: string;
  verify(request: VerifierRequest): Promise<VerifierResult>;
}
