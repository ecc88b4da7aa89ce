// Owns the gate of `rlm ask`: the grade of each sentence of an answer. A rule says what is quoted and which hard values are missing; a model
// says whether the cited lines carry the rest, in one call for all. Knows no run and no store.
// Invariants: nothing is lost and nothing moved; what is quoted is shown as the source has it; without a verdict nothing is supported.

import { plainSentence, type WholeUnits, wholeUnits } from '#base/text/quotes.ts';
import { oneLine } from '#base/text.ts';
import type { JudgedSource, Judgement } from '#mind/evidence/judge.ts';
import { type HardValue, hardValues, holdsValue, sourceValues } from '#mind/evidence/trace-guard/hard-values.ts';
import type { AnswerSentence, ComputedHandle } from '../outcome.ts';
import type { ByteRange } from '../repl/context-ops.ts';
import type { ContextSource } from '../repl/parted-source.ts';

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

export interface SentenceToRead {
  readonly text: string;
  /** What it cites: lines of the source (`foreign`), and code with its output (`observed`). */
  readonly sources: readonly Omit<JudgedSource, 'id'>[];
}

type Reading = Omit<Judgement, 'id'>;

/** All sentences at once; their verdicts in the same order. */
export type ReadByModel = (sentences: readonly SentenceToRead[]) => Promise<readonly Reading[]>;

/** Why what is not quoted has no verdict. */
const NO_MODEL = 'no model to read it';
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
  const open = sentences.filter((_, at) => byRule[at] === null);
  const verdicts = open.length === 0 || read === null ? [] : await read(open.map((one) => toRead(one, lines)));
  return sentences.map((one, at) => byRule[at] ?? gradeByModel(one, verdicts[open.indexOf(one)], unread));
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
  if (cited.some(isLong)) return graded(sentence, { why: 'it cites more than is read for one sentence' });
  const evidence = [...cited.map((range) => lines.linesOf(range)), ...computed.map(({ output }) => output)];
  const missing = missingIn(text, evidence, computed) ?? oddSign(text, evidence);
  const isComputed = cited.length === 0 && computed.length > 0;
  if (missing !== undefined)
    return graded(sentence, { why: `${missing}: not in ${isComputed ? 'the values' : 'the lines'} that it cites` });
  return isComputed ? graded(sentence, { grade: 'computed' }) : null;
}

/** The first hard value that stands nowhere. What code asked for by name stands in the code; numbers only in what it gave. */
function missingIn(text: string, evidence: readonly string[], computed: readonly ComputedHandle[]): string | undefined {
  const said = sourceValues(evidence);
  const asked = sourceValues(computed.map(({ code }) => code.replaceAll('\\', '')));
  const stands = (value: HardValue) => holdsValue(said, value) || (value.kind !== 'number' && holdsValue(asked, value));
  return hardValues(text).find((value) => !stands(value))?.shown;
}

/** Figures that are no digits, and what turns the direction of reading. */
function oddSign(text: string, evidence: readonly string[]): string | undefined {
  const signs: readonly string[] = text.match(/[\p{No}\p{Nl}\u202a-\u202e\u2066-\u2069]/gu) ?? [];
  return signs.find((sign) => !evidence.some((lines) => lines.includes(sign)));
}

function gradeByModel(sentence: CitingSentence, judgement: Reading | undefined, unread: string): AnswerSentence {
  if (judgement === undefined) return graded(sentence, { why: unread });
  const { verdict, why, model } = judgement;
  if (verdict === 'supported') return graded(sentence, { grade: 'supported', why, model });
  return graded(sentence, { why: verdict === 'none' ? `${NO_VERDICT}: ${why}` : `${verdict}: ${why}`, model });
}

function toRead({ text, cited, computed }: CitingSentence, lines: CitedLines): SentenceToRead {
  const made = computed.map(({ code, output }) => ({ origin: 'observed', text: `${code}\ngave: ${output}` }) as const);
  const said = cited.map((range) => ({ origin: 'foreign', text: lines.shownFor(range) }) as const);
  return { text: oneLine(text, LONGEST), sources: [...said, ...made] };
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
  /** It was cut out of a file, there and there: what touches that may be a part. */
  readonly cut: readonly [before: boolean, behind: boolean];
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
    const bytes = Buffer.from(text);
    const [from = 0, to = 0] = range.map((byte) => bytes.subarray(0, byte - start).toString().length);
    const end = to + text.slice(to).search(/[\r\n]|$/);
    return `${this.#source.place(...range).source_path}\n${text.slice(text.lastIndexOf('\n', from - 1) + 1, end)}`;
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
      const [isFirst, isLast] = [window.text.slice(0, start).trim() === '', window.text.slice(end).trim() === ''];
      if ((isFirst && window.cut[0]) || (isLast && window.cut[1])) continue;
      const said = window.text.slice(start, end);
      const from = window.start + Buffer.byteLength(window.text.slice(0, start));
      const to = from + Buffer.byteLength(said);
      if (from < range[1] && to > range[0] && this.#source.slice(from, to).text === said)
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
    return { start: start_byte, text, units: wholeUnits(text), cut: [start_byte > first, end_byte < last] };
  }
}
