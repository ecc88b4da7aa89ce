// Owns which search answers `candidates`, and what stands in when models cannot (seed 002, candidates; curator notes 6). Knows models by a Rank.
// Invariant: without --execute-semantic no model is asked; a failed one leaves its mode and reason, and the search by words beside them.
import { candidatesByWords } from './lexical-candidates.ts';
import type { Rank, RankableSkill } from './rank-skills.ts';
import { lexicalResult, planResult, type RankedSkill, type SearchResult } from './search-result.ts';

export interface CandidateRequest {
  readonly query: string;
  readonly skills: readonly RankableSkill[];
  /** At least 1. */
  readonly limit: number;
  /** Only tell which models would run. */
  readonly semantic: boolean;
  readonly execute: boolean;
  readonly rerank: boolean;
}

/** The original's result; ours adds `fallback` when models were asked for and could not answer. */
export interface CandidateResult extends SearchResult {
  readonly fallback?: { readonly mode: 'lexical'; readonly candidates: readonly RankedSkill[] };
}

const RERANK_ALONE = 'The reranker runs with --execute-semantic only: these are ranked by words.';

export async function findCandidates(
  asked: CandidateRequest,
  rank: Rank,
  signal: AbortSignal,
): Promise<CandidateResult> {
  const { query, skills, limit, rerank } = asked;
  const byWords = () => candidatesByWords(query, skills, limit);
  if (asked.execute) {
    const found = await rank({ query, skills, rerank, limit }, signal);
    return found.error === undefined ? found : { ...found, fallback: { mode: 'lexical', candidates: byWords() } };
  }
  if (asked.semantic) return planResult(query, rerank);
  const found = lexicalResult(query, byWords());
  return rerank ? { ...found, note: RERANK_ALONE } : found;
}
