// Owns finding skills for a query: by shared words, which search answers `candidates` and what it says, and which models are asked, the section
// `curator.semantic` of config.yaml (seed 002, candidates; curator notes 6).

import { z } from 'zod';
import { roundHalfEven } from '#base/round-half-even.ts';
import { comparePoints } from '#base/text/code-points.ts';
import type { CompatOptions } from '#mind/evidence/ledger/compact-value.ts';
import { withoutBlock } from '#mind/skills/format/skill-text.ts';
import type { RankableSkill } from './skill-files.ts';

export interface LexicalCandidate {
  readonly skill_name: string;
  /** Share of the query's words that the skill has, 4 decimals. */
  readonly score: number;
  /** Up to 8 of those words, sorted. */
  readonly reasons: readonly string[];
}

const DEFAULT_LIMIT = 10;
const MOST_REASONS = 8;

/**
 * Skills by the words that they share with a query (seed 002, candidates; notes 6). In: the query, skills as name and text, and `limit`
 * (default 10, at least 1). Out: name, `score` (share of the query's words, 0 to 1, 4 decimals) and up to 8 of those words, best first,
 * equal ones by name; a skill without a shared word has 0. Ours does not read managed blocks. Throws nothing.
 */
export function lexicalCandidates(
  query: string,
  skills: readonly Pick<RankableSkill, 'name' | 'text'>[],
  limit: number = DEFAULT_LIMIT,
  { compat }: CompatOptions = {},
): readonly LexicalCandidate[] {
  const own = (text: string) => (compat === 'upstream' ? text : withoutBlock(text));
  const placed = skills.map(({ name, text }) => ({ name, text: own(text), path: '' }));
  return candidatesByWords(query, placed, limit).map(({ path: _nowhere, ...candidate }) => candidate);
}

/** The same of whole texts, with the place of each skill. */
function candidatesByWords(query: string, skills: readonly RankableSkill[], limit: number) {
  const asked = tokensOf(query);
  const scored = skills.map(({ name, path, text }) => {
    const held = tokensOf(text);
    const shared = [...asked].filter((word) => held.has(word)).sort(comparePoints);
    const score = roundHalfEven(shared.length / Math.max(asked.size, 1), 4);
    return { skill_name: name, score, reasons: shared.slice(0, MOST_REASONS), path };
  });
  scored.sort(
    (a, b) =>
      b.score - a.score ||
      comparePoints(a.skill_name, b.skill_name) ||
      comparePoints(a.reasons.join('\n'), b.reasons.join('\n')) ||
      comparePoints(a.path, b.path),
  );
  return scored.slice(0, Math.max(1, Math.trunc(limit ?? DEFAULT_LIMIT)));
}

/** Letters, digits and underscore of every script, as the original's language counts word characters. */
const WORD = /[\p{L}\p{N}_-]+/gu;

function tokensOf(text: string): ReadonlySet<string> {
  const words = text.match(WORD) ?? [];
  return new Set(words.filter((word) => /../u.test(word)).map((word) => word.toLowerCase()));
}

export interface RankedSkill extends LexicalCandidate {
  /** Of its SKILL.md, where skills come from a folder. */
  readonly path?: string;
  /** Kept when a reranker replaced `score`. */
  readonly embedding_score?: number;
}

export type FailedMode = 'semantic-unavailable' | 'semantic-reranker-unavailable' | 'semantic-execution-unavailable';

export interface SearchModels {
  readonly embedding: string;
  readonly reranker: string;
}

export interface SearchResult {
  readonly mode: 'lexical' | 'semantic-plan' | 'semantic' | 'semantic-reranked' | FailedMode;
  readonly query: string;
  readonly models: SearchModels;
  /** The loader does not say whether it downloaded: then `unknown`. */
  readonly model_downloaded: false | 'unknown';
  readonly model_executed: boolean;
  readonly reranker_executed?: boolean;
  readonly runtime?: { readonly device: string; readonly text_limit_chars: number };
  readonly candidates: readonly RankedSkill[];
  readonly note?: string;
  readonly error?: string;
}

const EMBEDDING_MODEL = { name: 'Qwen3-Embedding-0.6B', id: 'Qwen/Qwen3-Embedding-0.6B' } as const;
const RERANKER_MODEL = { name: 'bge-reranker-v2-m3', id: 'BAAI/bge-reranker-v2-m3' } as const;
export const NO_MODELS: SearchModels = { embedding: 'not-used', reranker: 'not-used' };

export function searchModels(rerank: boolean): SearchModels {
  return { embedding: EMBEDDING_MODEL.name, reranker: rerank ? RERANKER_MODEL.name : 'not-used' };
}

export interface RankRequest {
  readonly query: string;
  readonly skills: readonly RankableSkill[];
  readonly rerank: boolean;
  /** Most candidates that come back, at least 1; only these are seen by the reranker. */
  readonly limit: number;
}

/** What auto-run takes: a SearchResult is a Ranking. Rejects only with the reason of an abort. `rank-skills.ts` makes one. */
export type Rank = (request: RankRequest, signal: AbortSignal) => Promise<SearchResult>;

/** The original's result; ours adds `fallback` when models were asked for and could not answer. */
export interface CandidateResult extends SearchResult {
  readonly fallback?: { readonly mode: 'lexical'; readonly candidates: readonly RankedSkill[] };
}

const NOT_RUN = { model_downloaded: false, model_executed: false } as const;

/** `semantic`: only tell which models would run. */
export async function findCandidates(
  asked: RankRequest & { readonly semantic: boolean; readonly execute: boolean },
  rank: Rank,
  signal: AbortSignal,
): Promise<CandidateResult> {
  const { query, skills, limit, rerank } = asked;
  const byWords = () => candidatesByWords(query, skills, limit);
  if (asked.execute) {
    const found = await rank({ query, skills, rerank, limit }, signal);
    return found.error === undefined ? found : { ...found, fallback: { mode: 'lexical', candidates: byWords() } };
  }
  if (asked.semantic) {
    const note = 'Plan only: no model was loaded. Add --execute-semantic to run it.';
    const plan = { ...NOT_RUN, reranker_executed: false, candidates: [], note };
    return { mode: 'semantic-plan', query, models: searchModels(rerank), ...plan };
  }
  const found = { mode: 'lexical', query, models: NO_MODELS, ...NOT_RUN, candidates: byWords() } as const;
  const note = 'The reranker runs with --execute-semantic only: these are ranked by words.';
  return rerank ? { ...found, note } : found;
}

const repository = z
  .string()
  .regex(/^[\w-][\w.-]*(\/[\w-][\w.-]*)?$/, 'must be NAME or OWNER/NAME')
  .describe('Repository of a model hub');
const id = (byDefault: string) =>
  repository.default(byDefault).describe('The model: shown in results, and names its folder in the home');
const source = (byDefault: string) => repository.default(byDefault).describe('Where its ONNX files come from');
const maxLength = z.number().int().min(8).max(32_768).describe('Most tokens of one input; what is longer is cut');
const file = z
  .string()
  .regex(/^(?!.*\.\.)[\w-][\w./-]*\.onnx$/, 'must be a path below the model, ending in .onnx')
  .describe('The ONNX file, relative to the folder of the model')
  .default('onnx/model_quantized.onnx');

const embedding = z.object({
  id: id(EMBEDDING_MODEL.id),
  source: source('onnx-community/Qwen3-Embedding-0.6B-ONNX'),
  pooling: z.enum(['last_token', 'mean', 'cls']).default('last_token').describe('How vectors of tokens become one'),
  prefix: z
    .string()
    .default('Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:')
    .describe('Put before the query; empty for models that know no instruction'),
  max_length: maxLength.default(8_192),
  file,
});

const reranker = z.object({
  id: id(RERANKER_MODEL.id),
  source: source('onnx-community/bge-reranker-v2-m3-ONNX'),
  max_length: maxLength.default(1_024),
  file,
});

export const semanticSchema = z.object({
  embedding: embedding.prefault({}).describe('The model that compares meanings.'),
  reranker: reranker.prefault({}).describe('The model that reads query and skill together.'),
});

export type SemanticConfig = z.infer<typeof semanticSchema>;
