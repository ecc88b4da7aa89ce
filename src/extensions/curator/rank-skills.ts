// Owns ranking skills by models (seed 002, candidates; curator notes 6): bi-encoder first, then a cross-encoder over the best, and what that is made
// of in this home.
import { z } from 'zod';
import { errorText } from '#base/errors.ts';
import { roundHalfEven } from '#base/round-half-even.ts';
import { codeLength, comparePoints, firstPoints } from '#base/text/code-points.ts';
import type { Ground, Mind } from '#core/agent/room.ts';
import type { Embedder, Reranker } from '#core/model/embedders.ts';
import { findModelFolder, type OnnxModelFiles, onnxEngineFolder } from '#core/model/onnx.ts';
import type { RankableSkill } from './skill-files.ts';
import {
  type FailedMode,
  type Rank,
  type RankedSkill,
  type RankRequest,
  type SearchModels,
  type SearchResult,
  type SemanticConfig,
  semanticSchema,
} from './skill-search.ts';

/** A loaded model; `close` frees its memory. */
type Opened<T> = T & { close(): Promise<void> };

export interface RankParts {
  readonly openEmbedder: (signal: AbortSignal) => Promise<Opened<Pick<Embedder, 'embed'>>>;
  readonly openReranker: (signal: AbortSignal) => Promise<Opened<Pick<Reranker, 'score'>>>;
  /** Put before the query, not before skills: the instruction that the embedding model was trained with. */
  readonly queryPrefix: string;
  readonly runtime: NonNullable<SearchResult['runtime']>;
  readonly models: SearchModels;
}

/** Code points of a skill that the reranker reads. */
const RERANKED_TEXT = 500;

/** What a failure means now. */
interface Stage {
  mode: FailedMode;
  embeddingRan: boolean;
}

export async function rankSkills(request: RankRequest, parts: RankParts, signal: AbortSignal): Promise<SearchResult> {
  const { query, rerank, limit } = request;
  const { runtime } = parts;
  const models = { ...parts.models, ...(rerank ? {} : { reranker: 'not-used' }) };
  const at: Stage = { mode: 'semantic-unavailable', embeddingRan: false };
  try {
    const near = await bySimilarity(request, parts, at, signal);
    const best = near.slice(0, Math.max(1, Math.trunc(limit)));
    const ranked = rerank ? await rescored(query, best, { ...parts, at }, signal) : best;
    const candidates = ranked.map(({ skill: _, ...candidate }) => candidate);
    const mode = rerank ? 'semantic-reranked' : 'semantic';
    const ran = { model_downloaded: 'unknown', model_executed: true, reranker_executed: rerank } as const;
    return { mode, query, models, ...ran, runtime, candidates };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const { mode, embeddingRan } = at;
    return {
      ...{ mode, query, models, runtime, candidates: [], error: withFix(error) },
      model_downloaded: embeddingRan ? 'unknown' : false,
      model_executed: mode === 'semantic-reranker-unavailable' && embeddingRan,
      reranker_executed: false,
    };
  }
}

function withFix(error: unknown): string {
  const fix = error instanceof Object && 'fix' in error && typeof error.fix === 'string' ? error.fix : '';
  const what = errorText(error).trimEnd();
  if (fix === '') return what;
  return /[.!?]$/.test(what) ? `${what} ${fix}` : `${what}. ${fix}`;
}

interface Ranked extends RankedSkill {
  readonly skill: RankableSkill;
}

async function bySimilarity(
  { query, skills }: RankRequest,
  { openEmbedder, queryPrefix, runtime }: RankParts,
  at: Stage,
  signal: AbortSignal,
): Promise<readonly Ranked[]> {
  const cut = (text: string) => cutToLimit(text, runtime.text_limit_chars);
  const model = await openEmbedder(signal);
  at.mode = 'semantic-execution-unavailable';
  try {
    const texts = [`${queryPrefix}${cut(query)}`, ...skills.map(({ text }) => cut(text))];
    const [asked, ...vectors] = await model.embed(texts, signal);
    return inOrder(
      skills.map((skill, index) => ({
        ...{ skill, skill_name: skill.name, path: skill.path },
        score: roundHalfEven(cosine(asked, vectors[index]), 6),
        reasons: ['embedding-similarity'],
      })),
    );
  } finally {
    await model.close();
  }
}

async function rescored(
  query: string,
  best: readonly Ranked[],
  { openReranker, runtime: { text_limit_chars: limit }, at }: RankParts & { readonly at: Stage },
  signal: AbortSignal,
): Promise<readonly Ranked[]> {
  Object.assign(at, { mode: 'semantic-reranker-unavailable', embeddingRan: true });
  const model = await openReranker(signal);
  at.mode = 'semantic-execution-unavailable';
  try {
    const texts = best.map(({ skill }) => cutToLimit(skill.text, Math.min(RERANKED_TEXT, limit), ''));
    const scores = await model.score(cutToLimit(query, limit), texts, signal);
    return inOrder(
      best.map((ranked, index) => {
        const score = scores[index];
        if (score === undefined || !Number.isFinite(score)) throw new TypeError(`text ${index + 1} got no score`);
        const embedding_score = ranked.score;
        return { ...ranked, score: roundHalfEven(score, 6), embedding_score, reasons: ['reranker-score'] };
      }),
    );
  } finally {
    await model.close();
  }
}

function inOrder(ranked: readonly Ranked[]): readonly Ranked[] {
  return ranked.toSorted(
    (a, b) =>
      b.score - a.score || comparePoints(a.skill_name, b.skill_name) || comparePoints(a.skill.path, b.skill.path),
  );
}

function cosine(a: Float32Array | undefined, b: Float32Array | undefined): number {
  if (a === undefined || b === undefined || a.length !== b.length)
    throw new TypeError('the embedding model gave vectors of different lengths');
  let [dot, left, right] = [0, 0, 0];
  for (const [at, x] of a.entries()) {
    const y = b[at] ?? 0;
    dot += x * y;
    left += x * x;
    right += y * y;
  }
  if (!Number.isFinite(dot)) throw new TypeError('the embedding model gave something that is no number');
  return left === 0 || right === 0 ? 0 : dot / Math.sqrt(left * right);
}

const MARK = '\n[truncated]';

/** Never more than `limit` code points; what was cut ends with `mark`. */
export function cutToLimit(text: string, limit: number, mark: string = MARK): string {
  if (text.length <= limit || codeLength(text) <= limit) return text;
  return `${firstPoints(text, limit - codeLength(mark))}${mark}`;
}

const DEFAULT_LIMIT = 512;
const LEAST_LIMIT = 200;

/** Talaria's own names win over the original's. What is no whole number counts as not set. */
export function semanticRuntime(variables: Ground['variables']): RankParts['runtime'] {
  const named = (name: string) =>
    variables[`TALARIA_CURATOR_${name}`]?.trim() || variables[`HERMES_CURATOR_EVOLVER_${name}`]?.trim() || '';
  const limit = named('SEMANTIC_TEXT_LIMIT');
  return {
    device: named('SEMANTIC_DEVICE') || 'auto',
    text_limit_chars: /^[+-]?\d{1,9}$/.test(limit) ? Math.max(LEAST_LIMIT, Number(limit)) : DEFAULT_LIMIT,
  };
}

/** Throws TalariaError `config-invalid` naming line and key. */
export function readSemanticConfig(mind: Pick<Mind, 'config'>): SemanticConfig {
  return mind.config('curator', z.looseObject({ semantic: semanticSchema.prefault({}) })).semantic;
}

export type SemanticGround = Pick<Ground, 'variables'> & {
  readonly places: Pick<Ground['places'], 'engines' | 'models'>;
};

/** Reads the `curator.semantic` section when first called; a broken one is thrown as `config-invalid`. */
export function createRank(ground: SemanticGround, mind: Pick<Mind, 'config'>): Rank {
  return async (request, signal) => rankSkills(request, onnxRankParts(ground, readSemanticConfig(mind)), signal);
}

function onnxRankParts(ground: SemanticGround, config: SemanticConfig): RankParts {
  const { embedding, reranker } = config;
  const shortName = (id: string) => id.split('/').at(-1) ?? id;
  return {
    runtime: semanticRuntime(ground.variables),
    queryPrefix: embedding.prefix,
    models: { embedding: shortName(embedding.id), reranker: shortName(reranker.id) },
    openEmbedder: (signal) => openEmbedder(ground, config, signal),
    openReranker: (signal) => openReranker(ground, config, signal),
  };
}

/** `folder`: of the model, when it does not lie in its place yet. Throws ModelError. */
export async function openEmbedder(
  ground: SemanticGround,
  config: SemanticConfig,
  signal: AbortSignal,
  folder?: string,
) {
  const { openOnnxEmbedder } = await import('#core/model/onnx.ts');
  const { id, pooling } = config.embedding;
  return openOnnxEmbedder({ id, pooling, files: filesOf(ground, config.embedding, folder) }, signal);
}

export async function openReranker(
  ground: SemanticGround,
  config: SemanticConfig,
  signal: AbortSignal,
  folder?: string,
) {
  const { openOnnxReranker } = await import('#core/model/onnx.ts');
  return openOnnxReranker({ id: config.reranker.id, files: filesOf(ground, config.reranker, folder) }, signal);
}

function filesOf(
  { places, variables }: SemanticGround,
  { id, file, max_length: maxLength }: SemanticConfig['embedding' | 'reranker'],
  folder = findModelFolder(places.models, id),
): OnnxModelFiles {
  const { device } = semanticRuntime(variables);
  const engineFolder = onnxEngineFolder(places.engines);
  return { engineFolder, folder, file, device, maxLength, fix: 'Run: talaria curator setup-semantic' };
}
