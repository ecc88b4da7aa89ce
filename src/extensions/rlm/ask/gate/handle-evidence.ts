// Owns what one handle holds: the terms that its text says, and how it speaks for or against a sentence. Knows no verdict.
// Code can compute numbers; names and words must be read: they count only when what went in holds them, and so does what was read out of
// something computed. A number that the code states by itself is none that it computed. Invariant: pure; every handle answers once a term,
// however often others rest on it.
import type { ClaimReading, ExactTerm, SoftWord } from '#mind/evidence/trace-guard/read-claim.ts';
import { type EvidenceReading, type QuotePlace, readEvidence } from '#mind/evidence/trace-guard/read-evidence.ts';
import { says, saysLoosely } from '#mind/evidence/trace-guard/says-term.ts';
import type { ComputedHandle, Handle } from '../ask-outcome.ts';
import { isPlainNumber, outputText, saysNothingThere, statedNumbers } from './computed-text.ts';
import { WHOLE_CONTEXT } from './grounded-handles.ts';
import { bareNumber, momentParts, numberValue } from './number-values.ts';
import { plainText } from './plain-text.ts';

export interface HandleEvidence {
  readonly kind: Handle['kind'];
  /** As it stands; of what code made, its output. */
  readonly written: string;
  /** Folded words, to find what turns a quotation. */
  readonly words: string;
  readonly denies: boolean;
  /** Where it speaks for or against; none for what is computed. */
  readonly places: readonly QuotePlace[];
  /** Code made it, or it was read out of what code made. */
  readonly isMade: boolean;
  holds(term: ExactTerm, claim: ClaimReading): boolean;
  holdsLoosely(word: SoftWord, claim: ClaimReading): boolean;
  /** It computed a number of the claim, or that something is not there. */
  counts(claim: ClaimReading): boolean;
}

/** What a computed handle may look at. */
export interface EvidenceOfOthers {
  /** Undefined: no such handle, or one that rests on nothing. */
  readonly of: (id: string) => HandleEvidence | undefined;
  /** Names that the context holds, as the sentences write them. */
  readonly inContext: ReadonlySet<string>;
}

export function isNumberTerm({ keys }: ExactTerm): boolean {
  return keys.some((key) => bareNumber(key) !== undefined);
}

/** As it is looked for in the context. */
export function nameOf({ shown }: ExactTerm): string {
  return shown.replace(/['’]s?$/u, '');
}

/** Characters of a text that are read; what is longer is no evidence for one sentence. */
const MOST_READ = 20_000;

export function handleEvidence(handle: Handle, others: EvidenceOfOthers): HandleEvidence {
  switch (handle.kind) {
    case 'span':
      return textEvidence('span', handle.quote, pathTails(handle.place.source_path));
    case 'child':
      return childEvidence(textEvidence('child', handle.text, new Set()), others.of(handle.over));
    case 'computed':
      return computedEvidence(handle, others);
  }
}

function textEvidence(kind: 'span' | 'child', text: string, paths: ReadonlySet<string>): HandleEvidence {
  const reading = read(text);
  const values = numberValues(reading);
  return {
    kind,
    written: text,
    words: reading.folded,
    denies: reading.hasNegation,
    places: [{ reading, quoted: reading.sentences, mentions: reading.mentions }],
    isMade: false,
    holds: (term) => holdsTerm(reading, values, term) || term.keys.some((key) => paths.has(key)),
    holdsLoosely: (word) => saysLoosely(reading, word),
    counts: () => false,
  };
}

/** A model that quotes what code made has read it nowhere: what the code may not say by itself it may not say through a child. */
function childEvidence(own: HandleEvidence, base: HandleEvidence | undefined): HandleEvidence {
  if (base === undefined || !base.isMade) return own;
  return {
    ...own,
    isMade: true,
    denies: own.denies && base.denies,
    holds: once((term: ExactTerm, claim) => own.holds(term, claim) && base.holds(term, claim)),
    holdsLoosely: once((word: SoftWord, claim) => own.holdsLoosely(word, claim) && base.holdsLoosely(word, claim)),
  };
}

function computedEvidence(handle: ComputedHandle, { of, inContext }: EvidenceOfOthers): HandleEvidence {
  const output = read(outputText(handle.output));
  const code = read(handle.code);
  const computed = bareNumbers(output);
  const stated = bareNumbers(read(statedNumbers(handle.code)));
  const inputs = [...new Set(handle.inputs)].flatMap((id) => of(id) ?? []);
  const whole = handle.inputs.includes(WHOLE_CONTEXT);
  const isEmpty = saysNothingThere(handle.output);
  const isMade = (value: string): boolean => computed.has(value) && (isPlainNumber(value) || !stated.has(value));
  const inInput = once((term: ExactTerm, claim) => inputs.some((one) => one.holds(term, claim)));
  const wordInInput = once((word: SoftWord, claim) => inputs.some((one) => one.holdsLoosely(word, claim)));
  const isDenied = (claim: ClaimReading): boolean => isEmpty && claim.hasNegation;
  const holdsNumber = (numbers: readonly string[], term: ExactTerm, claim: ClaimReading): boolean =>
    numbers.some(isMade) || (numbers.some((one) => computed.has(one)) && inInput(term, claim));
  const holdsName = (term: ExactTerm, claim: ClaimReading): boolean => {
    if (inInput(term, claim) || (whole && inContext.has(nameOf(term)))) return says(output, term) || says(code, term);
    return isDenied(claim) && says(code, term);
  };
  const counts = (claim: ClaimReading): boolean =>
    isDenied(claim) ||
    claim.exact.some((term) => {
      const numbers = bareNumbersOf(term);
      return numbers.length > 0 && holdsNumber(numbers, term, claim);
    });
  return {
    kind: 'computed',
    written: handle.output,
    words: output.folded,
    denies: isEmpty || output.hasNegation,
    places: [],
    isMade: true,
    counts,
    holds: (term, claim) => {
      const numbers = bareNumbersOf(term);
      return numbers.length === 0 ? holdsName(term, claim) : holdsNumber(numbers, term, claim);
    },
    holdsLoosely: (word, claim) =>
      counts(claim) ? saysLoosely(output, word) || saysLoosely(code, word) : wordInInput(word, claim),
  };
}

/** A term belongs to one claim, so that it is key enough. */
function once<T extends object>(find: (term: T, claim: ClaimReading) => boolean): typeof find {
  const known = new WeakMap<T, boolean>();
  return (term, claim) => {
    const found = known.get(term) ?? find(term, claim);
    known.set(term, found);
    return found;
  };
}

/** Up to the last whole word that is read, in the plain form in which sentences are read. */
function read(text: string): EvidenceReading {
  if (text.length <= MOST_READ) return readEvidence({ text: plainText(text), origin: 'model' });
  const head = text.slice(0, MOST_READ);
  return readEvidence({ text: plainText(head.slice(0, Math.max(0, head.search(/\s\S*$/u)))), origin: 'model' });
}

function holdsTerm(reading: EvidenceReading, values: () => ReadonlySet<string>, term: ExactTerm): boolean {
  if (says(reading, term)) return true;
  if (!term.keys.some((key) => /^-?\d/.test(key))) return false;
  return term.keys.some((key) => values().has(numberValue(key)));
}

/** Built when the first number is asked for. */
function numberValues({ exact }: EvidenceReading): () => ReadonlySet<string> {
  let values: ReadonlySet<string> | undefined;
  return () => {
    values ??= new Set([...exact].flatMap((key) => [numberValue(key), ...momentParts(key)]));
    return values;
  };
}

function bareNumbers({ exact }: EvidenceReading): ReadonlySet<string> {
  return new Set([...exact].flatMap((key) => bareNumber(key) ?? []));
}

function bareNumbersOf({ keys }: ExactTerm): readonly string[] {
  return keys.flatMap((key) => bareNumber(key) ?? []);
}

/** A sentence may name the file that it cites, as a path or by its name; not a word of the name. */
function pathTails(path: string): ReadonlySet<string> {
  const segments = path.toLowerCase().split('/').slice(-24);
  const tails = segments.map((_, at) => segments.slice(at).join('/'));
  return new Set(tails.filter((tail) => /[./_-]/.test(tail) && bareNumber(tail) === undefined));
}
