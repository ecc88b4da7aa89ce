// Owns a whole run as text for the terminal: head, findings, tree, totals. Pure. Invariant: also a run that was killed, and an outcome that this
// version does not know, are shown for what they are.
import { canonicalJson } from '#base/json.ts';
import type { AskOutcome } from '../ask/ask-outcome.ts';
import { answerLines } from '../ask/view/ask-lines.ts';
import type { CallRecord } from '../call/call-record.ts';
import { counted, duration, instant, money, share, size, thousands } from '../page/markup/figures.ts';
import { readOutcome } from '../page/read-outcome.ts';
import type { RunTotals } from '../run/run-outcome.ts';
import type { RunRecord } from '../trace/run-record.ts';
import type { RunRow } from '../trace/run-row.ts';
import { block, gapLines, oneLine } from './lines.ts';
import { questionOf, verdictOf } from './run-list.ts';
import { runOutcomeLines } from './run-outcome-lines.ts';
import { treeLines } from './tree-lines.ts';

export function runText({ row, calls }: RunRecord): string {
  return [...headLines(row), ...findings(row, calls), '', totalsLine(row, calls)].join('\n');
}

function headLines(row: RunRow): readonly string[] {
  const { run_id, kind, started_at, ended_at, outcome, root, sources } = row;
  const took = ended_at === null ? '' : `, ${duration(ended_at - started_at)}`;
  const detail = typeof outcome?.detail === 'string' ? `: ${outcome.detail}` : '';
  const read = sources.slice(0, 8).map(({ path, bytes }) => `${path} (${size(bytes)})`);
  const more = sources.length > read.length ? [`and ${sources.length - read.length} more`] : [];
  return [
    `${kind} ${run_id}`,
    `question  ${oneLine(questionOf(row), 600)}`,
    `verdict   ${verdictOf(row)}${detail}`,
    `when      ${instant(started_at)}${took}`,
    ...(sources.length === 0 ? [] : [`sources   ${[...read, ...more].join(', ')} in ${root}`]),
  ];
}

function findings(row: RunRow, calls: readonly CallRecord[]): readonly string[] {
  if (row.outcome === null) return unendedLines(row, calls);
  const read = readOutcome(row.outcome);
  if (read.kind === 'ask') return askFindings(read.outcome);
  if (read.kind === 'other') return block('The outcome, as it is stored:', [oneLine(canonicalJson(row.outcome), 4000)]);
  return [...runOutcomeLines(read.outcome), ...block('Nodes:', treeLines(read.outcome.tree, calls), 200)];
}

function askFindings(outcome: AskOutcome): readonly string[] {
  const { bytes_read, bytes_total, steps } = outcome;
  const seen = `A model has seen ${size(bytes_read)} of ${size(bytes_total)} (${share(bytes_read, bytes_total)}); ${steps} code blocks ran.`;
  return ['', ...answerLines(outcome, false), ...block('Gaps:', gapLines(outcome.gaps)), '', seen];
}

function unendedLines({ run_id, owner }: RunRow, calls: readonly CallRecord[]): readonly string[] {
  const answered = calls.map(({ call_id, success }) => `${call_id}  ${success ? 'answered' : 'failed'}`);
  return [
    '',
    `It has not ended: process ${owner ?? 'unknown'} works on it, or was killed. If it was: talaria rlm resume ${run_id}`,
    ...block('Calls so far:', answered),
  ];
}

function totalsLine({ outcome }: RunRow, calls: readonly CallRecord[]): string {
  const read = readOutcome(outcome);
  const told: RunTotals | null = read.kind === 'other' ? null : read.outcome.totals;
  if (told === null) return `${counted(calls.length, 'call')} in the trace.`;
  const { input_tokens: input, output_tokens: output, cost } = told;
  const tokens =
    input === null || output === null ? 'tokens unknown' : `${thousands(input)} + ${thousands(output)} tokens`;
  return `${counted(told.calls, 'call')}, ${tokens}, cost ${money(cost)}.`;
}
