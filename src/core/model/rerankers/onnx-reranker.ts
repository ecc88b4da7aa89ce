// Owns the Reranker of a local ONNX cross-encoder, such as the seed's bge reranker (seed 002, candidates). Knows no ranking.
// Invariants: one pair a batch; the score is the logistic of the model's one number.
import { ModelError } from '../model-client.ts';
import { type OnnxModel, type OnnxModelFiles, openOnnxModel } from '../onnx/open-onnx-model.ts';
import type { Reranker } from './reranker.ts';

export interface OnnxRerankerOptions {
  readonly id: string;
  readonly files: OnnxModelFiles;
}

export interface OnnxReranker extends Reranker {
  /** Frees the model's memory; nothing may be asked afterwards. */
  close(): Promise<void>;
}

/** Loads the model and tries it on a pair. Throws ModelError. */
export async function openOnnxReranker({ id, files }: OnnxRerankerOptions, signal: AbortSignal): Promise<OnnxReranker> {
  const model = await openOnnxModel(files, 'AutoModelForSequenceClassification', signal);
  try {
    await scoreOf(model, { id, pair: ['skill', 'skill'] }, signal);
    return {
      id: `onnx/${id}`,
      async score(query, texts, asked) {
        asked.throwIfAborted();
        const scores: number[] = [];
        for (const text of texts) scores.push(await scoreOf(model, { id, pair: [query, text] }, asked));
        return scores;
      },
      close: () => model.close(),
    };
  } catch (error) {
    await model.close();
    throw error;
  }
}

async function scoreOf(
  model: OnnxModel,
  { id, pair }: { readonly id: string; readonly pair: readonly [string, string] },
  signal: AbortSignal,
): Promise<number> {
  const { outputs } = await model.run(pair, signal);
  const logits = outputs.logits ?? Object.values(outputs)[0];
  const logit = logits?.data.length === 1 ? Number(logits.data[0]) : Number.NaN;
  if (Number.isFinite(logit)) return 1 / (1 + Math.exp(-logit));
  throw new ModelError(`${id} gave no score`, {
    code: 'model-bad-response',
    fix: 'Check that it is a cross-encoder with one output.',
  });
}
