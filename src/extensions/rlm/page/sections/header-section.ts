// Owns the head of a page: the question, the verdict in words, when, by which models, at what cost, how much was read.
// Invariant: what nobody told is called unknown, never 0.
import type { RunTotals } from '../../run/run-outcome.ts';
import { shortText } from '../markup/cut-text.ts';
import { counted, duration, instant, money, share, size, thousands } from '../markup/figures.ts';
import { type Html, html } from '../markup/html.ts';
import type { PageGround } from '../page-input.ts';
import { type VerdictWords, verdictWords } from '../parts/page-words.ts';
import type { ReadOutcome } from '../read-outcome.ts';

const KINDS: Readonly<Record<string, string>> = { run: 'Run', ask: 'Ask', vanilla: 'Single pass' };
const QUESTION = 1_000;

export function headerSection(ground: PageGround, read: ReadOutcome): Html {
  const { row } = ground;
  const { title, says, tone } = verdictOf(ground, read);
  const detail = read.kind === 'other' ? null : read.outcome.detail;
  return html`<header>
<p class="brand"><span>Talaria</span> ${KINDS[row.kind] ?? row.kind} <code>${row.run_id}</code></p>
<h1 dir="auto">${shortText(questionOf(ground, read), QUESTION)}</h1>
<div class="verdict ${tone}"><p><strong>${title}.</strong> ${says}</p>${detail !== null && html`<p dir="auto">${shortText(detail, 1_000)}</p>`}</div>
<dl class="facts">${factsOf(ground, read).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
</header>
`;
}

export function questionOf({ row }: PageGround, read: ReadOutcome): string {
  if (read.kind !== 'other') return read.outcome.question;
  const { question } = row.request;
  return typeof question === 'string' ? question : row.run_id;
}

function verdictOf({ row }: PageGround, read: ReadOutcome): VerdictWords {
  if (read.kind !== 'other') return verdictWords(read.kind, read.outcome.verdict);
  if (row.state === 'running') {
    const says = 'No end is stored: it is still at work, or its process is gone.';
    return { title: 'Not ended', says, tone: 'mixed' };
  }
  if (row.kind === 'vanilla' && row.state === 'completed')
    return {
      title: 'Answered',
      says: 'A single pass without recursion: nobody has checked what it says.',
      tone: 'mixed',
    };
  const title = { completed: 'Ended', failed: 'Failed', cancelled: 'Cancelled' }[row.state];
  return { title, says: '', tone: row.state === 'failed' ? 'bad' : 'mixed' };
}

function factsOf(ground: PageGround, read: ReadOutcome): readonly (readonly [string, string])[] {
  const { row, calls } = ground;
  const took = row.ended_at === null ? [] : [['Took', duration(row.ended_at - row.started_at)] as const];
  return [
    ['When', instant(row.started_at)],
    ...took,
    ['Model', modelsOf(ground)],
    ...totalsOf(read.kind === 'other' ? null : read.outcome.totals, calls.length),
    ...readOf(read),
  ];
}

const MODELS = 4;

function modelsOf({ calls }: PageGround): string {
  if (calls.length === 0) return 'none was asked';
  const names = [...new Set(calls.map(({ model, runtime }) => model ?? `${runtime} (unknown)`))];
  const more = names.length > MODELS ? `, ${names.length - MODELS} more` : '';
  return `${names.slice(0, MODELS).join(', ')}${more}`;
}

function totalsOf(totals: RunTotals | null, stored: number): readonly (readonly [string, string])[] {
  if (totals === null) return [['Calls', thousands(stored)]];
  const { calls, input_tokens, output_tokens, cost } = totals;
  const tokens =
    input_tokens === null || output_tokens === null
      ? 'unknown'
      : `${thousands(input_tokens)} in, ${thousands(output_tokens)} out`;
  return [
    ['Calls', thousands(calls)],
    ['Tokens', tokens],
    ['Cost', money(cost)],
  ];
}

function readOf(read: ReadOutcome): readonly (readonly [string, string])[] {
  if (read.kind === 'ask') {
    const { bytes_read, bytes_total } = read.outcome;
    return [['Shown to a model', `${size(bytes_read)} of ${size(bytes_total)} (${share(bytes_read, bytes_total)})`]];
  }
  if (read.kind === 'other') return [];
  const { selected_chunk_ids, omitted } = read.outcome;
  const rest = omitted.length === 0 ? 'nothing left out' : `${thousands(omitted.length)} left out`;
  return [['Read', `${counted(selected_chunk_ids.length, 'chunk')}, ${rest}`]];
}
