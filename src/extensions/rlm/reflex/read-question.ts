// Owns what a question looks for: the stems that an answer should share, and how well a text shares them. Word overlap and nothing else: a
// rule understands no question. Knows no reply. Invariant: total, deterministic, linear; a text that shares no stem scores 0.
import { contentStems } from '#base/text/content-stems.ts';

export interface Question {
  /** Each once, in order. Empty: it asks for the whole, or in words that say nothing. */
  readonly stems: readonly string[];
}

/** What is longer is a text and no question. */
const LONGEST = 2_000;

/** They ask, and say nothing of what is looked for. */
const IDLE: ReadonlySet<string> = new Set(
  contentStems(`answer question describe explain summarize summary overview document text chunk material content list find show name give
  quote extract tell fact claim every all main statement source many much long often mean happen happens`),
);

/** "List every fact of the log with its chunk", "the main statements of x": whatever the text says. */
const WHOLE = /\b(?:(?:all|every|each)\s+(?:\w{1,20}\s+)?facts?|main\s+statements?)\b/i;

export function readQuestion(text: string): Question {
  const head = text.slice(0, LONGEST);
  if (WHOLE.test(head)) return { stems: [] };
  return { stems: [...new Set(contentStems(head))].filter((stem) => !IDLE.has(stem)) };
}

export interface RankedText {
  readonly text: string;
  /** What stands above it; its words count less. */
  readonly under?: string;
  /** @default 1 */
  readonly weight?: number;
}

export interface Score {
  /** Place in the list that was given. */
  readonly at: number;
  /** 0 to 1. */
  readonly score: number;
  /** How many of the question's words it shares. */
  readonly shared: number;
}

/** What a word of the heading counts. */
const HEADING = 0.7;
/** A number in a question is meant: of two the other one is no answer. */
const NUMBER = 2;

/** Rare words count more. */
export function rankTexts({ stems }: Question, texts: readonly RankedText[]): readonly Score[] {
  const read = texts.map(({ text, under = '' }) => ({
    own: new Set(contentStems(text)),
    above: new Set(contentStems(under)),
  }));
  const weights = stems.map((stem) => {
    const holding = read.reduce((count, { own }) => count + (own.has(stem) ? 1 : 0), 0);
    return Math.log(1 + (texts.length + 1) / (holding + 1)) * (/\d/.test(stem) ? NUMBER : 1);
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return read.map(({ own, above }, at) => {
    const shares = stems.map(
      (stem, which) => (own.has(stem) ? 1 : above.has(stem) ? HEADING : 0) * (weights[which] ?? 0),
    );
    const sum = shares.reduce((left, right) => left + right, 0);
    const shared = stems.filter((stem) => own.has(stem)).length;
    return { at, score: total === 0 ? 0 : (sum / total) * (texts[at]?.weight ?? 1), shared };
  });
}

/** Best first, of those near the best; the first of equals stays first. */
export function bestOf(scores: readonly Score[], { near, most }: { readonly near: number; readonly most: number }) {
  const best = scores.reduce((top, { score }) => Math.max(top, score), 0);
  const good = scores.filter(({ score }) => score > 0 && score >= best * near);
  return good.toSorted((left, right) => right.score - left.score || left.at - right.at).slice(0, most);
}
