// Owns which passages of a text are quoted as an answer to a question, best first. Knows no reply and no model.
// Invariant: every quote is a passage of the text; none when nothing fits; pure, deterministic, linear in the text.
import { cutPassages, type Passage } from '../../text/cut-passages.ts';
import type { Question } from '../read/read-question.ts';
import { rankTexts, type Score, wordCount } from './rank-texts.ts';

export interface Quote {
  readonly text: string;
  readonly tag: string | null;
  readonly score: number;
  /** Place in the text, UTF-16. */
  readonly start: number;
}

const MOST_QUOTES = 8;
/** Beyond so many passages the rest of a text is not read by the rule. */
const MOST_PASSAGES = 20_000;

export function pickQuotes(question: Question, text: string, most = MOST_QUOTES): readonly Quote[] {
  const passages = cutPassages(text).slice(0, MOST_PASSAGES);
  if (question.stems.length === 0 && !question.every) return leading(passages, most);
  const scores = rankTexts(
    question,
    passages.map((one) => ({ text: one.text, under: one.under, weight: weightOf(one) })),
  );
  const good = withFollowers(scores, passages).filter((one) => isGood(one, question));
  return distinct(keepBest(good, most).map(({ at, score }) => quoteOf(passages[at], score))).slice(0, most);
}

/** With no word to look for: what is tagged as a fact, else how each section begins, with a sentence where it has one. */
function leading(passages: readonly Passage[], most: number): readonly Quote[] {
  const tagged = passages.filter(({ tag }) => tag !== null);
  const chosen = tagged.length > 0 ? tagged : beginnings(passages);
  return distinct(chosen.slice(0, most * 2).map((one) => quoteOf(one, 0.5))).slice(0, most);
}

function beginnings(passages: readonly Passage[]): readonly Passage[] {
  const first = new Map<string, Passage>();
  for (const passage of passages) {
    const known = first.get(passage.under);
    if (
      passage.kind === 'heading' ||
      (known !== undefined && !(known.kind !== 'sentence' && passage.kind === 'sentence'))
    )
      continue;
    first.set(passage.under, passage);
  }
  return [...first.values()].sort((left, right) => left.start - right.start);
}

/** A heading alone answers little; one word is no passage. */
function weightOf({ kind, text }: Passage): number {
  if (kind === 'heading') return 0.55;
  return wordCount(text) < 3 ? 0.6 : 1;
}

/** What ends with a colon is answered by what follows it. */
const FOLLOWERS = 5;

function withFollowers(scores: readonly Score[], passages: readonly Passage[]): readonly Score[] {
  const raised = scores.map((one) => ({ ...one }));
  for (const { at, score } of scores) {
    if (score < LEAST || passages[at]?.text.endsWith(':') !== true) continue;
    for (let next = at + 1; next <= at + FOLLOWERS && isFollower(passages[next]); next += 1) {
      const one = raised[next];
      if (one !== undefined && one.score < score * 0.9)
        raised[next] = { ...one, score: score * 0.9, shared: scores[at]?.shared ?? 0 };
    }
  }
  return raised;
}

function isFollower(passage: Passage | undefined): boolean {
  return passage?.kind === 'item' || passage?.kind === 'code';
}

const LEAST = 0.3;
/** Of a question of one or two words that say something. */
const LEAST_OF_FEW = 0.2;
/** Of the best score. */
const NEAR = 0.55;

/** One common word shared with a long question is chance. */
function isGood({ score, shared }: Score, { stems, every }: Question): boolean {
  if (every) return score > 0;
  if (stems.length <= 2) return score >= LEAST_OF_FEW;
  return score >= LEAST && (shared >= 2 || score >= 0.5);
}

function keepBest(scores: readonly Score[], most: number): readonly Score[] {
  const best = Math.max(0, ...scores.map(({ score }) => score));
  const near = scores.filter(({ score }) => score >= best * NEAR);
  return near.toSorted((left, right) => right.score - left.score || left.at - right.at).slice(0, most * 2);
}

function quoteOf(passage: Passage | undefined, score: number): Quote {
  return { text: passage?.text ?? '', tag: passage?.tag ?? null, score, start: passage?.start ?? 0 };
}

/** The same words once. */
function distinct(quotes: readonly Quote[]): readonly Quote[] {
  const seen = new Set<string>();
  return quotes.filter(({ text }) => {
    const folded = text.replace(/\s+/g, ' ').toLowerCase();
    if (!/[\p{L}\p{N}]/u.test(folded) || seen.has(folded)) return false;
    seen.add(folded);
    return true;
  });
}
