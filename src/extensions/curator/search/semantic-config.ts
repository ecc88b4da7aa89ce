// Owns the section `curator.semantic` of config.yaml: which models a semantic search runs, and how (seed 002, candidates). Knows no engine.
// Invariant: without a section the seed's two models are used.
import { z } from 'zod';
import type { CuratorMind } from '../curator-ground.ts';
import { EMBEDDING_MODEL, RERANKER_MODEL, type SearchRuntime } from './search-result.ts';

const repository = z
  .string()
  .regex(/^[\w-][\w.-]*(\/[\w-][\w.-]*)?$/, 'must be NAME or OWNER/NAME')
  .describe('Repository of a model hub');
const file = z
  .string()
  .regex(/^(?!.*\.\.)[\w-][\w./-]*\.onnx$/, 'must be a path below the model, ending in .onnx')
  .describe('The ONNX file, relative to the folder of the model');
const maxLength = z.number().int().min(8).max(32_768).describe('Most tokens of one input; what is longer is cut');

const embedding = z.object({
  id: repository.default(EMBEDDING_MODEL.id).describe('The model: shown in results, and names its folder in the home'),
  source: repository.default('onnx-community/Qwen3-Embedding-0.6B-ONNX').describe('Where its ONNX files come from'),
  pooling: z.enum(['last_token', 'mean', 'cls']).default('last_token').describe('How vectors of tokens become one'),
  prefix: z
    .string()
    .default('Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:')
    .describe('Put before the query; empty for models that know no instruction'),
  max_length: maxLength.default(8_192),
  file: file.default('onnx/model_quantized.onnx'),
});

const reranker = z.object({
  id: repository.default(RERANKER_MODEL.id).describe('The model: shown in results, and names its folder in the home'),
  source: repository.default('onnx-community/bge-reranker-v2-m3-ONNX').describe('Where its ONNX files come from'),
  max_length: maxLength.default(1_024),
  file: file.default('onnx/model_quantized.onnx'),
});

export const semanticSchema = z.object({
  embedding: embedding.prefault({}).describe('The model that compares meanings.'),
  reranker: reranker.prefault({}).describe('The model that reads query and skill together.'),
});

export type SemanticConfig = z.infer<typeof semanticSchema>;

/** Throws TalariaError `config-invalid` naming line and key. */
export function readSemanticConfig(mind: Pick<CuratorMind, 'config'>): SemanticConfig {
  return mind.config('curator', z.looseObject({ semantic: semanticSchema.prefault({}) })).semantic;
}

const DEFAULT_LIMIT = 512;
const LEAST_LIMIT = 200;

/** Talaria's own names win over the original's. What is no whole number counts as not set. */
export function semanticRuntime(variables: Readonly<Record<string, string | undefined>>): SearchRuntime {
  const named = (name: string) =>
    variables[`TALARIA_CURATOR_${name}`]?.trim() || variables[`HERMES_CURATOR_EVOLVER_${name}`]?.trim() || '';
  const limit = named('SEMANTIC_TEXT_LIMIT');
  return {
    device: named('SEMANTIC_DEVICE') || 'auto',
    text_limit_chars: /^[+-]?\d{1,9}$/.test(limit) ? Math.max(LEAST_LIMIT, Number(limit)) : DEFAULT_LIMIT,
  };
}
