// Owns how the outcome of an ask is shown at a terminal: cited sentences with their sources, what is not supported, what was not read.
// Pure. Invariant: a sentence that is not cited never stands among the cited ones; nothing is called verified.
import { oneLine, plural } from '#base/text.ts';
import type { SourcePlace } from '../../run/run-outcome.ts';
import type { AnswerSentence, AskOutcome, Handle } from '../ask-outcome.ts';

export interface AskView {
  readonly outcome: AskOutcome;
  /** Only the number of sentences that are not supported. */
  readonly withhold: boolean;
  readonly kept: boolean;
  /** File in which piped input is kept. */
  readonly context: string | null;
}

export function askLines({ outcome, withhold, kept, context }: AskView): readonly string[] {
  const cited = outcome.sentences.filter(({ status }) => status === 'cited');
  const rest = outcome.sentences.filter(({ status }) => status !== 'cited');
  return [
    ...(cited.length === 0
      ? ['Nothing in the answer is cited.']
      : cited.flatMap((one) => citedLines(one, outcome.handles))),
    ...restLines(rest, withhold),
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

const QUOTE = 100;
const CODE = 120;
const MOST_SOURCES = 6;
const MOST_GAPS = 12;

function citedLines({ text, handles }: AnswerSentence, all: readonly Handle[]): readonly string[] {
  const sources = [...new Set(handles.flatMap((id) => sourceLine(id, all) ?? []))];
  const more = sources.length > MOST_SOURCES ? [`    and ${sources.length - MOST_SOURCES} more`] : [];
  return [oneLine(text, 2_000), ...sources.slice(0, MOST_SOURCES).map((line) => `    ${line}`), ...more];
}

function sourceLine(id: string, all: readonly Handle[]): string | undefined {
  const handle = all.find((one) => one.id === id);
  switch (handle?.kind) {
    case 'span':
      return `${placeOf(handle.place)}  "${oneLine(handle.quote, QUOTE)}"`;
    case 'child':
      return `${baseOf(handle.over, all)}  "${oneLine(handle.text, QUOTE)}"`;
    case 'computed':
      return `computed by code: ${oneLine(handle.code, CODE)}: ${oneLine(handle.output, QUOTE)}`;
    case undefined:
      return undefined;
  }
}

/** Where it lies, in one word or two. */
function baseOf(id: string, all: readonly Handle[]): string {
  const handle = all.find((one) => one.id === id);
  if (id === 'context') return 'the whole context';
  switch (handle?.kind) {
    case 'span':
      return placeOf(handle.place);
    case 'child':
      return baseOf(
        handle.over,
        all.filter((one) => one !== handle),
      );
    case 'computed':
      return `${id} (computed)`;
    case undefined:
      return id;
  }
}

function placeOf({ source_path, start_line, end_line }: SourcePlace): string {
  return start_line === end_line ? `${source_path}:${start_line}` : `${source_path}:${start_line}-${end_line}`;
}

function restLines(rest: readonly AnswerSentence[], withhold: boolean): readonly string[] {
  if (rest.length === 0) return [];
  if (withhold) return ['', `Not supported: ${plural(rest.length, 'sentence')} withheld.`];
  return [
    '',
    'Not supported:',
    ...rest.map(({ text, missing }) => `  ${oneLine(text, 1_000)}  [missing: ${oneLine(missing.join(', '), 300)}]`),
  ];
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
