// Owns a search from question to ranked rows: plan, candidates, exact scores with their surroundings. Knows no session data beyond the lane.
// Invariant: bounded work; the same database, question and time give the same order.
import { CandidateFinder } from './candidate-ids.ts';
import { type PlanContext, planQuery, type QueryPlan } from './query-plan.ts';
import { PASSAGE_TURNS, RowScorer } from './score-rows.ts';
import type { LaneRow, SearchLane } from './search-lane.ts';

export interface RankedRow {
  readonly row: LaneRow;
  readonly score: number;
}

export interface Ranking {
  readonly plan: QueryPlan;
  /** Best first. */
  readonly rows: readonly RankedRow[];
}

/** Rows whose own words are scored exactly. */
const SCORED = 500;
/** Rows whose surroundings are read. */
const SEEDS = 48;
/** A row near a good one may be the answer, though it shares no word with the question. */
export const REACH = 3;

export class MessageRanker {
  readonly #lane: SearchLane;
  readonly #finder: CandidateFinder;

  constructor(lane: SearchLane) {
    this.#lane = lane;
    this.#finder = new CandidateFinder(lane);
  }

  rank(question: string, context: Omit<PlanContext, 'lane'>): Ranking {
    const plan = planQuery(question, { ...context, lane: this.#lane });
    if (plan.stems.length === 0) return { plan, rows: [] };
    const scorer = new RowScorer(plan);
    const seeds = this.#seeds(plan, scorer, context.now);
    const rows = seeds.length === 0 ? [] : this.#inContext(seeds, scorer, context.now);
    return { plan, rows: rows.sort(byScore) };
  }

  #seeds(plan: QueryPlan, scorer: RowScorer, now: number): readonly LaneRow[] {
    const found = this.#finder.find(plan, SCORED);
    const near = new Map(found.map((candidate) => [candidate.id, candidate.near]));
    const scored = this.#lane.rowsOf([...near.keys()]).map((row) => {
      const words = scorer.own(row.terms) + (near.get(row.id) ?? 0);
      return { row, score: words * scorer.factor(row) + scorer.time(row, now) };
    });
    return scored
      .sort(byScore)
      .slice(0, SEEDS)
      .map(({ row }) => row);
  }

  #inContext(seeds: readonly LaneRow[], scorer: RowScorer, now: number): RankedRow[] {
    const ranked: RankedRow[] = [];
    for (const [session, turns] of turnsBySession(seeds)) {
      for (const [first, last] of stretches(turns)) {
        ranked.push(...this.#stretch({ session, first, last, scorer, now, turns }));
      }
    }
    return ranked;
  }

  #stretch({ session, first, last, scorer, now, turns }: Stretch): RankedRow[] {
    const rows = this.#lane.window(session, first, last);
    const owns = rows.map((row) => scorer.own(row.terms));
    const ranked: RankedRow[] = [];
    for (const [at, row] of rows.entries()) {
      if (!turns.some((turn) => Math.abs(turn - row.turn) <= REACH)) continue;
      ranked.push({ row, score: scorer.inContext(rows, owns, at) + scorer.time(row, now) });
    }
    return ranked;
  }
}

interface Stretch {
  readonly session: number;
  readonly first: number;
  readonly last: number;
  readonly turns: readonly number[];
  readonly scorer: RowScorer;
  readonly now: number;
}

function turnsBySession(seeds: readonly LaneRow[]): ReadonlyMap<number, number[]> {
  const sessions = new Map<number, number[]>();
  for (const { session, turn } of seeds) {
    const turns = sessions.get(session);
    if (turns === undefined) sessions.set(session, [turn]);
    else turns.push(turn);
  }
  return sessions;
}

/** Spans of turns to read, joined where they touch. */
function stretches(turns: readonly number[]): readonly (readonly [number, number])[] {
  const margin = REACH + PASSAGE_TURNS;
  const joined: [number, number][] = [];
  for (const turn of [...turns].sort((a, b) => a - b)) {
    const open = joined.at(-1);
    if (open !== undefined && turn - margin <= open[1] + 1) open[1] = turn + margin;
    else joined.push([turn - margin, turn + margin]);
  }
  return joined;
}

function byScore(a: RankedRow, b: RankedRow): number {
  return b.score - a.score || b.row.id - a.row.id;
}
