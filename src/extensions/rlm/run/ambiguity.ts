// Owns whether a run may begin: a score of what a request leaves open, by three checks, against the threshold; asked back while a person is
// there, overridden with a reason. What a sentence means is for a model to say: its rating counts when it is asked for, and only ever stops.
// Knows no target. Invariant: total, deterministic but for the rating, linear; the threshold is 0..0.2; what was overridden is in the record.
// Serves seed 003: the outer scaffold validates ambiguity <= 0.2.

import { isJsonObject } from '#base/json.ts';
import { isStopStem, splitWords, stemWord } from '#base/text/words.ts';
import { oneLine } from '#base/text.ts';
import type { InnerCall } from '../call/inner-call.ts';
import { extractJson } from '../guard/extract-json.ts';
import type { AmbiguityVerdict } from './run-request.ts';

/** Each weight exceeds the threshold: one check that fails is enough to ask. The guide lists the table from here. */
export const AMBIGUITY_TERMS = {
  says_something: {
    weight: 0.4,
    means: 'it names what is wanted',
    question: 'What exactly should be done, and with what?',
  },
  points_nowhere: {
    weight: 0.3,
    means: 'nothing points outside the request',
    question: 'What do the words stand for that point elsewhere?',
  },
  has_an_end: {
    weight: 0.3,
    means: 'it says where the work ends and by what it is judged',
    question: 'Which part is meant, and by what is the answer judged?',
  },
} as const;

type AmbiguityTerm = keyof typeof AMBIGUITY_TERMS;

export const AMBIGUITY_THRESHOLD = 0.2;

export interface MeasuredTerm {
  readonly term: AmbiguityTerm;
  readonly weight: number;
  /** 0 holds, 1 fails. */
  readonly fault: 0 | 1;
}

interface Ambiguity {
  readonly score: number;
  readonly terms: readonly MeasuredTerm[];
  /** What to ask back, the heaviest term first; null: nothing is open. */
  readonly question: string | null;
}

const listed = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));

const POINTING = listed('it this that these those them one ones das es dies');
/** They name nothing, whatever is wanted. */
const EMPTY = listed(`
  thing things stuff something anything everything whatever somehow somewhere all please thanks ok okay better nicer good nice
  make do fix improve change help work handle look go check file document text sache sachen etwas irgendwas alles bitte mach mache mal`);
const OPEN_ENDED = listed(`
  better nicer prettier cooler cleaner whatever whichever somehow anything stuff things etc etcetera besser schöner irgendwas irgendwie usw`);

/** What is longer is a text and no request; its beginning says what is asked. */
const LONGEST = 4_000;

export function measureAmbiguity(request: string): Ambiguity {
  const words = splitWords(request.slice(0, LONGEST));
  const naming = words.filter((word) => !isStopStem(stemWord(word)) && !EMPTY.has(word) && !POINTING.has(word));
  const least = request.trimEnd().endsWith('?') ? 1 : 2;
  const faults: Readonly<Record<AmbiguityTerm, boolean>> = {
    says_something: naming.length < least,
    points_nowhere: naming.length < least && words.some((word) => POINTING.has(word)),
    has_an_end: words.some((word) => OPEN_ENDED.has(word)),
  };
  const terms = (Object.keys(AMBIGUITY_TERMS) as AmbiguityTerm[]).map((term): MeasuredTerm => {
    return { term, weight: AMBIGUITY_TERMS[term].weight, fault: faults[term] ? 1 : 0 };
  });
  const open = terms.filter(({ fault }) => fault > 0);
  const sum = open.reduce((total, { weight }) => total + weight, 0);
  const question = open.map(({ term }) => AMBIGUITY_TERMS[term].question).join(' ');
  return { score: Math.min(1, Math.round(sum * 1e4) / 1e4), terms, question: question === '' ? null : question };
}

/** What a model says of a request: how open it is, and what it would ask. */
export interface ModelRating {
  readonly rating: number;
  readonly question: string;
}

export interface ClearGround {
  /** Present when a person can answer. */
  readonly ask?: ((question: string) => Promise<string>) | undefined;
  /** Null: it gave none. */
  readonly rate?: ((question: string) => Promise<ModelRating | null>) | undefined;
}

/** From which on it asks back, 0..0.2; why the owner goes on all the same. */
interface Gate {
  readonly threshold: number;
  readonly force: string | null;
}

const MOST_QUESTIONS = 2;

/** The verdict may be that it is not clear: whoever calls shows its question. */
export async function askClear(question: string, gate: Gate, { ask, rate }: ClearGround) {
  let text = question;
  for (let asked = 0; ; asked += 1) {
    const measured = measureAmbiguity(text);
    const rated = measured.score <= gate.threshold || gate.force !== null ? ((await rate?.(text)) ?? null) : null;
    const verdict = judged(measured, rated, gate);
    if (verdict.passed || ask === undefined || asked === MOST_QUESTIONS)
      return { question: text, verdict, terms: measured.terms };
    const answer = (await ask(verdict.question ?? UNSAID)).trim();
    if (answer !== '') text = `${text.trim().replace(/(?<![.!?])$/, '.')} ${answer}`.toWellFormed();
  }
}

const UNSAID = 'What exactly is wanted?';

/** For a question that nobody can be asked about: recorded, with the reason why it is asked all the same. */
export function judged(measured: Ambiguity, rated: ModelRating | null, { threshold, force }: Gate): AmbiguityVerdict {
  const isClear = measured.score <= threshold && (rated?.rating ?? 0) <= threshold;
  const override = isClear || (force ?? '').trim() === '' ? null : force;
  const passed = isClear || override !== null;
  return {
    passed,
    ambiguity_score: measured.score,
    ambiguity_threshold: threshold,
    model_rating: rated?.rating ?? null,
    override,
    question: passed ? null : (measured.question ?? rated?.question ?? UNSAID),
  };
}

export const RATE_SYSTEM_PROMPT =
  'You rate how ambiguous a request is. Reply with one JSON object and nothing else: {"ambiguity": NUMBER, "question": TEXT}: from 0 (clear) to 1 (nobody could tell what is wanted), and the one question that you would ask back.';

/** Characters. */
const LONGEST_QUESTION = 300;
const TIMEOUT_MS = 60_000;

export function ambiguityRater(
  inner: InnerCall,
  signal: AbortSignal,
): (request: string) => Promise<ModelRating | null> {
  return async (request) => {
    const prompt = JSON.stringify({ schema_version: 'talaria.rlm.rate_ambiguity.v1', request });
    const call = { call_id: 'rlm_call_rate_ambiguity', system: RATE_SYSTEM_PROMPT, prompt };
    const reply = await inner.call({ ...call, max_output_tokens: 256, timeout_ms: TIMEOUT_MS }, signal);
    const read = reply.ok ? extractJson(reply.value.completion) : null;
    if (!read?.ok || !isJsonObject(read.value)) return null;
    const { ambiguity: rating, question } = read.value;
    if (typeof rating !== 'number' || !(rating >= 0 && rating <= 1)) return null;
    return { rating, question: typeof question === 'string' ? oneLine(question, LONGEST_QUESTION) : '' };
  };
}
