// Owns what checking a committed artifact comes to. Shapes only.

export interface ArtifactReport {
  /** What was checked, in a few words. */
  readonly what: string;
  readonly problems: readonly ArtifactProblem[];
}

export interface ArtifactProblem {
  readonly code: string;
  readonly where: string;
  readonly detail: string;
}
