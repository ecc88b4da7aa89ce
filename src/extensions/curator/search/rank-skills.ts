// Owns ranking skills by models (seed 002, candidates; curator notes 6): bi-encoder first, then a cross-encoder over the best. Knows models by
// their seams; loading them is given. Invariant: what fails is a result with its mode and reason, never an exception; only an abort is thrown.
import { errorText } from '#base/errors.ts';
import { roundHalfEven } from '#base/number/round-half-even.ts';
import { codeLength, comparePoints, firstPoints } from '#base/text/code-points.ts';
import type { Embedder } from '#core/model/embedder.ts';
import type { Reranker } from '#core/model/rerankers/reranker.ts';
import {
  executedResult,
  type FailedMode,
  failedResult,
  type RankedSkill,
  type SearchModels,
  type SearchResult,
  type SearchRuntime,
} from './search-result.ts';

/** A skill as the caller names it; `path` of its SKILL.md is carried through. */
export interface RankableSkill {
  readonly name: string;
  readonly path: string;
  readonly text: string;
}

export interface RankRequest {
  readonly query: string;
  readonly skills: readonly RankableSkill[];
  readonly rerank: boolean;
  /** Most candidates that come back, at least 1; only these are seen by the reranker. */
  readonly limit: number;
}

/** What auto-run takes: a SearchResult is a Ranking. Rejects only with the reason of an abort. */
export type Rank = (request: RankRequest, signal: AbortSignal) => Promise<SearchResult>;

/** A loaded model; `close` frees its memory. */
export interface Opened<T> {
  readonly model: T;
  close(): Promise<void>;
}

export interface RankParts {
  readonly openEmbedder: (signal: AbortSignal) => Promise<Opened<Embedder>>;
  readonly openReranker: (signal: AbortSignal) => Promise<Opened<Reranker>>;
  /** Put before the query, not before skills: the instruction that the embedding model was trained with. */
  readonly queryPrefix: string;
  readonly runtime: SearchRuntime;
  /** Names to show. */
  readonly models: SearchModels;
}

/** Code points of a skill that the reranker reads. */
const RERANKED_TEXT = 500;

/** One model is in memory at a time. */
export async function rankSkills(request: RankRequest, parts: RankParts, signal: AbortSignal): Promise<SearchResult> {
  const { query, rerank } = request;
  const models = { ...parts.models, ...(rerank ? {} : { reranker: 'not-used' }) };
  try {
    const near = await bySimilarity(request, parts, signal);
    const best = near.slice(0, Math.max(1, Math.trunc(request.limit)));
    const candidates = rerank ? await rescored(request, { parts, best }, signal) : best;
    const shown = candidates.map(({ skill: _, ...candidate }) => candidate);
    return { ...executedResult({ query, rerank, runtime: parts.runtime, candidates: shown }), models };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!(error instanceof StageFailure)) throw error;
    const { mode, message, embeddingRan } = error;
    return { ...failedResult({ mode, query, rerank, error: message, embeddingRan, runtime: parts.runtime }), models };
  }
}

/** Where it failed decides the mode. */
class StageFailure extends Error {
  readonly mode: FailedMode;
  readonly embeddingRan: boolean;

  constructor(mode: FailedMode, cause: unknown, embeddingRan: boolean) {
    super(withFix(cause), { cause });
    this.mode = mode;
    this.embeddingRan = embeddingRan;
  }
}

interface Ranked extends RankedSkill {
  readonly skill: RankableSkill;
}

async function bySimilarity(
  { query, skills }: RankRequest,
  { openEmbedder, queryPrefix, runtime }: RankParts,
  signal: AbortSignal,
): Promise<readonly Ranked[]> {
  const cut = (text: string) => cutToLimit(text, runtime.text_limit_chars);
  const opened = await openEmbedder(signal).catch((error) => {
    throw new StageFailure('semantic-unavailable', error, false);
  });
  try {
    const texts = [`${queryPrefix}${cut(query)}`, ...skills.map(({ text }) => cut(text))];
    const [asked, ...vectors] = await opened.model.embed(texts, signal);
    return inOrder(
      skills.map((skill, at) => ({
        ...{ skill, skill_name: skill.name, path: skill.path },
        score: roundHalfEven(cosine(asked, vectors[at]), 6),
        reasons: ['embedding-similarity'],
      })),
    );
  } catch (error) {
    throw new StageFailure('semantic-execution-unavailable', error, false);
  } finally {
    await opened.close();
  }
}

async function rescored(
  { query }: RankRequest,
  { parts, best }: { readonly parts: RankParts; readonly best: readonly Ranked[] },
  signal: AbortSignal,
): Promise<readonly Ranked[]> {
  const limit = parts.runtime.text_limit_chars;
  const opened = await parts.openReranker(signal).catch((error) => {
    throw new StageFailure('semantic-reranker-unavailable', error, true);
  });
  try {
    const texts = best.map(({ skill }) => cutToLimit(skill.text, Math.min(RERANKED_TEXT, limit), ''));
    const scores = await opened.model.score(cutToLimit(query, limit), texts, signal);
    return inOrder(
      best.map((ranked, at) => ({
        ...ranked,
        score: roundHalfEven(scoreAt(scores, at), 6),
        embedding_score: ranked.score,
        reasons: ['reranker-score'],
      })),
    );
  } catch (error) {
    throw new StageFailure('semantic-execution-unavailable', error, true);
  } finally {
    await opened.close();
  }
}

function scoreAt(scores: readonly number[], at: number): number {
  const score = scores[at];
  if (score === undefined || !Number.isFinite(score)) throw new TypeError(`text ${at + 1} got no score`);
  return score;
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

function withFix(error: unknown): string {
  const fix = error instanceof Object && 'fix' in error && typeof error.fix === 'string' ? error.fix : '';
  const what = errorText(error).trimEnd();
  if (fix === '') return what;
  return /[.!?]$/.test(what) ? `${what} ${fix}` : `${what}. ${fix}`;
}

const MARK = '\n[truncated]';

/** Never more than `limit` code points; what was cut ends with `mark`. */
export function cutToLimit(text: string, limit: number, mark: string = MARK): string {
  if (text.length <= limit || codeLength(text) <= limit) return text;
  return `${firstPoints(text, limit - codeLength(mark))}${mark}`;
}
