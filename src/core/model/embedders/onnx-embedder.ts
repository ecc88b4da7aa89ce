// Owns the Embedder of a local ONNX model, such as the seed's Qwen3 embedding model (seed 002, candidates). Knows no ranking.
// Invariants: one text a batch; vectors have length 1; a text that says nothing costs nothing.

import type { Embedder } from '../embedder.ts';
import { ModelError } from '../model-client.ts';
import { type OnnxModel, type OnnxModelFiles, openOnnxModel } from '../onnx/open-onnx-model.ts';
import { type Pooling, poolVector } from '../onnx/pool-vector.ts';

export interface OnnxEmbedderOptions {
  readonly id: string;
  readonly pooling: Pooling;
  readonly files: OnnxModelFiles;
}

export interface OnnxEmbedder extends Embedder {
  /** Frees the model's memory; nothing may be asked afterwards. */
  close(): Promise<void>;
}

/** Loads the model and tries it on a word, which tells its dimensions. Throws ModelError. */
export async function openOnnxEmbedder(options: OnnxEmbedderOptions, signal: AbortSignal): Promise<OnnxEmbedder> {
  const model = await openOnnxModel(options.files, 'AutoModel', signal);
  try {
    const dimensions = (await vectorOf(model, { text: 'skill', options }, signal)).length;
    return {
      id: `onnx/${options.id}`,
      dimensions,
      async embed(texts, asked) {
        asked.throwIfAborted();
        const vectors: Float32Array[] = [];
        for (const text of texts) {
          const says = text.trim() !== '';
          vectors.push(says ? await vectorOf(model, { text, options }, asked) : new Float32Array(dimensions));
        }
        return vectors;
      },
      close: () => model.close(),
    };
  } catch (error) {
    await model.close();
    throw error;
  }
}

async function vectorOf(
  model: OnnxModel,
  { text, options }: { readonly text: string; readonly options: OnnxEmbedderOptions },
  signal: AbortSignal,
): Promise<Float32Array> {
  const { inputs, outputs } = await model.run([text], signal);
  const hidden = outputs.sentence_embedding ?? outputs.last_hidden_state ?? Object.values(outputs)[0];
  const vector = hidden && poolVector(hidden, inputs.attention_mask, options.pooling);
  if (vector) return vector;
  throw new ModelError(`${options.id} gave no vector`, {
    code: 'model-bad-response',
    fix: 'Check that it is an embedding model.',
  });
}
