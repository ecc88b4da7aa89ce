// Owns the evidence that a parent may cite, as plain data: one entry for each fact that a child reported. Knows no verdict.
// Seed 003, notes 2.1: "fresh child evidence + fact_id + evidence_chunk_id".

export interface ManifestEntry {
  readonly fact_id: string;
  readonly chunk_id: string;
  /** What the child said, or the line that it read; may begin with `FACT:<id> `. */
  readonly text: string;
  readonly child_call_id: string | null;
}

export interface Manifest {
  /** In the order given; of entries for one fact the last counts in `v1`, all of them in strict mode. */
  readonly entries: readonly ManifestEntry[];
  /** Facts that a parent must name; strict mode only. */
  readonly required: readonly string[];
}

/** What may stand where a manifest is asked for: one that was built, or the entries as they are. */
export type ManifestInput = Manifest | EntriesInput | readonly unknown[];

export interface EntriesInput {
  readonly entries: readonly unknown[];
  readonly required?: readonly string[];
}

/** Of a fixture (notes 6.1 and 10.1) only this is read. */
export interface FixtureInput {
  readonly expected_retained_facts?: unknown;
}
