// Owns the gate of `rlm ask`: the grade of each sentence of an answer. A rule says what is quoted and which hard values are missing; a model
// says whether the cited lines carry the rest, in one call for all. Knows no run and no store.
// Invariants: nothing is lost and nothing moved; what is quoted is shown as the source has it; without a verdict nothing is supported.
import { oneLine } from '#base/text.ts';
import type { JudgedClaim, JudgedSource, Judgement } from '#mind/evidence/judge/judge.ts';
import type { ContextSource } from '../../repl/context-source.ts';
import type { AnswerSentence, ComputedHandle } from '../ask-outcome.ts';
import { missingValues } from './hard-values.ts';
import { plainSentence, type WholeUnits, wholeUnits } from './whole-units.ts';

export interface CitingSentence {
  readonly text: string;
  /** Ids of handles, as the answer cites them. */
  readonly handles: readonly string[];
  /** The stretches of the source that these come down to, bytes of the whole. */
  readonly cited: readonly ByteRange[];
  readonly computed: readonly ComputedHandle[];
  /** What is wrong with what it cites; null: nothing. */
  readonly fault: string | null;
}

export type ByteRange = readonly [start: number, end: number];

/** All sentences at once. */
export type ReadByModel = (
  claims: readonly JudgedClaim[],
  sources: readonly JudgedSource[],
) => Promise<readonly Judgement[]>;

/** Why what is not quoted has no verdict. */
export const NO_MODEL = 'no model to read it';
const NO_VERDICT = 'no verdict';

/** It was not the sentence that failed. */
export function isUnread({ why }: AnswerSentence): boolean {
  return why === NO_MODEL || why.startsWith(NO_VERDICT);
}

/** @param read null: no model is asked, `unread` says why */
export async function gradeAnswer(
  sentences: readonly CitingSentence[],
  source: ContextSource,
  read: ReadByModel | null,
  unread: string = NO_MODEL,
): Promise<readonly AnswerSentence[]> {
  const lines = new CitedLines(source);
  const byRule = sentences.map((sentence) => gradeByRule(sentence, lines));
  const open = sentences.flatMap((sentence, at) => (byRule[at] === null ? [{ id: `${at}`, sentence }] : []));
  const verdicts = open.length === 0 || read === null ? [] : await readAll(open, lines, read);
  const byId = new Map(verdicts.map((one) => [one.id, one]));
  return sentences.map((sentence, at) => byRule[at] ?? gradeByModel(sentence, byId.get(`${at}`), unread));
}

function graded({ text, handles }: CitingSentence, own: Partial<AnswerSentence> = {}): AnswerSentence {
  return { text, handles, grade: 'not-supported', place: null, why: '', model: '', ...own };
}

/** A longer one is no sentence. */
const LONGEST = 4_000;

/** Null: only reading can tell. */
function gradeByRule(sentence: CitingSentence, lines: CitedLines): AnswerSentence | null {
  const { text, cited, computed, fault } = sentence;
  if (text.length > LONGEST) return graded(sentence, { why: 'it is too long for one sentence' });
  const whole = lines.quoted(sentence);
  if (whole !== null) return graded(sentence, { ...whole, grade: 'quoted' });
  if (fault !== null) return graded(sentence, { why: fault });
  if (cited.length === 0 && computed.length > 0) return graded(sentence, { grade: 'computed' });
  if (cited.some(isLong)) return graded(sentence, { why: 'it cites more than is read for one sentence' });
  const missing = missingValues(text, evidenceOf(sentence, lines));
  if (missing.length === 0) return null;
  return graded(sentence, { why: `${missing.slice(0, 5).join(', ')}: not in the lines that it cites` });
}

function evidenceOf({ cited, computed }: CitingSentence, lines: CitedLines): string {
  return [...cited.map((range) => lines.linesOf(range)), ...computed.map(({ output }) => output)].join('\n');
}

function gradeByModel(sentence: CitingSentence, judgement: Judgement | undefined, unread: string): AnswerSentence {
  if (judgement === undefined) return graded(sentence, { why: unread });
  const { verdict, why, model } = judgement;
  if (verdict === 'supported') return graded(sentence, { grade: 'supported', why, model });
  return graded(sentence, { why: verdict === 'none' ? `${NO_VERDICT}: ${why}` : `${verdict}: ${why}`, model });
}

interface Open {
  readonly id: string;
  readonly sentence: CitingSentence;
}

function readAll(open: readonly Open[], lines: CitedLines, read: ReadByModel): Promise<readonly Judgement[]> {
  const sources = new Map<string, JudgedSource>();
  const claims = open.map(({ id, sentence }): JudgedClaim => {
    const own = [
      ...sentence.cited.map(
        (range): JudgedSource => ({ id: range.join('-'), origin: 'foreign', text: lines.shownFor(range) }),
      ),
      ...sentence.computed.map(
        ({ id: handle, code, output }): JudgedSource => ({
          id: handle,
          origin: 'observed',
          text: `code: ${code}\noutput: ${output}`,
        }),
      ),
    ];
    for (const one of own) sources.set(one.id, one);
    return { id, text: oneLine(sentence.text, LONGEST), sources: [...new Set(own.map((one) => one.id))] };
  });
  return read(claims, [...sources.values()]);
}

/** Bytes before and behind what is cited that are looked at with it. */
const AROUND = 1_000;
/** A longer stretch is searched for the sentence and not cut. */
const LONG = 64_000;

function isLong([start, end]: ByteRange): boolean {
  return end - start > LONG;
}

/** Shorter words stand anywhere. */
const LEAST_SEARCHED = 20;
const MOST_FOUND = 8;

interface Window {
  readonly start: number;
  readonly text: string;
  readonly units: WholeUnits;
  /** Bytes at which the text was cut out of a file: what touches them may be a part. */
  readonly cut: readonly number[];
}

/** Reads the source where something is cited, each stretch once. */
class CitedLines {
  readonly #source: ContextSource;
  readonly #windows = new Map<string, Window>();

  constructor(source: ContextSource) {
    this.#source = source;
  }

  /** Where the sentence stands whole: in what it cites, else anywhere. */
  quoted({ text, cited }: CitingSentence): Pick<AnswerSentence, 'text' | 'place'> | null {
    for (const range of this.#candidates(text, cited)) {
      const whole = this.#wholeIn(text, range);
      if (whole !== null) return whole;
    }
    return null;
  }

  *#candidates(text: string, cited: readonly ByteRange[]): Generator<ByteRange> {
    for (const range of cited) {
      if (isLong(range)) yield* this.#found(text, range);
      else yield range;
    }
    if (text.length >= LEAST_SEARCHED) yield* this.#found(text, [0, this.#source.byte_count]);
  }

  /** Whole lines, with the name of their file. */
  linesOf(range: ByteRange): string {
    const { start, text } = this.#window(range);
    const before = Buffer.from(text)
      .subarray(0, range[0] - start)
      .toString();
    const behind = Buffer.from(text)
      .subarray(range[1] - start)
      .toString();
    const from = before.lastIndexOf('\n') + 1;
    const to = text.length - behind.length + (/[\r\n]|$/.exec(behind)?.index ?? 0);
    return `${this.#source.place(...range).source_path}\n${text.slice(from, to)}`;
  }

  shownFor(range: ByteRange): string {
    return `${this.#source.place(...range).source_path}\n${this.#window(range).text}`;
  }

  *#found(text: string, [start, end]: ByteRange): Generator<ByteRange> {
    const length = Buffer.byteLength(text);
    let at = start;
    for (let times = 0; times < MOST_FOUND; times += 1) {
      at = this.#source.find(text, at);
      if (at < 0 || at + length > end) return;
      yield [at, at + length];
      at += length;
    }
  }

  #wholeIn(text: string, range: ByteRange): Pick<AnswerSentence, 'text' | 'place'> | null {
    const window = this.#window(range);
    for (const { start, end } of window.units.get(plainSentence(text)) ?? []) {
      const from = window.start + Buffer.byteLength(window.text.slice(0, start));
      const said = window.text.slice(start, end);
      const to = from + Buffer.byteLength(said);
      const isCited = from < range[1] && to > range[0];
      if (!isCited || window.cut.includes(from) || window.cut.includes(to)) continue;
      if (this.#source.slice(from, to).text === said)
        return { text: oneLine(said, LONGEST), place: this.#source.place(from, to) };
    }
    return null;
  }

  #window(range: ByteRange): Window {
    const key = range.join('-');
    const known = this.#windows.get(key) ?? this.#read(range);
    this.#windows.set(key, known);
    return known;
  }

  #read([start, end]: ByteRange): Window {
    const file = this.#source.files.find((one) => one.start_byte <= start && start < one.end_byte);
    const [first, last] = [file?.start_byte ?? 0, file?.end_byte ?? this.#source.byte_count];
    const read = this.#source.slice(Math.max(first, start - AROUND), Math.min(last, end + AROUND));
    const { start_byte, end_byte, text } = read;
    const cut = [...(start_byte === first ? [] : [start_byte]), ...(end_byte === last ? [] : [end_byte])];
    return { start: start_byte, text, units: wholeUnits(text), cut };
  }
}
