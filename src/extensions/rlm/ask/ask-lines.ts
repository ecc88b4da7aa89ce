// Owns how the outcome of an ask is shown, at a terminal and to the model that asked by the tool: the answer in its order, each sentence with its
// grade and its source lines, computed values as tables, what was not read. Pure. Invariant: nothing is hidden but what strictness leaves out, which is counted; nothing is
// called verified.
import { type JsonValue, parseJson } from '#base/json.ts';
import { oneLine, plural } from '#base/text.ts';
import { type AnswerSentence, type AskOutcome, type ComputedHandle, type Handle, placeText } from '../outcome.ts';

export interface AskView {
  readonly outcome: AskOutcome;
  /** Quotations and computed values alone. */
  readonly strict: boolean;
  readonly kept: boolean;
  /** File in which piped input is kept. */
  readonly context: string | null;
}

export function askLines({ outcome, strict, kept, context }: AskView): readonly string[] {
  return [
    ...answerLines(outcome, strict),
    '',
    readLine(outcome),
    ...gapLines(outcome),
    ...usageLines(outcome),
    ...(kept
      ? [`Run ${outcome.run_id}; every step: talaria rlm show ${outcome.run_id}`]
      : ['Nothing of the run is kept.']),
    ...(context === null ? [] : [`The piped input is kept: ${context}`]),
  ];
}

const GRADES_TOLD =
  'Each sentence with its grade. quoted: it stands in the material word for word. read by: that model read its lines and says that they carry it. values of code: they are those of the code. NOT SUPPORTED: not shown by its lines, which does not make it untrue; check it before you state it.';

/** Sentences that a model is told at most. */
const MOST_TOLD = 40;

/** For a model: with the words that keep apart what is proved, what a model says, and what nobody checked. */
export function askText(outcome: AskOutcome): string {
  const { sentences, verdict, detail } = outcome;
  const gaps = gapLines(outcome);
  if (sentences.length === 0 && verdict !== 'answered') return [`No answer: ${detail ?? verdict}`, ...gaps].join('\n');
  const answer = answerLines({ ...outcome, sentences: sentences.slice(0, MOST_TOLD) }, false);
  const left = sentences.length - MOST_TOLD;
  return [GRADES_TOLD, '', ...answer, ...(left > 0 ? [`and ${left} sentences more`] : []), '', ...gaps].join('\n');
}

/** With strictness what is no quotation is left out; values that code computed stay. */
export function strictSentences(sentences: readonly AnswerSentence[]): readonly AnswerSentence[] {
  return sentences.filter(({ grade }) => grade === 'quoted' || grade === 'computed');
}

export function answerLines({ sentences, handles }: AskOutcome, strict: boolean): readonly string[] {
  const shown = strict ? strictSentences(sentences) : sentences;
  const left = sentences.length - shown.length;
  const byId = new Map(handles.map((handle) => [handle.id, handle]));
  return [
    ...(sentences.length === 0 ? ['There is no answer.'] : []),
    ...shown.flatMap((sentence) => [
      oneLine(sentence.text, 2_000),
      ...gradeLines(sentence, byId).map((line) => `    ${line}`),
    ]),
    ...(left === 0 ? [] : ['', `Left out: ${plural(left, 'sentence')} that no line says word for word.`]),
  ];
}

const QUOTE = 160;
const CODE = 160;
const WHY = 300;
const MOST_SOURCES = 6;
const MOST_GAPS = 12;

function gradeLines(
  { grade, place, why, model, handles }: AnswerSentence,
  byId: ReadonlyMap<string, Handle>,
): readonly string[] {
  const sources = [...new Set(handles.flatMap((id) => sourceLines(id, byId)))];
  const more = sources.length > MOST_SOURCES ? [`and ${sources.length - MOST_SOURCES} more`] : [];
  const beside = [...sources.slice(0, MOST_SOURCES), ...more];
  switch (grade) {
    case 'quoted':
      return [`quoted: ${place === null ? '' : placeText(place)}`];
    case 'supported':
      return [`read by ${model}: ${oneLine(why, WHY)}`, ...beside];
    case 'computed':
      return [
        "values of code; the sentence about them is the model's:",
        ...computedOf(handles, byId).flatMap(valueLines),
      ];
    case 'not-supported':
      return [`NOT SUPPORTED: ${oneLine(why, WHY)}${model === '' ? '' : ` (read by ${model})`}`, ...beside];
  }
}

function computedOf(ids: readonly string[], byId: ReadonlyMap<string, Handle>): readonly ComputedHandle[] {
  const own = ids.map((id) => {
    const handle = byId.get(id);
    return handle?.kind === 'child' ? byId.get(handle.over) : handle;
  });
  return [...new Set(own)].filter((handle) => handle?.kind === 'computed');
}

function valueLines({ code, output }: ComputedHandle): readonly string[] {
  const rows = valueRows(output);
  const width = Math.max(...rows.map(([name]) => name.length));
  return [...rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`), `  by: ${oneLine(code, CODE)}`];
}

const MOST_ROWS = 40;

/** What code made, as a table of two columns. */
export function valueRows(output: string): readonly (readonly [name: string, value: string])[] {
  const parsed = parseJson(output);
  const value = parsed.ok ? parsed.value : output;
  if (typeof value !== 'object' || value === null) return [['value', shownValue(value)]];
  const rows = Object.entries(value).map(([name, one]): readonly [string, string] => [
    Array.isArray(value) ? String(Number(name) + 1) : oneLine(name, 60),
    shownValue(one),
  ]);
  if (rows.length === 0) return [['value', 'nothing']];
  const left = rows.length - MOST_ROWS;
  return left > 0 ? [...rows.slice(0, MOST_ROWS), ['…', `and ${left} more`]] : rows;
}

function shownValue(value: JsonValue | undefined): string {
  return oneLine(typeof value === 'string' ? value : JSON.stringify(value ?? null), QUOTE);
}

function sourceLines(id: string, byId: ReadonlyMap<string, Handle>): readonly string[] {
  const handle = byId.get(id);
  switch (handle?.kind) {
    case 'span':
      return [`${placeText(handle.place)}  "${oneLine(handle.quote, QUOTE)}"`];
    case 'child': {
      const over = byId.get(handle.over);
      return [`${over?.kind === 'span' ? placeText(over.place) : handle.over}  "${oneLine(handle.text, QUOTE)}"`];
    }
    case 'computed':
      return valueLines(handle);
    case undefined:
      return [];
  }
}

function readLine({ bytes_read, bytes_total }: AskOutcome): string {
  const share = bytes_total === 0 ? 100 : (bytes_read / bytes_total) * 100;
  const shown = share >= 99.95 ? '100' : share < 0.1 ? '< 0.1' : share.toFixed(1);
  const rest = bytes_read < bytes_total ? '; the rest was only searched by code' : '';
  return `Read ${shown} % of ${bytes_total} bytes${rest}.`;
}

function gapLines({ gaps }: AskOutcome): readonly string[] {
  if (gaps.length === 0) return [];
  const shown = gaps.slice(0, MOST_GAPS).map(({ what, why }) => `  ${oneLine(`${what}: ${why}`, 300)}`);
  const more = gaps.length > MOST_GAPS ? [`  and ${gaps.length - MOST_GAPS} more`] : [];
  return ['Not read or not done:', ...shown, ...more];
}

function usageLines({ steps, totals }: AskOutcome): readonly string[] {
  const { calls, input_tokens, output_tokens, cost } = totals;
  const tokens = input_tokens === null || output_tokens === null ? [] : [`${input_tokens + output_tokens} tokens`];
  const money = cost === null || cost === 0 ? [] : [`$${cost.toFixed(4)}`];
  return [[`${plural(steps, 'block')} of code`, plural(calls, 'call'), ...tokens, ...money].join(', ')];
}
