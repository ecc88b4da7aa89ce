// Owns how a bench's report is shown and kept: tables for people, Markdown, JSON; a file when one was named. Knows no bench.
// Invariant: `--output` is written whole or not at all; a bench whose conditions do not hold ends with exit code 1.
import { atomicWrite } from '#base/atomic-write.ts';
import type { JsonValue } from '#base/json.ts';
import { failed } from '#core/agent/command-failure.ts';
import type { CommandOutput } from '#core/agent/command-spec.ts';
import { type BenchReport, markdownReport } from '../../bench/bench-report.ts';

export interface ShownReport {
  readonly report: BenchReport;
  readonly format: 'text' | 'md';
  /** Absolute. A name in `.md` gets the Markdown, any other the document as JSON. */
  readonly output: string | undefined;
}

export function* benchOutput({ report, format, output }: ShownReport): Generator<CommandOutput> {
  if (output !== undefined) {
    const markdown = output.endsWith('.md');
    atomicWrite(output, markdown ? markdownReport(report) : `${JSON.stringify(report.document, null, 2)}\n`);
  }
  if (format === 'md') yield { type: 'line', text: markdownReport(report).trimEnd() };
  else yield* textReport(report);
  if (output !== undefined) yield { type: 'line', text: `written: ${output}` };
  yield { type: 'data', value: report.document satisfies JsonValue };
  if (!report.passed) yield failed('bench-not-held', `${report.bench}: something that must hold does not`);
}

function* textReport({ notes, tables }: BenchReport): Generator<CommandOutput> {
  for (const { title, columns, rows } of tables) {
    yield { type: 'line', text: title };
    yield { type: 'table', columns, rows };
    yield { type: 'line', text: '' };
  }
  for (const note of notes) yield { type: 'line', text: note };
}
