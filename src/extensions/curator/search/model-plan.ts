// Owns which models a semantic search would use, as data (curator notes 6, model plan). Pure; loads nothing.
import { EMBEDDING_MODEL, RERANKER_MODEL, type SearchRuntime } from './search-result.ts';

/** Eight texts. */
export interface ModelPlan {
  readonly embedding: string;
  readonly embedding_model_id: string;
  readonly reranker: string;
  readonly reranker_model_id: string;
  readonly purpose: string;
  readonly default: string;
  readonly runtime_device: string;
  readonly text_limit_chars: string;
}

export function modelPlan({ device, text_limit_chars }: SearchRuntime): ModelPlan {
  return {
    embedding: EMBEDDING_MODEL.name,
    embedding_model_id: EMBEDDING_MODEL.id,
    reranker: RERANKER_MODEL.name,
    reranker_model_id: RERANKER_MODEL.id,
    purpose: 'Ranking of candidates that have enough evidence; no model writes content.',
    default: 'off',
    runtime_device: device,
    text_limit_chars: String(text_limit_chars),
  };
}
