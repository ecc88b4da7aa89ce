// Owns the gate of `rlm ask`: which sentences of an answer are cited. Pure, synchronous, never asks a model; knows no source and no run.
// Every number, name and identifier of a sentence must come from its handles, half of its other words too (fewer where a number was
// computed); what is denied must be denied there. A handle that says the opposite, with none that says so, counts for nothing.
// Invariants: total on any input; order of handles is irrelevant; taking handles away never cites more.

import { splitWords } from '#base/text/split-words.ts';
import { stemWord } from '#base/text/stem-word.ts';
import { findContradiction } from '#mind/evidence/trace-guard/find-contradiction.ts';
import { type ClaimReading, readClaim } from '#mind/evidence/trace-guard/read-claim.ts';
import type { QuotePlace } from '#mind/evidence/trace-guard/read-evidence.ts';
import { OPEN, type Polarity } from '#mind/evidence/trace-guard/read-polarity.ts';
import { foldWords } from '../../guard/text/fold-words.ts';
import { turningWords } from '../../guard/text/turning-words.ts';
import type { AnswerSentence, Handle } from '../ask-outcome.ts';
import type { CitingSentence } from './answer-sentences.ts';
import { groundedHandles } from './grounded-handles.ts';
import { type HandleEvidence, handleEvidence } from './handle-evidence.ts';
import { oddParts, plainText } from './plain-text.ts';

export interface AnswerEvidence {
  readonly handles: readonly Handle[];
  /** Names that were looked up in the context and stand there, as the sentences write them (see names-to-look-up.ts). */
  readonly inContext: ReadonlySet<string>;
}

export function judgeAnswer(sentences: readonly CitingSentence[], evidence: AnswerEvidence): readonly AnswerSentence[] {
  const bank = new HandleBank(evidence);
  return sentences.map(({ text, handles }) => {
    const missing = findMissing(text, handles, bank);
    return { text, handles, status: missing.length === 0 ? 'cited' : 'not_supported', missing };
  });
}

/** Reads a handle when it is first cited, and once. */
class HandleBank {
  readonly #handles = new Map<string, Handle>();
  readonly #grounded: ReadonlySet<string>;
  readonly #inContext: ReadonlySet<string>;
  readonly #read = new Map<string, HandleEvidence>();

  constructor({ handles, inContext }: AnswerEvidence) {
    for (const handle of handles) if (!this.#handles.has(handle.id)) this.#handles.set(handle.id, handle);
    this.#grounded = groundedHandles(handles);
    this.#inContext = inContext;
  }

  has(id: string): boolean {
    return this.#handles.has(id);
  }

  /** Undefined: there is none, or it does not rest on the context. */
  readonly of = (id: string): HandleEvidence | undefined => {
    const handle = this.#handles.get(id);
    if (handle === undefined || !this.#grounded.has(id)) return undefined;
    const known = this.#read.get(id) ?? handleEvidence(handle, { of: this.of, inContext: this.#inContext });
    this.#read.set(id, known);
    return known;
  };
}

/** A longer one is no sentence. */
const LONGEST = 4_000;

/** What the handles do not hold, or why the sentence counts for nothing; empty: it is cited. */
function findMissing(text: string, ids: readonly string[], bank: HandleBank): readonly string[] {
  if (ids.length === 0) return ['it cites nothing'];
  const unknown = ids.filter((id) => !bank.has(id)).sort();
  if (unknown.length > 0) return unknown.map((id) => `${id} (no such handle)`);
  if (text.length > LONGEST) return ['it is too long for one sentence'];
  const plain = plainText(text);
  const claim = readClaim(plain);
  if (claim.exact.length === 0 && claim.soft.size === 0) return ['it says nothing that can be compared'];
  const grounded = ids.flatMap((id) => bank.of(id) ?? []);
  if (grounded.length === 0) return ['its handles do not rest on the context'];
  const odd = oddParts(text).filter((part) => !grounded.some(({ written }) => written.includes(part)));
  if (odd.length > 0) return odd;
  const counted = withoutOpposed(claim, grounded);
  if (findGaps(plain, claim, counted).length === 0) return [];
  const gaps = findGaps(plain, claim, grounded);
  return gaps.length > 0 ? gaps : ['what it cites says the opposite'];
}

function findGaps(text: string, claim: ClaimReading, counted: readonly HandleEvidence[]): readonly string[] {
  const missing = claim.exact.filter((term) => !counted.some((one) => one.holds(term, claim)));
  if (missing.length > 0) return [...new Set(missing.map(({ shown }) => shown))];
  const unsaid = [...claim.soft].filter(([, word]) => !counted.some((one) => one.holdsLoosely(word, claim)));
  if (claim.soft.size - unsaid.length < neededWords(claim, counted))
    return wordsOf(
      text,
      unsaid.map(([stem]) => stem),
    );
  if (claim.hasNegation && !counted.some(({ denies }) => denies)) return ['it denies what its handles do not deny'];
  return turningWords(foldWords(text), counted.map(({ words }) => words).join(' '));
}

/** Beside a number or a name rounded down: `set to 5` is said by `= 5`. */
const SHARE = 0.5;
/** What was counted only the code says, in words of its own: of five words one must be known. */
const WORDS_FOR_ONE = 5;

function neededWords(claim: ClaimReading, counted: readonly HandleEvidence[]): number {
  if (counted.some((one) => one.counts(claim))) return Math.floor(claim.soft.size / WORDS_FOR_ONE);
  const half = claim.soft.size * SHARE;
  return claim.exact.length > 0 ? Math.floor(half) : half;
}

const MOST_SHOWN = 5;

/** The words of the sentence that have these stems. */
function wordsOf(text: string, stems: readonly string[]): readonly string[] {
  const words = new Map(splitWords(text).map((word) => [stemWord(word), word]));
  return stems.slice(0, MOST_SHOWN).map((stem) => words.get(stem) ?? stem);
}

/** The handles that do not contradict, or contradict only what another one says. */
function withoutOpposed(claim: ClaimReading, handles: readonly HandleEvidence[]): readonly HandleEvidence[] {
  const all = handles.map(({ places }) => places);
  const assertions = claim.sentences.flatMap(assertionsOf).filter((one) => findContradiction([one], all) !== undefined);
  if (assertions.length === 0) return handles;
  return handles.filter(({ places }) => !assertions.some((one) => isAgainst(one, places)));
}

function isAgainst(assertion: Polarity, places: readonly QuotePlace[]): boolean {
  return findContradiction([assertion], [places]) !== undefined;
}

/** One for each word that is asserted or denied, and one for a script without blanks. */
function assertionsOf({ clauses, hasNegation, dense }: Polarity): readonly Polarity[] {
  const single = clauses.flatMap(({ signs, content }) =>
    [...signs].flatMap(([lemma, bits]) =>
      bits === OPEN ? [] : [{ clauses: [{ signs: new Map([[lemma, bits]]), content }], hasNegation, dense: undefined }],
    ),
  );
  return dense === undefined ? single : [...single, { clauses: [], hasNegation, dense }];
}
