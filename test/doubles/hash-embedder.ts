// Owns an embedder without a model, for tests: each word stem has a fixed direction, a text is the sum of its words.
// Knows nothing of meaning. Invariant: the same text gives the same vector on every machine.
import { contentStems } from '#base/text/words.ts';
import type { Embedder } from '#core/model/embedders.ts';

export interface HashEmbedderOptions {
  readonly dimensions?: number;
  /** Words that count as one, e.g. `[['car', 'automobile']]`: what a real model knows and words do not say. */
  readonly same?: readonly (readonly string[])[];
}

export function createHashEmbedder({ dimensions = 64, same = [] }: HashEmbedderOptions = {}): Embedder {
  const meanings = new Map(
    same.flatMap((words) => words.flatMap((word) => contentStems(word).map((stem) => [stem, words[0] ?? '']))),
  );
  const embedOne = (text: string): Float32Array => {
    const vector = new Float32Array(dimensions);
    for (const stem of contentStems(text)) addDirection(vector, meanings.get(stem) ?? stem);
    return normalized(vector);
  };
  return {
    id: `hash/${dimensions}`,
    dimensions,
    embed: async (texts, signal) => {
      signal.throwIfAborted();
      return texts.map(embedOne);
    },
  };
}

function addDirection(vector: Float32Array, word: string): void {
  let state = 2_166_136_261;
  for (let at = 0; at < word.length; at += 1) state = Math.imul(state ^ word.charCodeAt(at), 16_777_619);
  for (let at = 0; at < vector.length; at += 1) {
    state = Math.imul(state ^ (state >>> 15), 2_246_822_519) + at;
    vector[at] = (vector[at] ?? 0) + ((state >>> 8) % 2_001) / 1_000 - 1;
  }
}

function normalized(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}
