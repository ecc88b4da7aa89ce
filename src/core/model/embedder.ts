// Owns the Embedder seam: texts in, vectors out. Implemented by local engines and endpoints; absent when none is configured, and
// nothing may depend on one being there. Each implementation runs test/contract/embedder.contract.ts.

/**
 * Contract. `embed` gives one vector a text, in order, each with `dimensions` finite numbers and length 1 (or all zero for a text that
 * says nothing to it); equal texts give equal vectors, whatever else is in the call. It may be called many times, also at once; an empty
 * list gives an empty list. It throws ModelError for what an endpoint did, and the signal's reason soon after an abort.
 */
export interface Embedder {
  /** Model and version: vectors of two ids are never compared, and stored vectors of another id are made again. */
  readonly id: string;
  readonly dimensions: number;
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
}
