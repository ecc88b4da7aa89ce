// Owns which passages of a text are quoted as an answer to a question, best first. Knows no reply and no model.
// Invariant: every quote is a whole passage of the text; none when nothing fits; pure, deterministic, linear in the text.
import { splitWords } from '#base/text/split-words.ts';
import { cutPassages, type Passage } from '../text/cut-passages.ts';
import { bestOf, type Question, rankTexts, type Score } from './read-question.ts';

export interface Quote {
  readonly text: string;
  readonly tag: string | null;
  readonly score: number;
}

const MOST_QUOTES = 8;
/** Beyond so many passages the rest of a text is not read by the rule. */
const MOST_PASSAGES = 20_000;
/** UTF-16 units; what is longer is no quotation. */
const LONGEST = 2_000;
/** Of the best score. */
const NEAR = 0.55;
/** A heading alone answers little; one word is no passage. */
const WEIGHT_OF_LITTLE = 0.55;

export function pickQuotes(question: Question, text: string): readonly Quote[] {
  const all = cutPassages(text).slice(0, MOST_PASSAGES);
  const passages = all.filter((one) => one.text.length <= LONGEST);
  if (question.stems.length === 0) return distinct(leading(passages).map((one) => ({ ...one, score: 0.5 })));
  const scores = rankTexts(
    question,
    passages.map((one) => ({ ...one, weight: isLittle(one) ? WEIGHT_OF_LITTLE : 1 })),
  );
  const good = withFollowers(scores, passages).filter((one) => isGood(one, question));
  const best = bestOf(good, { near: NEAR, most: MOST_QUOTES * 2 });
  return distinct(best.flatMap(({ at, score }) => passages.slice(at, at + 1).map((one) => ({ ...one, score }))));
}

function isLittle({ kind, text }: Passage): boolean {
  return kind === 'heading' || splitWords(text).length < 3;
}

/** With no word to look for: what is tagged as a fact, else how each section begins. */
function leading(passages: readonly Passage[]): readonly Passage[] {
  const tagged = passages.filter(({ tag }) => tag !== null);
  const body = passages.filter(({ kind }) => kind !== 'heading');
  const chosen = tagged.length > 0 ? tagged : body.filter((one, at) => one.under !== body[at - 1]?.under);
  return chosen.slice(0, MOST_QUOTES * 2);
}

/** What ends with a colon is answered by what follows it. */
const FOLLOWERS = 5;

function withFollowers(scores: readonly Score[], passages: readonly Passage[]): readonly Score[] {
  return scores.map((one) => {
    const leads = scores.slice(Math.max(0, one.at - FOLLOWERS), one.at).filter(({ at, score }) => {
      const between = passages.slice(at + 1, one.at + 1);
      const isList = between.every(({ kind }) => kind === 'item' || kind === 'code');
      return isList && passages[at]?.text.endsWith(':') === true && score > one.score;
    });
    const [lead] = leads.slice(-1);
    return lead === undefined ? one : { ...one, score: lead.score * 0.9, shared: lead.shared };
  });
}

/** One common word shared with a long question is chance. */
function isGood({ score, shared }: Score, { stems }: Question): boolean {
  if (stems.length <= 2) return score >= 0.2;
  return score >= 0.3 && (shared >= 2 || score >= 0.5);
}

/** The same words once. */
function distinct(quotes: readonly Quote[]): readonly Quote[] {
  const seen = new Set<string>();
  const fresh = quotes.filter(({ text }) => {
    const folded = text.replace(/\s+/g, ' ').toLowerCase();
    if (!/[\p{L}\p{N}]/u.test(folded) || seen.has(folded)) return false;
    seen.add(folded);
    return true;
  });
  return fresh.slice(0, MOST_QUOTES).map(({ text, tag, score }) => ({ text, tag, score }));
}
