// Owns the Verifier seam: a last word on a skill that was just written, before the write counts. Knows no verifier; the list is empty by default.

export interface VerifierRequest {
  /** Absolute folder of the skill as it stands now. */
  readonly path: string;
  /** SKILL.md before and after; null: there was or is none. */
  readonly before: string | null;
  readonly after: string | null;
  /** Absolute, of the backup that the change would be undone from; null: there was nothing before. */
  readonly backupPath: string | null;
  readonly manifestPath: string;
  /** SHA-256 hex of SKILL.md before and after. */
  readonly originalHash: string | null;
  readonly newHash: string | null;
}

export interface VerifierResult {
  readonly passed: boolean;
  /** What was found; at most the last 4,000 characters are kept. */
  readonly detail: string;
  /** Of the command that was run; default 0 or 1. */
  readonly exitCode?: number;
}

/** What all verifiers of one write said, as the manifest keeps it (curator notes 11.3). A type, so that it counts as JSON. */
export type VerifyReport = {
  readonly enabled: boolean;
  /** null: not asked yet. */
  readonly passed: boolean | null;
  readonly exit_code: number;
  /** Of the stage that failed, else of the last one. */
  readonly output: string;
  readonly staged?: boolean;
  readonly stages?: readonly {
    readonly name: string;
    readonly passed: boolean;
    readonly exit_code: number;
    readonly output: string;
  }[];
  readonly failed_stage?: string;
};

/**
 * Contract: writes nothing below the skill's folder (a write after which it is not what was put in place is taken back), ends by itself,
 * throws only for bugs (the write is then taken back).
 */
export interface Verifier {
  readonly name: string;
  verify(request: VerifierRequest): Promise<VerifierResult>;
}
