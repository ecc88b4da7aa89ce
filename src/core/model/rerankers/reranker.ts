// Owns the Reranker seam: a query and texts in, one score a text out. Implemented by local cross-encoders; absent when none is configured,
// and nothing may depend on one being there. Each implementation runs test/contract/reranker.contract.ts.

/**
 * Contract. `score` gives one finite number from 0 to 1 a text, in order, higher for what answers the query better; a text's score does not
 * depend on what else is in the call. It may be called many times, also at once; an empty list gives an empty list. It throws ModelError for
 * what the model did, and the signal's reason soon after an abort.
 */
export interface Reranker {
  /** Model and version: scores of two ids are never compared. */
  readonly id: string;
  score(query: string, texts: readonly string[], signal: AbortSignal): Promise<readonly number[]>;
}
