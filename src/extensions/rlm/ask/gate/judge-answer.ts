// Owns the gate of `rlm ask`: which sentences of an answer are cited. Pure, synchronous, never asks a model; knows no source and no run.
// A sentence is cited when it is a shortened quotation of one passage of one of its handles, or tells what one of them counted; or when
// each of its clauses is. Words that stand apart in the evidence are never put together.
// Invariants: total on any input; order of handles is irrelevant; taking handles away never cites more, but for a span that disputes a count.
import type { AnswerSentence, Handle } from '../ask-outcome.ts';
import type { CitingSentence } from './answer-sentences.ts';
import type { Clause } from './clause.ts';
import { groundedHandles } from './grounded-handles.ts';
import { type HandleEvidence, handleEvidence } from './handle-evidence.ts';
import { oddParts } from './plain-text.ts';
import { cutClauses, withoutIntroduction } from './quote/cut-clauses.ts';
import { isFree } from './quote/quotes-passage.ts';
import { readWords } from './quote/read-words.ts';

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

  readonly handle = (id: string): Handle | undefined => this.#handles.get(id);

  /** Undefined: there is none, or it does not rest on the context. */
  readonly of = (id: string): HandleEvidence | undefined => {
    const handle = this.#handles.get(id);
    if (handle === undefined || !this.#grounded.has(id)) return undefined;
    const others = { of: this.of, handle: this.handle, inContext: this.#inContext };
    const known = this.#read.get(id) ?? handleEvidence(handle, others);
    this.#read.set(id, known);
    return known;
  };
}

/** A longer one is no sentence. */
const LONGEST = 4_000;
const MOST_SHOWN = 5;

/** What the handles do not hold, or why the sentence counts for nothing; empty: it is cited. */
function findMissing(text: string, ids: readonly string[], bank: HandleBank): readonly string[] {
  if (ids.length === 0) return ['it cites nothing'];
  const unknown = ids.filter((id) => bank.handle(id) === undefined).sort();
  if (unknown.length > 0) return unknown.map((id) => `${id} (no such handle)`);
  if (text.length > LONGEST) return ['it is too long for one sentence'];
  const grounded = ids.flatMap((id) => bank.of(id) ?? []);
  const spoken = withoutIntroduction(text, (name) => grounded.some((one) => one.isSource(name)));
  const whole = readClause(spoken, false);
  if (whole.words.every(isFree)) return ['it says nothing that can be compared'];
  if (grounded.length === 0) return ['its handles do not rest on the context'];
  const odd = oddParts(text).filter((part) => !grounded.some(({ written }) => written.includes(part)));
  if (odd.length > 0) return odd;
  if (isSaid(whole, grounded)) return [];
  const parts = cutClauses(spoken);
  if (parts.length > 1 && parts.every((part) => isSaid(readClause(part, true), grounded))) return [];
  return unsaidWords(whole, grounded);
}

function readClause(text: string, isPart: boolean): Clause {
  return { text, words: readWords(text), isPart };
}

function isSaid(clause: Clause, grounded: readonly HandleEvidence[]): boolean {
  if (clause.words.every(isFree)) return false;
  const saying = grounded.filter((one) => one.says(clause));
  if (saying.some(({ kind }) => kind !== 'computed')) return true;
  return saying.length > 0 && !grounded.some((one) => one.disputes(clause));
}

function unsaidWords({ words }: Clause, grounded: readonly HandleEvidence[]): readonly string[] {
  const unsaid = words.filter((word) => !isFree(word) && !grounded.some((one) => one.holds(word)));
  const shown = [...new Set(unsaid.map((word) => word.shown))].slice(0, MOST_SHOWN);
  return shown.length > 0 ? shown : ['no single passage that it cites says it in these words and this order'];
}
