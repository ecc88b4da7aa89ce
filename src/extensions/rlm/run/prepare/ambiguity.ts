// Owns whether a run may begin: a score of what a request leaves open, by three checks, against the threshold; asked back while a person is
// there, overridden with a reason. What a sentence means is for a model to say: its rating counts when it is asked for, and only ever stops.
// Knows no target. Invariant: total, deterministic but for the rating, linear; the threshold is 0..0.2; what was overridden is in the record.
// Serves seed 003: the outer scaffold validates ambiguity <= 0.2.
import { splitWords } from '#base/text/split-words.ts';
import { stemWord } from '#base/text/stem-word.ts';
import { isStopStem } from '#base/text/stop-words.ts';

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

export type AmbiguityTerm = keyof typeof AMBIGUITY_TERMS;

export const AMBIGUITY_THRESHOLD = 0.2;

export interface MeasuredTerm {
  readonly term: AmbiguityTerm;
  readonly weight: number;
  /** 0 holds, 1 fails. */
  readonly fault: 0 | 1;
}

export interface Ambiguity {
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

export interface AmbiguityVerdict {
  readonly passed: boolean;
  readonly ambiguity_score: number;
  readonly ambiguity_threshold: number;
  /** 0..1, by a model that was asked for one. */
  readonly model_rating: number | null;
  /** Why the owner goes on; null unless the run would have been stopped. */
  readonly override: string | null;
  /** What to ask back; null when the run goes on. */
  readonly question: string | null;
}

/** What a model says of a request: how open it is, and what it would ask. */
export interface ModelRating {
  readonly rating: number;
  readonly question: string;
}

export interface ClearAsk {
  readonly question: string;
  /** 0..0.2 */
  readonly threshold: number;
  readonly force: string | null;
}

export interface ClearGround {
  /** Present when a person can answer. */
  readonly ask?: ((question: string) => Promise<string>) | undefined;
  /** Null: it gave none. */
  readonly rate?: ((question: string) => Promise<ModelRating | null>) | undefined;
}

export interface ClearRequest {
  /** With the answers. */
  readonly question: string;
  readonly verdict: AmbiguityVerdict;
  readonly terms: readonly MeasuredTerm[];
}

const MOST_QUESTIONS = 2;

/** The verdict may be that it is not clear: whoever calls shows its question. */
export async function askClear(
  { question, threshold, force }: ClearAsk,
  { ask, rate }: ClearGround,
): Promise<ClearRequest> {
  let text = question;
  for (let asked = 0; ; asked += 1) {
    const measured = measureAmbiguity(text);
    const rated = measured.score <= threshold || force !== null ? ((await rate?.(text)) ?? null) : null;
    const verdict = judged(measured, rated, { threshold, force });
    if (verdict.passed || ask === undefined || asked === MOST_QUESTIONS)
      return { question: text, verdict, terms: measured.terms };
    const answer = (await ask(verdict.question ?? UNSAID)).trim();
    if (answer !== '') text = `${text.trim().replace(/(?<![.!?])$/, '.')} ${answer}`.toWellFormed();
  }
}

const UNSAID = 'What exactly is wanted?';

/** For a question that nobody can be asked about: recorded, with the reason why it is asked all the same. */
export function judged(
  measured: Ambiguity,
  rated: ModelRating | null,
  { threshold, force }: { readonly threshold: number; readonly force: string | null },
): AmbiguityVerdict {
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
