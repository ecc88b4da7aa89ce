// Owns finding evidence by fact and chunk. Knows no claim and no reason.
// Invariant: `v1` sees one chunk a fact, the last; strict sees every pair, and the texts of each.

import { EvidenceWords } from './evidence-words.ts';
import type { Manifest, ManifestEntry } from './manifest.ts';

export class ManifestIndex {
  readonly manifest: Manifest;
  /** In the order of the entries, each once. */
  readonly factIds: readonly string[];
  readonly chunkIds: readonly string[];
  readonly #lastChunk = new Map<string, string>();
  #pairs: ReadonlyMap<string, ReadonlyMap<string, readonly EvidenceWords[]>> | undefined;

  constructor(manifest: Manifest) {
    this.manifest = manifest;
    for (const { fact_id, chunk_id } of manifest.entries) this.#lastChunk.set(fact_id, chunk_id);
    this.factIds = [...this.#lastChunk.keys()];
    this.chunkIds = [...new Set(manifest.entries.map(({ chunk_id }) => chunk_id))];
  }

  /** The one chunk that `v1` admits for a fact. */
  lastChunk(factId: string): string | undefined {
    return this.#lastChunk.get(factId);
  }

  /** Chunk → what the evidence for the fact says there. */
  chunksOf(factId: string): ReadonlyMap<string, readonly EvidenceWords[]> | undefined {
    this.#pairs ??= pairsOf(this.manifest.entries);
    return this.#pairs.get(factId);
  }

  /** Does any evidence say these words, or are they the name of a fact or a chunk? */
  isSaidAnywhere(text: string): boolean {
    if (this.#lastChunk.has(text) || this.chunkIds.includes(text)) return true;
    return this.factIds.some((fact) => [...(this.chunksOf(fact)?.values() ?? [])].flat().some((one) => one.says(text)));
  }
}

function pairsOf(
  entries: readonly ManifestEntry[],
): ReadonlyMap<string, ReadonlyMap<string, readonly EvidenceWords[]>> {
  const pairs = new Map<string, Map<string, EvidenceWords[]>>();
  for (const { fact_id, chunk_id, text } of entries) {
    const chunks = pairs.get(fact_id) ?? new Map<string, EvidenceWords[]>();
    pairs.set(fact_id, chunks.set(chunk_id, [...(chunks.get(chunk_id) ?? []), new EvidenceWords(fact_id, text)]));
  }
  return pairs;
}
