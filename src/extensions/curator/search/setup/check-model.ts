// Owns the proof that a model works: it is opened where it lies and asked one thing. Knows the engine by core/model alone.
// Invariant: what it opens it closes.
import { openOnnxEmbedder } from '#core/model/embedders/onnx-embedder.ts';
import { onnxEngineFolder } from '#core/model/onnx/onnx-engine.ts';
import type { OnnxModelFiles } from '#core/model/onnx/open-onnx-model.ts';
import { openOnnxReranker } from '#core/model/rerankers/onnx-reranker.ts';
import type { SemanticConfig } from '../semantic-config.ts';
import { semanticRuntime } from '../semantic-runtime.ts';
import type { WantedModel } from './wanted-model.ts';

export interface CheckGround {
  readonly engines: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly config: SemanticConfig;
}

const QUERY = 'restart the gateway';
const TEXT = 'How to restart the gateway service and read its log.';

/** What it answered, in words. Throws ModelError. */
export async function checkModel(
  folder: string,
  { role, file }: WantedModel,
  ground: CheckGround,
  signal: AbortSignal,
): Promise<string> {
  const { embedding, reranker } = ground.config;
  const files: OnnxModelFiles = {
    ...{ folder, file, engineFolder: onnxEngineFolder(ground.engines) },
    device: semanticRuntime(ground.variables).device,
    maxLength: role === 'embedding' ? embedding.max_length : reranker.max_length,
    fix: 'Run: talaria curator setup-semantic',
  };
  if (role === 'embedding') {
    const { id, pooling } = embedding;
    const model = await openOnnxEmbedder({ id, pooling, files }, signal);
    await model.close();
    return `gives vectors of ${model.dimensions} numbers`;
  }
  const model = await openOnnxReranker({ id: reranker.id, files }, signal);
  try {
    const [score] = await model.score(QUERY, [TEXT], signal);
    return `gives scores (${score?.toFixed(4)} for a text that fits)`;
  } finally {
    await model.close();
  }
}
