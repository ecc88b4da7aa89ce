/** One behavioural sentence of a seed or of a note that refines it. */
export interface Requirement {
  /** `core:*`, `curator:*`, `rlm:*`, or the numbered form of the hierarchy and hivemind notes. */
  readonly id: string;
  readonly source: string;
  readonly text: string;
  /** The milestone that brings it, when it is a later one. Such a row may not be cited yet. */
  readonly deferred?: string;
}
