// Owns the list of runs as a table: one row a run, the newest first. Pure.
import { ellipsize } from '#base/text.ts';
import { instant, money, thousands } from '../page/markup/figures.ts';
import { readOutcome } from '../page/read-outcome.ts';
import type { RunRow } from '../trace/run-row.ts';

export const RUN_COLUMNS = ['id', 'when', 'kind', 'question', 'verdict', 'calls', 'tokens', 'cost'] as const;

const MOST_WORDS = 48;

export function runListRow(row: RunRow): readonly string[] {
  const read = readOutcome(row.outcome);
  const totals = read.kind === 'other' ? null : read.outcome.totals;
  const { input_tokens: input = null, output_tokens: output = null } = totals ?? {};
  return [
    row.run_id,
    instant(row.started_at),
    row.kind,
    ellipsize(questionOf(row).replace(/\s+/g, ' '), MOST_WORDS),
    verdictOf(row),
    totals === null ? '-' : thousands(totals.calls),
    input === null || output === null ? '-' : thousands(input + output),
    totals === null ? '-' : money(totals.cost),
  ];
}

export function questionOf({ request }: Pick<RunRow, 'request'>): string {
  const { question } = request;
  return typeof question === 'string' ? question : '';
}

/** Of a run that has not ended, that it has not. */
export function verdictOf({ outcome, ended_at, state }: RunRow): string {
  if (ended_at === null) return 'not ended';
  return typeof outcome?.verdict === 'string' ? outcome.verdict : state;
}
