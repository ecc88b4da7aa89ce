// Owns which skills fit a request, best first: words, the use record as a mild prior, and an Embedder's opinion where one is configured,
// fused by reciprocal rank. Knows no prompt. Invariants: what is not offered in these surroundings is never ranked; a record moves a skill
// by a few places and never lifts one that does not fit; a failing embedder costs its opinion only.
import { type Clock, systemClock } from '#base/clock.ts';
import type { Embedder } from '#core/model/embedder.ts';
import { isOffered, isStanding, type SkillConditions } from '../library/offered.ts';
import type { SkillLibrary } from '../library/skill-library.ts';
import type { SkillHeader, SkillRecord } from '../skill.ts';
import { createVectorLane } from './vector-lane.ts';
import { fillWords, headerById, questionStems, searchWords, type WordHit } from './word-index.ts';

export interface RankedSkill {
  readonly header: SkillHeader;
  /** Only its order means anything. */
  readonly score: number;
  /** BM25 without record and vectors; 0 when words did not find it. */
  readonly wordScore: number;
}

export interface RankOptions {
  readonly limit: number;
  readonly conditions?: SkillConditions;
  /** Names that need not be found. */
  readonly without?: ReadonlySet<string>;
}

export interface SkillRanker {
  rank(question: string, options: RankOptions, signal: AbortSignal): Promise<readonly RankedSkill[]>;
  /** Reads words and makes vectors of all skills that have none: background work after a refresh. */
  prepare(signal: AbortSignal): Promise<void>;
}

export interface SkillRankerOptions {
  readonly library: SkillLibrary;
  readonly embedder?: Embedder;
  readonly clock?: Clock;
  /** Told why the embedder was left out. */
  readonly warn?: (message: string) => void;
}

/** Candidates that each lane gives. */
const CANDIDATES = 60;
/** Skills whose words a turn may wait for: about a tenth of a second. */
const WAITED_FOR = 200;
/** Damping of reciprocal rank. */
const RRF = 60;
const DAY_MS = 86_400_000;

export function createSkillRanker(options: SkillRankerOptions): SkillRanker {
  const { library, embedder, clock = systemClock } = options;
  const { cache } = library;
  const lane = embedder && createVectorLane(cache, embedder);
  const nearest = async (question: string, signal: AbortSignal): Promise<readonly number[]> => {
    try {
      return (await lane?.nearest(question, CANDIDATES, signal)) ?? [];
    } catch (error) {
      signal.throwIfAborted();
      options.warn?.(`Skills are ranked by words alone: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
  };
  return {
    rank: async (question, wanted, signal) => {
      const stems = questionStems(question);
      if (stems.length === 0) return [];
      await fillWords(cache, { clock, most: WAITED_FOR }, signal);
      const words = searchWords(cache, stems, CANDIDATES);
      const vectors = await nearest(question, signal);
      const scored = fuse(library, { words, vectors });
      const now = clock.now();
      return scored
        .filter(({ header }) => isWanted(header, library.record(header.name), wanted))
        .map((skill) => ({ ...skill, score: skill.score * prior(library.record(skill.header.name), now) }))
        .sort((a, b) => b.score - a.score || (a.header.name < b.header.name ? -1 : 1))
        .slice(0, wanted.limit);
    },
    prepare: async (signal) => {
      await fillWords(cache, { clock }, signal);
      await lane?.fill(signal);
    },
  };
}

function isWanted(header: SkillHeader, record: SkillRecord | undefined, wanted: RankOptions): boolean {
  if (wanted.without?.has(header.name) || !isStanding(record)) return false;
  return wanted.conditions === undefined || isOffered(header, wanted.conditions);
}

/** Words alone keep BM25's own distances; with vectors only ranks can be compared. */
function fuse(
  { cache }: SkillLibrary,
  lanes: { readonly words: readonly WordHit[]; readonly vectors: readonly number[] },
): readonly RankedSkill[] {
  const { words, vectors } = lanes;
  if (vectors.length === 0) return words.map(({ header, score }) => ({ header, score, wordScore: score }));
  const found = new Map(
    words.map((hit, at) => [hit.id, { header: hit.header, score: 1 / (RRF + at), wordScore: hit.score }]),
  );
  for (const [at, id] of vectors.entries()) {
    const known = found.get(id);
    const header = known?.header ?? headerById(cache, id);
    if (header)
      found.set(id, { header, score: (known?.score ?? 0) + 1 / (RRF + at), wordScore: known?.wordScore ?? 0 });
  }
  return [...found.values()];
}

/** 0.9 to 1.1: success counts when there is enough of it, a use in the last weeks a little. */
function prior(record: SkillRecord | undefined, now: number): number {
  if (record === undefined) return 1;
  const { successCount, failureCount, lastUsedAt } = record;
  const tried = successCount + failureCount;
  const rate = (successCount + 1) / (tried + 2);
  const weeks = lastUsedAt === undefined ? Number.POSITIVE_INFINITY : Math.max(0, now - lastUsedAt) / (7 * DAY_MS);
  return 1 + (rate - 0.5) * 0.15 + 0.025 / (1 + weeks);
}
