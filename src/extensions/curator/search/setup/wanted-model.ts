// Owns the two models that a semantic search wants, as a list to go through. Pure.
import type { SemanticConfig } from '../semantic-config.ts';

export interface WantedModel {
  readonly role: 'embedding' | 'reranker';
  readonly id: string;
  /** Repository of a hub with its ONNX files. */
  readonly source: string;
  /** The ONNX file, relative to the model's folder. */
  readonly file: string;
}

export function wantedModels({ embedding, reranker }: SemanticConfig): readonly WantedModel[] {
  return [
    { role: 'embedding', id: embedding.id, source: embedding.source, file: embedding.file },
    { role: 'reranker', id: reranker.id, source: reranker.source, file: reranker.file },
  ];
}
