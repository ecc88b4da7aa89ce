// Owns what ranking by the configured local models is made of: their folders in the home, their device, their names. Knows the engine by
// core/model alone. Invariant: making it opens nothing.
import { openOnnxEmbedder } from '#core/model/embedders/onnx-embedder.ts';
import { findModelFolder } from '#core/model/onnx/model-files.ts';
import { onnxEngineFolder } from '#core/model/onnx/onnx-engine.ts';
import type { OnnxModelFiles } from '#core/model/onnx/open-onnx-model.ts';
import { openOnnxReranker } from '#core/model/rerankers/onnx-reranker.ts';
import type { CuratorGround } from '../curator-ground.ts';
import type { RankParts } from './rank-skills.ts';
import type { SemanticConfig } from './semantic-config.ts';
import { semanticRuntime } from './semantic-config.ts';

/** Where the pieces lie, and the variables. */
export type SemanticGround = Pick<CuratorGround, 'variables'> & {
  readonly places: Pick<CuratorGround['places'], 'engines' | 'models'>;
};

const FIX = 'Run: talaria curator setup-semantic';

export function onnxRankParts(ground: SemanticGround, { embedding, reranker }: SemanticConfig): RankParts {
  const runtime = semanticRuntime(ground.variables);
  const filesOf = (model: {
    readonly id: string;
    readonly file: string;
    readonly max_length: number;
  }): OnnxModelFiles => ({
    engineFolder: onnxEngineFolder(ground.places.engines),
    folder: findModelFolder(ground.places.models, model.id),
    file: model.file,
    device: runtime.device,
    maxLength: model.max_length,
    fix: FIX,
  });
  return {
    runtime,
    queryPrefix: embedding.prefix,
    models: { embedding: shortName(embedding.id), reranker: shortName(reranker.id) },
    async openEmbedder(signal) {
      const { id, pooling } = embedding;
      const model = await openOnnxEmbedder({ id, pooling, files: filesOf(embedding) }, signal);
      return { model, close: () => model.close() };
    },
    async openReranker(signal) {
      const model = await openOnnxReranker({ id: reranker.id, files: filesOf(reranker) }, signal);
      return { model, close: () => model.close() };
    },
  };
}

function shortName(id: string): string {
  return id.split('/').at(-1) ?? id;
}
