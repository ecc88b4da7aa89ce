// Owns which passages of a text are quoted as an answer to a question: word overlap and nothing else, for a rule understands no question.
// Knows no reply and no model. Invariant: every quote is a whole passage of the text; none when nothing fits; pure, linear in the text.
import { contentStems } from '#base/text/content-stems.ts';
import { cutPassages, type Passage } from '../text/cut-passages.ts';

/** What is longer is a text and no question. */
const LONGEST_QUESTION = 2_000;

/** They ask, and say nothing of what is looked for. */
const IDLE: ReadonlySet<string> = new Set(
  contentStems(`answer question describe explain summarize summary overview document text chunk material content list find show name give
  quote extract tell fact claim every all main statement source many much long often mean happen happens`),
);

/** "List every fact of the log with its chunk", "the main statements of x": whatever the text says. */
const WHOLE = /\b(?:(?:all|every|each)\s+(?:\w{1,20}\s+)?facts?|main\s+statements?)\b/i;

/** Stems that an answer should share, each once. None: it asks for the whole, or in words that say nothing. */
export function questionStems(text: string): readonly string[] {
  const head = text.slice(0, LONGEST_QUESTION);
  return WHOLE.test(head) ? [] : [...new Set(contentStems(head))].filter((stem) => !IDLE.has(stem));
}

/** Best first, those near the best; rare words count more, those of the heading less. A text that shares no stem is left out. */
export function rankTexts<T extends { readonly text: string; readonly under?: string }>(
  stems: readonly string[],
  texts: readonly T[],
  { near, most }: { readonly near: number; readonly most: number },
): readonly (T & { readonly score: number })[] {
  const read = texts.map(
    ({ text, under = '' }) => [new Set(contentStems(text)), new Set(contentStems(under))] as const,
  );
  const weights = stems.map((stem) => {
    const holding = read.filter(([own]) => own.has(stem)).length;
    // A number in a question is meant: of two the other one is no answer.
    return Math.log(1 + (texts.length + 1) / (holding + 1)) * (/\d/.test(stem) ? 2 : 1);
  });
  const sum = (shares: readonly number[]) => shares.reduce((left, right) => left + right, 0);
  const total = sum(weights);
  const scored = texts.map((one, at) => {
    const shareOf = (stem: string) => (read[at]?.[0].has(stem) ? 1 : read[at]?.[1].has(stem) ? 0.7 : 0);
    return { ...one, score: sum(stems.map((stem, which) => shareOf(stem) * (weights[which] ?? 0))) / total };
  });
  const best = scored.reduce((top, { score }) => Math.max(top, score), 0);
  const good = scored.filter(({ score }) => score > 0 && score >= best * near);
  return good.toSorted((left, right) => right.score - left.score).slice(0, most);
}

export type Quote = Pick<Passage, 'text' | 'tag'> & { readonly score: number };

const MOST_QUOTES = 8;
/** Beyond so many passages the rest of a text is not read by the rule; what has more characters than LONGEST is no quotation. */
const MOST_PASSAGES = 20_000;
const LONGEST = 2_000;
/** Less is chance. */
const LEAST = 0.3;

export function pickQuotes(question: string, text: string): readonly Quote[] {
  const stems = questionStems(question);
  const body = cutPassages(text)
    .slice(0, MOST_PASSAGES)
    .filter((one) => one.kind !== 'heading' && one.text.length <= LONGEST && /[\p{L}\p{N}]/u.test(one.text));
  const ranked = rankTexts(stems, body, { near: 0.55, most: MOST_QUOTES * 2 }).filter(({ score }) => score >= LEAST);
  const quotes = stems.length > 0 ? ranked : leading(body).map((one) => ({ ...one, score: 0.5 }));
  const once = distinct(quotes).slice(0, MOST_QUOTES);
  return once.map(({ text: said, tag, score }) => ({ text: said, tag, score }));
}

/** With no word to look for: what is tagged as a fact, else how each section begins. */
function leading(body: readonly Passage[]): readonly Passage[] {
  const tagged = body.filter(({ tag }) => tag !== null);
  return tagged.length > 0 ? tagged : body.filter((one, at) => one.under !== body[at - 1]?.under);
}

/** The same words once. */
export function distinct<T extends { readonly text: string }>(texts: readonly T[]): readonly T[] {
  const seen = new Set<string>();
  return texts.filter(({ text }) => {
    const before = seen.size;
    return seen.add(text.replace(/\s+/g, ' ').toLowerCase()).size > before;
  });
}
