// Owns a reranker without a model, for tests: the share of the query's word stems that a text has. Knows nothing of meaning.
// Invariant: the same pair gives the same score on every machine.
import { contentStems } from '#base/text/words.ts';
import type { Reranker } from '#core/model/embedders.ts';

export function createWordReranker(): Reranker {
  return {
    id: 'words/1',
    score: async (query, texts, signal) => {
      signal.throwIfAborted();
      const asked = new Set(contentStems(query));
      return texts.map((text) => {
        const held = new Set(contentStems(text));
        return [...asked].filter((stem) => held.has(stem)).length / Math.max(1, asked.size);
      });
    },
  };
}
