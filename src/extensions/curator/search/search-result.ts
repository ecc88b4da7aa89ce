// Owns the result of a skill search in each mode (curator notes 6), and the plan that names models without loading one. Pure.
// Invariant: a model that was not run is never said to have run; a failure keeps its mode and its error.
import type { LexicalCandidate } from './lexical-candidates.ts';

export const EMBEDDING_MODEL = { name: 'Qwen3-Embedding-0.6B', id: 'Qwen/Qwen3-Embedding-0.6B' } as const;
export const RERANKER_MODEL = { name: 'bge-reranker-v2-m3', id: 'BAAI/bge-reranker-v2-m3' } as const;

export interface RankedSkill extends LexicalCandidate {
  /** Of its SKILL.md, where skills come from a folder. */
  readonly path?: string;
  /** Kept when a reranker replaced `score`. */
  readonly embedding_score?: number;
}

export type FailedMode = 'semantic-unavailable' | 'semantic-reranker-unavailable' | 'semantic-execution-unavailable';
export type SearchMode = 'lexical' | 'semantic-plan' | 'semantic' | 'semantic-reranked' | FailedMode;

export interface SearchModels {
  readonly embedding: string;
  readonly reranker: string;
}

export interface SearchRuntime {
  readonly device: string;
  readonly text_limit_chars: number;
}

export interface SearchResult {
  readonly mode: SearchMode;
  readonly query: string;
  readonly models: SearchModels;
  /** The loader does not say whether it downloaded: then `unknown`. */
  readonly model_downloaded: false | 'unknown';
  readonly model_executed: boolean;
  readonly reranker_executed?: boolean;
  readonly runtime?: SearchRuntime;
  readonly candidates: readonly RankedSkill[];
  readonly note?: string;
  readonly error?: string;
}

export const NO_MODELS: SearchModels = { embedding: 'not-used', reranker: 'not-used' };

export function lexicalResult(query: string, candidates: readonly RankedSkill[]): SearchResult {
  return { mode: 'lexical', query, models: NO_MODELS, model_downloaded: false, model_executed: false, candidates };
}

export function planResult(query: string, rerank: boolean): SearchResult {
  return {
    mode: 'semantic-plan',
    query,
    models: searchModels(rerank),
    model_downloaded: false,
    model_executed: false,
    reranker_executed: false,
    candidates: [],
    note: 'Plan only: no model was loaded. Add --execute-semantic to run it.',
  };
}

export interface ExecutedSearch {
  readonly query: string;
  readonly rerank: boolean;
  readonly runtime: SearchRuntime;
  readonly candidates: readonly RankedSkill[];
}

export function executedResult({ query, rerank, runtime, candidates }: ExecutedSearch): SearchResult {
  return {
    mode: rerank ? 'semantic-reranked' : 'semantic',
    query,
    models: searchModels(rerank),
    model_downloaded: 'unknown',
    model_executed: true,
    reranker_executed: rerank,
    runtime,
    candidates,
  };
}

export interface FailedSearch {
  readonly mode: FailedMode;
  readonly query: string;
  readonly rerank: boolean;
  readonly error: string;
  readonly embeddingRan: boolean;
  readonly runtime: SearchRuntime;
}

export function failedResult(failure: FailedSearch): SearchResult {
  return {
    mode: failure.mode,
    query: failure.query,
    models: searchModels(failure.rerank),
    model_downloaded: failure.embeddingRan ? 'unknown' : false,
    model_executed: failure.mode === 'semantic-reranker-unavailable' && failure.embeddingRan,
    reranker_executed: false,
    runtime: failure.runtime,
    candidates: [],
    error: failure.error,
  };
}

export function searchModels(rerank: boolean): SearchModels {
  return { embedding: EMBEDDING_MODEL.name, reranker: rerank ? RERANKER_MODEL.name : 'not-used' };
}
