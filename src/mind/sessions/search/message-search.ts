// Owns searching stored messages: both lanes, filters, the plain substring search when no word helps, snippets. Any string is a question.
// Invariant: never throws because of what was asked; damage of the index alone gives `indexDamaged`, never a false "nothing found".
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { splitWords, stemWord } from '#base/text/words.ts';
import { sliceText } from '#base/text.ts';
import { CandidateFinder } from './candidate-ids.ts';
import { type PlanContext, planQuery, type QueryPlan } from './query-plan.ts';
import { PASSAGE_TURNS, RowScorer } from './score-rows.ts';
import type { LaneRow, SearchLane } from './search-lane.ts';

export interface SearchOptions {
  /** Hits at most; default 10. */
  readonly limit?: number;
  /** Default user and assistant. */
  readonly roles?: readonly string[];
  /** Sessions of these sources are left out. */
  readonly hiddenSources?: readonly string[];
}

export interface SearchHit {
  readonly messageId: number;
  readonly sessionId: string;
  readonly role: string;
  readonly speaker: string;
  /** Epoch ms. */
  readonly at: number;
  readonly score: number;
  /** Verbatim, matched words between `>>>` and `<<<`. */
  readonly snippet: string;
}

interface FoundRow {
  readonly id: number;
  readonly session_id: string;
  readonly source: string;
  readonly role: string;
  readonly speaker: string | null;
  readonly at: number;
  readonly text: string;
}

const SPOKEN_ROLES = ['user', 'assistant'];
const DEFAULT_LIMIT = 10;
/** Newest messages that the plain search reads. */
const PLAIN_SEARCH_ROWS = 20_000;
const PLAIN_SEARCH_LONGEST = 200;

export interface MessageSearchParts {
  readonly database: Database;
  readonly spoken: SearchLane;
  readonly tool: SearchLane;
  readonly clock: Clock;
}

export class MessageSearch {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #spoken: SearchLane;
  readonly #rankSpoken: MessageRanker;
  readonly #rankTool: MessageRanker;

  constructor(parts: MessageSearchParts) {
    this.#database = parts.database;
    this.#clock = parts.clock;
    this.#spoken = parts.spoken;
    this.#rankSpoken = new MessageRanker(parts.spoken);
    this.#rankTool = new MessageRanker(parts.tool);
  }

  /** Best first. */
  search(question: string, options: SearchOptions = {}): readonly SearchHit[] {
    const limit = Math.max(0, Math.trunc(options.limit ?? DEFAULT_LIMIT));
    const roles = new Set(options.roles ?? SPOKEN_ROLES);
    if (limit === 0 || question.trim() === '') return [];
    const rankings = this.#rankings(question, roles);
    const weights = stemWeights(rankings);
    const hidden = new Set(options.hiddenSources ?? []);
    const hits: SearchHit[] = [];
    for (const { row, score } of merge(rankings)) {
      if (hits.length >= limit) break;
      const found = this.#row(row.id);
      if (found === undefined || !roles.has(found.role) || hidden.has(found.source)) continue;
      hits.push(hit(found, score, makeSnippet(found.text, weights)));
    }
    return hits.length > 0 ? hits : this.#plainSearch(question.trim(), { limit, roles, hidden });
  }

  #rankings(question: string, roles: ReadonlySet<string>): readonly Ranking[] {
    const context = { speakers: [...SPOKEN_ROLES, ...this.#spoken.speakers()], now: this.#clock.now() };
    const rankings: Ranking[] = [];
    if (SPOKEN_ROLES.some((role) => roles.has(role))) rankings.push(this.#rankSpoken.rank(question, context));
    if (roles.has('tool')) rankings.push(this.#rankTool.rank(question, context));
    return rankings;
  }

  /** For what holds no indexed word: a single Chinese character, punctuation, only stop words. Newest first. */
  #plainSearch(
    text: string,
    filter: { readonly limit: number; readonly roles: ReadonlySet<string>; readonly hidden: ReadonlySet<string> },
  ): readonly SearchHit[] {
    const wanted = text.toWellFormed().slice(0, PLAIN_SEARCH_LONGEST).replaceAll('\0', '');
    if (wanted === '') return [];
    const pattern = `%${wanted.replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`;
    const rows = this.#database.all<FoundRow>(
      `${FOUND} WHERE m.id > (SELECT coalesce(max(id), 0) FROM messages) - ? AND (m.active = 1 OR m.compacted = 1)
         AND m.text LIKE ? ESCAPE '\\' ORDER BY m.id DESC LIMIT ?`,
      PLAIN_SEARCH_ROWS,
      pattern,
      filter.limit * 4,
    );
    return rows
      .filter((row) => filter.roles.has(row.role) && !filter.hidden.has(row.source))
      .slice(0, filter.limit)
      .map((row, place) => hit(row, 1 / (1 + place), plainSnippet(row.text, wanted)));
  }

  #row(id: number): FoundRow | undefined {
    return this.#database.get<FoundRow>(`${FOUND} WHERE m.id = ? AND (m.active = 1 OR m.compacted = 1)`, id);
  }
}

const FOUND = `SELECT m.id, s.id AS session_id, s.source, m.role, m.speaker, m.at, m.text
  FROM messages m JOIN sessions s ON s.key = m.session`;

function hit(row: FoundRow, score: number, snippet: string): SearchHit {
  const speaker = row.speaker ?? row.role;
  return { messageId: row.id, sessionId: row.session_id, role: row.role, speaker, at: row.at, score, snippet };
}

function merge(rankings: readonly Ranking[]): readonly RankedRow[] {
  if (rankings.length === 1) return rankings[0]?.rows ?? [];
  return rankings.flatMap((ranking) => ranking.rows).sort((a, b) => b.score - a.score || b.row.id - a.row.id);
}

/** Stems to mark, the question's own above their relatives. */
function stemWeights(rankings: readonly Ranking[]): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const { plan } of rankings) {
    for (const { stem, weight } of plan.stems) weights.set(stem, Math.max(weight, weights.get(stem) ?? 0));
  }
  return weights;
}

function plainSnippet(text: string, wanted: string): string {
  const at = text.toLowerCase().indexOf(wanted.toLowerCase());
  if (at < 0) return text.slice(0, 240).toWellFormed();
  const from = Math.max(0, at - 60);
  const end = at + wanted.length;
  const piece = `${text.slice(from, at)}>>>${text.slice(at, end)}<<<${text.slice(end, end + 160)}`.toWellFormed();
  return `${from > 0 ? '…' : ''}${piece}${end + 160 < text.length ? '…' : ''}`;
}

// The short verbatim cut of a message around what was asked for, with the words marked `>>>` and `<<<` (core notes 2.3).
// Pure. Invariant: without the marks and the dots at its ends the snippet is a piece of the text, character for character.

const MARK_START = '>>>';
const MARK_END = '<<<';

const WORD = /[\p{L}\p{N}\p{M}]+(?:['’][\p{L}]+)?/gu;
/** Characters of a message that are looked at. */
const MOST_CHARACTERS = 60_000;
const MOST_WORDS_MARKED = 24;

interface Found {
  readonly from: number;
  readonly to: number;
  readonly weight: number;
}

/** `weights`: how much each stem of the question counts. */
export function makeSnippet(text: string, weights: ReadonlyMap<string, number>, length = 240): string {
  const found = findWords(text.slice(0, MOST_CHARACTERS), weights);
  const start = text.length <= length ? 0 : bestStart(text, found, length);
  const piece = sliceText(text.slice(start), length);
  const marked = mark(piece, found, start);
  return `${start > 0 ? '…' : ''}${marked}${start + piece.length < text.length ? '…' : ''}`;
}

function findWords(text: string, weights: ReadonlyMap<string, number>): readonly Found[] {
  const found: Found[] = [];
  for (const match of text.matchAll(WORD)) {
    let weight = 0;
    for (const part of splitWords(match[0])) weight = Math.max(weight, weights.get(stemWord(part)) ?? 0);
    if (weight > 0) found.push({ from: match.index, to: match.index + match[0].length, weight });
  }
  return found;
}

/** Where the window with the weightiest words begins, with a little room before the first, at a word's edge. */
function bestStart(text: string, found: readonly Found[], length: number): number {
  let best = 0;
  let bestWeight = -1;
  for (const [at, first] of found.entries()) {
    let weight = 0;
    for (let next = at; next < found.length && (found[next]?.to ?? 0) <= first.from + length * 0.8; next += 1) {
      weight += found[next]?.weight ?? 0;
    }
    if (weight <= bestWeight) continue;
    bestWeight = weight;
    best = first.from;
  }
  const roomy = Math.max(0, Math.min(best - length * 0.2, text.length - length));
  return wordStart(text, Math.trunc(roomy));
}

function wordStart(text: string, at: number): number {
  if (at === 0) return 0;
  const space = text.slice(at, at + 30).search(/\s\S/);
  if (space >= 0) return at + space + 1;
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at;
}

function mark(piece: string, found: readonly Found[], start: number): string {
  let marked = '';
  let done = 0;
  const inside = found.filter((word) => word.from >= start && word.to <= start + piece.length);
  for (const word of inside.slice(0, MOST_WORDS_MARKED)) {
    marked += `${piece.slice(done, word.from - start)}${MARK_START}${piece.slice(word.from - start, word.to - start)}${MARK_END}`;
    done = word.to - start;
  }
  return marked + piece.slice(done);
}

// A search from question to ranked rows: plan, candidates, exact scores with their surroundings. Knows no session data beyond the lane.
// Invariant: bounded work; the same database, question and time give the same order.

interface RankedRow {
  readonly row: LaneRow;
  readonly score: number;
}

interface Ranking {
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
