// Owns what a question looks for: the stems that an answer should share, and the shape that it should have (a date, a figure, a command).
// Invariant: total, deterministic, linear; what only says that something is asked ("list", "document") is no stem to look for.
import { contentStems } from '#base/text/content-stems.ts';
import { GERMAN, GERMAN_SIGNS } from '../../ambiguity/german-words.ts';
import { type AnswerShape, SHAPES } from './answer-shapes.ts';

export interface Question {
  /** Each once, in order. Empty: it asks for the whole, or in words that say nothing. */
  readonly stems: readonly string[];
  /** Neighbours among the stems. */
  readonly pairs: readonly (readonly [string, string])[];
  /** Shapes that speak for an answer. */
  readonly shapes: readonly AnswerShape[];
  /** It asks for every place of its shapes: "list all dates". */
  readonly every: boolean;
}

/** What is longer is a text and no question. */
const LONGEST = 2_000;

/** They say nothing of what is looked for, wherever they stand. */
const IDLE: ReadonlySet<string> = new Set(
  contentStems(`answer question describe explain summarize summarise summary overview outline document documents text texts chunk chunks
  material context content article page pages please every fact facts claim beyond boundary without passage passages sentence sentences
  many much long often mean means does word words important main key point points according detail details exactly used use happen
  happens work works say says`),
);

const GERMAN_IDLE: ReadonlySet<string> = new Set([
  ...IDLE,
  ...contentStems(
    [GERMAN.functionWords, GERMAN.questionWords, GERMAN.emptyWords].flatMap((words) => [...words]).join(' '),
  ),
]);

function isGerman(question: string): boolean {
  return (question.match(/\p{L}+/gu) ?? []).some((word) => GERMAN_SIGNS.has(word));
}

/** They ask when they stand first; later they may be what is asked about: "what stops a write". */
const ASKING: ReadonlySet<string> = new Set(
  contentStems(
    'list find show name give state quote cite extract enumerate identify report collect write tell return print locate search look',
  ),
);

/** "List every fact of the log with its chunk": whatever is tagged as one. */
const EVERY_FACT = /\b(?:all|every|each)\s+(?:\w{1,20}\s+)?facts?\b/;

/** What the whole says in the main. */
const WHOLE = /\b(?:main|key|central)\s+(?:statements?|points?|ideas?|contents?)\s+(?:of|in|from)\b/;

export function readQuestion(text: string): Question {
  const lower = text.slice(0, LONGEST).toLowerCase();
  const all = contentStems(lower);
  const shapes = SHAPES.filter(({ asked }) => asked.test(lower));
  const named = new Set(shapes.flatMap(({ names }) => names));
  const every = shapes.length > 0 && /\b(?:all|every|each|list|extract|collect|enumerate|which)\b/.test(lower);
  const asked = ASKING.has(all[0] ?? '') ? all.slice(1) : all;
  const idle = isGerman(lower) ? GERMAN_IDLE : IDLE;
  const wanted = [...new Set(asked)].filter((stem) => !idle.has(stem));
  if (EVERY_FACT.test(lower) || WHOLE.test(lower)) return { stems: [], pairs: [], shapes: [], every: false };
  const stems = every ? wanted.filter((stem) => !named.has(stem)) : wanted;
  const kept = new Set(stems);
  const pairs = all.flatMap((stem, at) => {
    const next = all[at + 1];
    return next !== undefined && next !== stem && kept.has(stem) && kept.has(next) ? [[stem, next] as const] : [];
  });
  return { stems, pairs, shapes, every: every && stems.length === 0 };
}
