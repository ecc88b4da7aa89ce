// Owns what one handle says of a clause: a span and a child quote it, something computed counts it. Knows no verdict.
// What a child says its piece must say too, as it stands there; a number that the code states by itself is none that it computed.
// Invariant: pure; every handle answers once a clause, however often others rest on it; more text of a handle never says less of a passage.
import type { ComputedHandle, Handle, SpanHandle } from '../ask-outcome.ts';
import type { Clause } from './clause.ts';
import { codeWords, inventsNumbers } from './computed/code-words.ts';
import { isPlainNumber, outputText, saysNothingThere, statedNumbers } from './computed/computed-text.ts';
import { isCountingWord } from './computed/counting-words.ts';
import { labelOf, type OutputLeaf, outputLeaves } from './computed/output-leaves.ts';
import { WHOLE_CONTEXT } from './grounded-handles.ts';
import { readPassages } from './quote/passages.ts';
import { isFree, quotesPassage, quotesRow } from './quote/quotes-passage.ts';
import { type ReadWord, readWords } from './quote/read-words.ts';

export interface HandleEvidence {
  readonly kind: Handle['kind'];
  /** As it stands; of what code made, its output. */
  readonly written: string;
  says(clause: Clause): boolean;
  /** Does the word stand there, whatever is said with it? */
  holds(word: ReadWord): boolean;
  /** It says the clause with another number. */
  disputes(clause: Clause): boolean;
  isSource(name: string): boolean;
  readonly sources: ReadonlySet<string>;
}

/** What a handle that rests on others may look at. */
export interface EvidenceOfOthers {
  /** Undefined: no such handle, or one that rests on nothing. */
  readonly of: (id: string) => HandleEvidence | undefined;
  readonly handle: (id: string) => Handle | undefined;
  /** Names that the context holds, as the sentences write them. */
  readonly inContext: ReadonlySet<string>;
}

export function handleEvidence(handle: Handle, others: EvidenceOfOthers): HandleEvidence {
  switch (handle.kind) {
    case 'span':
      return textEvidence('span', handle.quote, pathTails(handle.place.source_path));
    case 'child': {
      const own = textEvidence('child', handle.text, new Set());
      const base = others.of(handle.over);
      const over = others.handle(handle.over);
      const piece = over?.kind === 'span' ? pieceEvidence(over, handle.text) : undefined;
      return base === undefined ? own : childEvidence(own, piece ?? base);
    }
    case 'computed':
      return computedEvidence(handle, others);
  }
}

function textEvidence(kind: 'span' | 'child', text: string, paths: ReadonlySet<string>): HandleEvidence {
  const { each, row } = readPassages(text);
  const keys = new Set(row.map(({ key }) => key));
  return {
    kind,
    written: text,
    says: once(
      ({ words, isPart }: Clause) => each.some((one) => quotesPassage(words, one, isPart)) || quotesRow(words, each),
    ),
    holds: ({ key, lower }) => keys.has(key) || paths.has(lower),
    disputes: ({ words }) => each.some((passage) => isOtherNumber(words, passage)),
    isSource: (name) => paths.has(name),
    sources: paths,
  };
}

function isOtherNumber(words: readonly ReadWord[], passage: readonly ReadWord[]): boolean {
  const rest = words.filter((word) => word.kind !== 'number' && !isFree(word));
  const said = new Set(passage.map(({ key }) => key));
  const numbers = words.filter(({ kind }) => kind === 'number');
  if (rest.length === 0 || numbers.length === 0 || !rest.every(({ key }) => said.has(key))) return false;
  return passage.some(({ kind }) => kind === 'number') && !numbers.some(({ key }) => said.has(key));
}

const AROUND = 1_500;

/** The lines of the piece around the words of the child; undefined: it says them with other white space. */
function pieceEvidence({ quote, place }: SpanHandle, text: string): HandleEvidence | undefined {
  const at = quote.indexOf(text.trim());
  if (at < 0) return undefined;
  const near = quote.slice(Math.max(0, at - AROUND), at + text.length + AROUND);
  return textEvidence('span', near, pathTails(place.source_path));
}

/** A model that leaves out what turns a sentence has not read it, and what code may not say it may not say through a child. */
function childEvidence(own: HandleEvidence, base: HandleEvidence): HandleEvidence {
  return {
    ...own,
    says: once((clause: Clause) => own.says(clause) && base.says(clause)),
    holds: once((word: ReadWord) => own.holds(word) && base.holds(word)),
    isSource: (name) => base.isSource(name),
    sources: base.sources,
  };
}

function computedEvidence(handle: ComputedHandle, { of, inContext }: EvidenceOfOthers): HandleEvidence {
  const inputs = [...new Set(handle.inputs)].flatMap((id) => of(id) ?? []);
  const sources = new Set(inputs.flatMap((one) => [...one.sources]));
  const made = readComputed(handle, inputs, inContext);
  const repeats = (words: readonly ReadWord[]): boolean =>
    words.every((word) => isFree(word) || made.output.has(word.key));
  return {
    kind: 'computed',
    written: handle.output,
    says: once(
      (clause) => counts(made, clause.words) || (repeats(clause.words) && inputs.some((one) => one.says(clause))),
    ),
    holds: once((word: ReadWord) => knowsWord(made, word, made.isEmpty)),
    disputes: () => false,
    isSource: (name) => sources.has(name),
    sources,
  };
}

interface Computed {
  /** Keys of the words of what it gave, of its texts and patterns, of the numbers that it states. */
  readonly output: ReadonlySet<string>;
  readonly searched: ReadonlySet<string>;
  readonly stated: ReadonlySet<string>;
  readonly isEmpty: boolean;
  readonly invents: boolean;
  readonly leaves: readonly OutputLeaf[];
  readonly inInput: (word: ReadWord) => boolean;
  readonly isThere: (name: ReadWord) => boolean;
}

function readComputed(
  handle: ComputedHandle,
  inputs: readonly HandleEvidence[],
  inContext: ReadonlySet<string>,
): Computed {
  const isWhole = handle.inputs.includes(WHOLE_CONTEXT);
  const inInput = (word: ReadWord): boolean => inputs.some((one) => one.holds(word) || one.isSource(word.lower));
  return {
    output: keysOf(outputText(handle.output).slice(0, MOST_OUTPUT)),
    searched: codeWords(handle.code),
    stated: keysOf(statedNumbers(handle.code.slice(0, MOST_OUTPUT))),
    isEmpty: saysNothingThere(handle.output),
    invents: inventsNumbers(handle.code),
    leaves: outputLeaves(handle.output),
    inInput,
    isThere: (name) => inInput(name) || (isWhole && inContext.has(name.shown.replace(/['’]s?$/u, ''))),
  };
}

function keysOf(text: string): ReadonlySet<string> {
  return new Set(readWords(text).map(({ key }) => key));
}

function counts(made: Computed, words: readonly ReadWord[]): boolean {
  const denies = made.isEmpty && words.some(isDenial);
  if (!denies && !words.some(({ kind, key }) => kind === 'number' && made.output.has(key))) return false;
  return words.every((word) => isFree(word) || knowsWord(made, word, denies)) && belongTogether(words, made.leaves);
}

function knowsWord(made: Computed, word: ReadWord, denies: boolean): boolean {
  const { kind, key, lower, role } = word;
  if (kind === 'number') return isMade(made, word) || (made.searched.has(key) && !made.output.has(key));
  if (role === 'limiting') return denies && isDenial(word);
  if (isCountingWord(lower)) return true;
  if (kind === 'word' || kind === 'unit') return made.searched.has(key) || made.inInput(word);
  return (denies || made.isThere(word)) && (made.searched.has(key) || made.output.has(key));
}

function isMade({ invents, output, stated, inInput }: Computed, word: ReadWord): boolean {
  if (!output.has(word.key)) return false;
  return inInput(word) || (!invents && (isPlainNumber(word.lower) || !stated.has(word.key)));
}

const MOST_OUTPUT = 20_000;

const DENIALS = new Set(['no', 'not', 'never', 'none', 'nowhere', 'nothing', 'nicht', 'kein', 'keine', 'nie']);

function isDenial({ lower }: ReadWord): boolean {
  return DENIALS.has(lower) || /n't$/.test(lower);
}

/** Each number stands beside the labels that the output gives it. */
function belongTogether(words: readonly ReadWord[], leaves: readonly OutputLeaf[]): boolean {
  const labels = new Set(leaves.flatMap((leaf) => [...leaf.labels]));
  const named = words.flatMap((word, at) => (labels.has(labelOf(word)) ? [{ at, label: labelOf(word) }] : []));
  if (named.length === 0) return true;
  return words.every((word, at) => {
    const own = word.kind === 'number' ? leaves.filter(({ key }) => key === word.key) : [];
    const nearest = Math.min(...named.map((one) => Math.abs(one.at - at)));
    const beside = named.filter((one) => Math.abs(one.at - at) === nearest);
    return own.length === 0 || own.some((leaf) => beside.some(({ label }) => leaf.labels.has(label)));
  });
}

/** A clause is read once for all, so that it is key enough. */
function once<T extends object>(find: (asked: T) => boolean): (asked: T) => boolean {
  const known = new WeakMap<T, boolean>();
  return (asked) => {
    const found = known.get(asked) ?? find(asked);
    known.set(asked, found);
    return found;
  };
}

/** A sentence may name the file that it cites, as a path or by its name; not a word of the name. */
function pathTails(path: string): ReadonlySet<string> {
  const segments = path.toLowerCase().split('/').slice(-24);
  const tails = segments.map((_, at) => segments.slice(at).join('/'));
  return new Set(tails.filter((tail) => /[./_-]/.test(tail) && !/^\d+(?:\.\d+)?$/.test(tail)));
}
