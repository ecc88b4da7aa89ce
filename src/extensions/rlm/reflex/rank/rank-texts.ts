// Owns how well each of many texts fits a question: rare words that both share, neighbours that both share, the shape of an answer.
// Knows no reply. Invariant: pure, deterministic, linear in the texts; a text that shares nothing with the question scores 0.
import { contentStems } from '#base/text/content-stems.ts';
import { splitWords } from '#base/text/split-words.ts';
import type { Question } from '../read/read-question.ts';
import { relatedStems } from './related-stems.ts';

export interface RankedText {
  readonly text: string;
  /** What stands above it; its words count less. */
  readonly under: string;
  readonly weight: number;
}

export interface Score {
  /** Place in the list that was given. */
  readonly at: number;
  /** About 0 to 1.5. */
  readonly score: number;
  /** How many of the question's words it shares. */
  readonly shared: number;
}

/** What a word of the heading counts, what a word of the same field counts. */
const HEADING = 0.7;
const RELATED = 0.6;
/** A number in a question is meant: of two the other one is no answer. */
const NUMBER = 2;
const PAIR = 0.15;
const SHAPE = 0.2;

export function rankTexts(question: Question, texts: readonly RankedText[]): readonly Score[] {
  const read = texts.map(({ text, under }) => ({
    own: new Set(contentStems(text)),
    above: new Set(contentStems(under)),
  }));
  const weights = wordWeights(
    question,
    read.map(({ own }) => own),
  );
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  return texts.map((one, at) => {
    const words = read[at] ?? { own: new Set<string>(), above: new Set<string>() };
    if (question.every) return { at, score: shapeScore(question, one.text) > 0 ? one.weight : 0, shared: 0 };
    const shares = question.stems.map((stem) => shareOf(stem, words) * (weights.get(stem) ?? 0));
    const shared = question.stems.filter((stem) => words.own.has(stem) || hasRelated(stem, words.own)).length;
    const sum = total === 0 ? 0 : shares.reduce((left, right) => left + right, 0) / total;
    if (sum === 0) return { at, score: 0, shared };
    const extra = pairScore(question, one.text) + shapeScore(question, one.text);
    return { at, score: sum * (1 + (shared === 0 ? extra / 2 : extra)) * one.weight, shared };
  });
}

interface Words {
  readonly own: ReadonlySet<string>;
  readonly above: ReadonlySet<string>;
}

function shareOf(stem: string, { own, above }: Words): number {
  if (own.has(stem)) return 1;
  if (hasRelated(stem, own)) return RELATED;
  return above.has(stem) ? HEADING : 0;
}

function hasRelated(stem: string, own: ReadonlySet<string>): boolean {
  return relatedStems(stem).some((other) => own.has(other));
}

/** The rarer among the texts, the more it counts. */
function wordWeights({ stems }: Question, texts: readonly ReadonlySet<string>[]): ReadonlyMap<string, number> {
  return new Map(
    stems.map((stem) => {
      const holding = texts.reduce((count, own) => count + (own.has(stem) ? 1 : 0), 0);
      const rarity = Math.log(1 + (texts.length + 1) / (holding + 1));
      return [stem, /\d/.test(stem) ? rarity * NUMBER : rarity];
    }),
  );
}

function pairScore({ pairs }: Question, text: string): number {
  if (pairs.length === 0) return 0;
  const stems = contentStems(text);
  const found = pairs.filter(([left, right]) => stems.some((stem, at) => stem === left && stems[at + 1] === right));
  return Math.min(2, found.length) * PAIR;
}

function shapeScore({ shapes }: Question, text: string): number {
  return shapes.some(({ shown }) => shown.test(text)) ? SHAPE : 0;
}

/** Words of a text, for what is too short to be a passage. */
export function wordCount(text: string): number {
  return splitWords(text).length;
}
