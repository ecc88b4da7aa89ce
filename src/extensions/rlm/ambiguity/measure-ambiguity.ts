/**
 * Owns the measured ambiguity of a request, 0 (clear) to 1: five terms, each with its weight and what was found (ambiguity-terms.ts).
 * It asks no model and reads no file; whether the target exists comes in. Invariant: total, deterministic, the sum of the terms cut at 1.
 * Serves seed 003: the outer scaffold validates ambiguity <= 0.2; here it is really measured.
 */
import { AMBIGUITY_TERMS, type AmbiguityTerm } from './ambiguity-terms.ts';
import { type ReadRequest, readRequest } from './read-request.ts';
import { EVERYTHING, POINTS_AWAY, UNBOUNDED, VAGUE_FORM } from './request-phrases.ts';

export interface AmbiguityRequest {
  readonly request: string;
  readonly target: 'exists' | 'missing' | 'none';
  /** Named apart from the words, by a flag for instance. */
  readonly output_form?: string | null;
}

export interface MeasuredTerm {
  readonly term: AmbiguityTerm;
  readonly weight: number;
  /** 0 holds, 1 fails. */
  readonly fault: number;
  readonly found: string;
}

export interface Ambiguity {
  readonly score: number;
  readonly terms: readonly MeasuredTerm[];
  /** What to ask back, the heaviest term first; null: nothing is open. */
  readonly question: string | null;
}

type Finding = readonly [fault: number, found: string];

export function measureAmbiguity({ request, target, output_form }: AmbiguityRequest): Ambiguity {
  const read = readRequest(request);
  const findings: Readonly<Record<AmbiguityTerm, Finding>> = {
    target_exists: target === 'exists' ? [0, 'there'] : [1, target === 'none' ? 'no target' : 'not found'],
    verb_and_object: judgeVerb(read),
    no_unresolved_pronoun: judgePronoun(read),
    output_form: (output_form ?? '') !== '' ? [0, 'named'] : judgeForm(read),
    scope_bounded: judgeScope(read),
  };
  const terms = (Object.keys(AMBIGUITY_TERMS) as AmbiguityTerm[]).map((term): MeasuredTerm => {
    const [fault, found] = findings[term];
    return { term, weight: AMBIGUITY_TERMS[term].weight, fault, found };
  });
  const sum = terms.reduce((total, { weight, fault }) => total + weight * fault, 0);
  return { score: Math.min(1, Math.round(sum * 1e4) / 1e4), terms, question: questionOf(terms) };
}

function judgeVerb(read: ReadRequest): Finding {
  if (read.words.length === 0) return [1, 'no words'];
  if (read.foreign) return [0, 'not measured: neither English nor German'];
  if (read.verb === null) return [1, 'no verb'];
  if (read.objects.length === 0) return [1, 'no object'];
  return read.specific.length >= (read.question ? 1 : WANTED_OBJECTS[read.verb])
    ? [0, 'both']
    : [0.75, 'a verb and an object that leave open what is wanted'];
}

/** How many objects that say more than "the file" a verb of its kind wants. */
const WANTED_OBJECTS = { clear: 0, open: 1, handling: 2 } as const;

function judgePronoun(read: ReadRequest): Finding {
  if (POINTS_AWAY.some((form) => form.test(read.text))) return [1, 'points at something said elsewhere'];
  return read.unresolved === null ? [0, 'none'] : [1, `"${read.unresolved}" stands for nothing named`];
}

function judgeForm(read: ReadRequest): Finding {
  if (read.question || !VAGUE_FORM.some((form) => form.test(read.text))) return [0, 'named or default'];
  return [1, 'judged by taste'];
}

function judgeScope(read: ReadRequest): Finding {
  return EVERYTHING.test(read.text) || UNBOUNDED.some((form) => form.test(read.text))
    ? [1, 'without an end']
    : [0, 'bounded'];
}

function questionOf(terms: readonly MeasuredTerm[]): string | null {
  const open = terms
    .filter(({ fault }) => fault > 0)
    .sort((left, right) => right.weight * right.fault - left.weight * left.fault);
  return open.length === 0 ? null : open.map(({ term }) => AMBIGUITY_TERMS[term].question).join(' ');
}
