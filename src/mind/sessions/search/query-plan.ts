// Owns reading a question: which stems count how much, who is meant to have spoken, which time, what kind of answer is wanted.
// Knows no row. Invariant: total on every string; what it asks of the lane is bounded, however long the question.

import { splitWords } from '#base/text/split-words.ts';
import { stemWord } from '#base/text/stem-word.ts';
import { isStopStem } from '#base/text/stop-words.ts';
import { type DateHint, dateHints } from './date-hints.ts';
import { relatedStems } from './related-words.ts';
import type { LaneStatistics, SearchLane } from './search-lane.ts';
import { wordVariants } from './word-variants.ts';

/** How one stem of the index counts for one group. */
export interface PlannedStem {
  readonly stem: string;
  readonly group: number;
  readonly weight: number;
  /** Rows that hold it. */
  readonly rows: number;
}

/** One word of the question with its other spellings and relatives; a row counts the best of them. */
export interface QueryGroup {
  readonly stem: string;
  readonly rarity: number;
}

export interface QueryPlan {
  readonly groups: readonly QueryGroup[];
  readonly stems: readonly PlannedStem[];
  /** `a b` → bonus when the two stand side by side as in the question. */
  readonly pairs: ReadonlyMap<string, number>;
  /** Set when the question names exactly one speaker. */
  readonly speaker: string | undefined;
  readonly dates: readonly DateHint[];
  readonly asksWhen: boolean;
  readonly asksHowMany: boolean;
  readonly meanLength: number;
  readonly rows: number;
}

const RELATED_WEIGHT = 0.45;
const VARIANT_WEIGHT = 0.3;
const TYPO_WEIGHT = 0.8;
/** A speaker's name inside a text: said to them or about them; weak, since the speaker's own rows are raised anyway. */
const NAME_WEIGHT = 0.2;
const PAIR_WEIGHT = 0.3;
/** Rarity of a word that no row holds: it must not outweigh what its relatives could show. */
const RARITY_OF_UNKNOWN = 5;
const MOST_GROUPS = 24;
/** Characters of a question that are read. */
const MOST_CHARACTERS = 20_000;

export interface PlanContext {
  readonly lane: SearchLane;
  readonly speakers: readonly string[];
  readonly now: number;
}

export function planQuery(question: string, context: PlanContext): QueryPlan {
  const text = question.toWellFormed().slice(0, MOST_CHARACTERS);
  const words = splitWords(text);
  const statistics = context.lane.statistics();
  const named = namedSpeakers(words, context.speakers);
  const nameStems = new Set(named.flatMap((name) => splitWords(name)).map(stemWord));
  const wanted = rarestStems(words, statistics);
  const builder = new PlanBuilder(context.lane, statistics, new Set(wanted));
  for (const stem of wanted) builder.addGroup(stem, nameStems.has(stem) ? NAME_WEIGHT : 1);
  return {
    groups: builder.groups,
    stems: builder.stems,
    pairs: pairsOf(words.map(stemWord), nameStems, builder.rarityOf),
    speaker: named.length === 1 ? named[0] : undefined,
    dates: dateHints(text, context.now),
    asksWhen: /^\s*when\b|\bwhat (date|day|month|year|time)\b|\bhow long\b/i.test(text),
    asksHowMany: /\bhow (many|much|often|long|old)\b/i.test(text),
    meanLength: statistics.meanLength,
    rows: statistics.rows,
  };
}

/** Speakers all of whose names stand in the question, or whose first name does. */
function namedSpeakers(words: readonly string[], speakers: readonly string[]): readonly string[] {
  const asked = new Set(words);
  return speakers.filter((speaker) => {
    const [first] = splitWords(speaker);
    return first !== undefined && first.length > 1 && asked.has(first);
  });
}

/** Content stems, each once; of very long questions the rarest. */
function rarestStems(words: readonly string[], statistics: LaneStatistics): readonly string[] {
  const stems = [...new Set(words.map(stemWord))].filter((stem) => !isStopStem(stem));
  if (stems.length <= MOST_GROUPS) return stems;
  const counted = stems.slice(0, 2000).map((stem) => ({ stem, rows: statistics.rowsWith(stem) }));
  const found = counted.filter((one) => one.rows > 0).sort((a, b) => a.rows - b.rows);
  return found.slice(0, MOST_GROUPS).map((one) => one.stem);
}

class PlanBuilder {
  readonly groups: QueryGroup[] = [];
  readonly stems: PlannedStem[] = [];
  readonly #lane: SearchLane;
  readonly #statistics: LaneStatistics;
  readonly #asked: ReadonlySet<string>;

  constructor(lane: SearchLane, statistics: LaneStatistics, asked: ReadonlySet<string>) {
    this.#lane = lane;
    this.#statistics = statistics;
    this.#asked = asked;
  }

  /** Inverse document frequency as in BM25. */
  readonly rarityOf = (stem: string): number => rarity(this.#statistics.rowsWith(stem), this.#statistics.rows);

  addGroup(stem: string, factor: number): void {
    const rows = this.#statistics.rowsWith(stem);
    const own = rows === 0 ? Math.min(RARITY_OF_UNKNOWN, this.rarityOf(stem)) : this.rarityOf(stem);
    const group = this.groups.length;
    this.groups.push({ stem, rarity: own * factor });
    if (rows > 0) this.stems.push({ stem, group, weight: own * factor, rows });
    if (factor < 1) return;
    for (const [related, closeness] of relatedStems(stem)) this.#addOther(related, group, closeness * RELATED_WEIGHT);
    const variants = wordVariants(this.#lane, stem, this.#statistics);
    const weight = variants.kind === 'typo' ? TYPO_WEIGHT : VARIANT_WEIGHT;
    for (const variant of variants.stems) this.#addOther(variant, group, weight);
  }

  #addOther(stem: string, group: number, closeness: number): void {
    if (this.#asked.has(stem) || isStopStem(stem)) return;
    const rows = this.#statistics.rowsWith(stem);
    if (rows === 0) return;
    const weight = Math.min(this.rarityOf(stem), this.groups[group]?.rarity ?? 0) * closeness;
    this.stems.push({ stem, group, weight, rows });
  }
}

function rarity(rowsWith: number, rows: number): number {
  return Math.log(1 + (Math.max(0, rows - rowsWith) + 0.5) / (rowsWith + 0.5));
}

function pairsOf(
  stems: readonly string[],
  names: ReadonlySet<string>,
  rarityOf: (stem: string) => number,
): ReadonlyMap<string, number> {
  const pairs = new Map<string, number>();
  const counts = (stem: string | undefined) => stem !== undefined && !isStopStem(stem) && !names.has(stem);
  for (let at = 0; at + 1 < Math.min(stems.length, 200); at += 1) {
    const [first, second] = [stems[at], stems[at + 1]];
    if (first === undefined || second === undefined || !counts(first) || !counts(second)) continue;
    pairs.set(`${first} ${second}`, (PAIR_WEIGHT * (rarityOf(first) + rarityOf(second))) / 2);
  }
  return pairs;
}
