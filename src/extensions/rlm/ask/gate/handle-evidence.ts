// Owns what one handle holds: the terms that its text says, and how it speaks for or against a sentence. Knows no verdict.
// A name counts as computed only when what went in holds it: code can compute numbers, names must be read. A number that the code states
// by itself is none that it computed. Invariant: pure; a handle that holds more never says less.
import type { ClaimReading, ExactTerm, SoftWord } from '#mind/evidence/trace-guard/read-claim.ts';
import { type EvidenceReading, type QuotePlace, readEvidence } from '#mind/evidence/trace-guard/read-evidence.ts';
import { says, saysLoosely } from '#mind/evidence/trace-guard/says-term.ts';
import type { ComputedHandle, Handle } from '../ask-outcome.ts';
import { isPlainNumber, outputText, saysNothingThere, statedNumbers } from './computed-text.ts';
import { WHOLE_CONTEXT } from './grounded-handles.ts';
import { bareNumber, momentParts, numberValue } from './number-values.ts';

export interface HandleEvidence {
  readonly kind: Handle['kind'];
  /** Folded words, to find what turns a quotation. */
  readonly words: string;
  readonly denies: boolean;
  /** Where it speaks for or against; none for what is computed. */
  readonly places: readonly QuotePlace[];
  holds(term: ExactTerm, claim: ClaimReading): boolean;
  holdsLoosely(word: SoftWord): boolean;
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
      return textEvidence('child', handle.text, new Set());
    case 'computed':
      return computedEvidence(handle, others);
  }
}

function textEvidence(kind: 'span' | 'child', text: string, paths: ReadonlySet<string>): HandleEvidence {
  const reading = read(text);
  return {
    kind,
    words: reading.folded,
    denies: reading.hasNegation,
    places: [{ reading, quoted: reading.sentences, mentions: reading.mentions }],
    holds: (term) => holdsTerm(reading, term) || term.keys.some((key) => paths.has(key)),
    holdsLoosely: (word) => saysLoosely(reading, word),
  };
}

function computedEvidence(handle: ComputedHandle, { of, inContext }: EvidenceOfOthers): HandleEvidence {
  const output = read(outputText(handle.output));
  const code = read(handle.code);
  const computed = bareNumbers(output);
  const stated = bareNumbers(read(statedNumbers(handle.code)));
  const inputs = handle.inputs.flatMap((id) => of(id) ?? []);
  const whole = handle.inputs.includes(WHOLE_CONTEXT);
  const isEmpty = saysNothingThere(handle.output);
  const isMade = (value: string): boolean => computed.has(value) && (isPlainNumber(value) || !stated.has(value));
  const inInput = (term: ExactTerm, claim: ClaimReading): boolean => inputs.some((one) => one.holds(term, claim));
  const holdsName = (term: ExactTerm, claim: ClaimReading): boolean => {
    if (inInput(term, claim) || (whole && inContext.has(nameOf(term)))) return says(output, term) || says(code, term);
    return isEmpty && claim.hasNegation && says(code, term);
  };
  return {
    kind: 'computed',
    words: output.folded,
    denies: isEmpty || output.hasNegation,
    places: [],
    holds: (term, claim) => {
      const numbers = term.keys.flatMap((key) => bareNumber(key) ?? []);
      if (numbers.length === 0) return holdsName(term, claim);
      return numbers.some(isMade) || (numbers.some((one) => computed.has(one)) && inInput(term, claim));
    },
    holdsLoosely: (word) => saysLoosely(output, word) || saysLoosely(code, word),
  };
}

/** Up to the last whole word that is read. */
function read(text: string): EvidenceReading {
  if (text.length <= MOST_READ) return readEvidence({ text, origin: 'model' });
  const head = text.slice(0, MOST_READ);
  return readEvidence({ text: head.slice(0, Math.max(0, head.search(/\s\S*$/u))), origin: 'model' });
}

function holdsTerm(reading: EvidenceReading, term: ExactTerm): boolean {
  if (says(reading, term)) return true;
  if (!term.keys.some((key) => /^-?\d/.test(key))) return false;
  const values = new Set([...reading.exact].flatMap((key) => [numberValue(key), ...momentParts(key)]));
  return term.keys.some((key) => values.has(numberValue(key)));
}

function bareNumbers({ exact }: EvidenceReading): ReadonlySet<string> {
  return new Set([...exact].flatMap((key) => bareNumber(key) ?? []));
}

/** A sentence may name the file that it cites, as a path or by its name; not a word of the name. */
function pathTails(path: string): ReadonlySet<string> {
  const segments = path.toLowerCase().split('/').slice(-24);
  const tails = segments.map((_, at) => segments.slice(at).join('/'));
  return new Set(tails.filter((tail) => /[./_-]/.test(tail) && bareNumber(tail) === undefined));
}
