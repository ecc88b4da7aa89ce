// Owns what a bench hands over: a document for programs, tables and sentences for people, and their text; and `rlm claim-aware|synthetic|ablation`, the
// benches that need no model and no home. Knows none of their rules. Invariant: every figure of a table stands in the document; what is not measured
// is shown as `-`, never as 0.
import { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import {
  type AnyCommand,
  type CommandContext,
  type CommandOutput,
  defineCommand,
  failed,
} from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';

export interface BenchTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface BenchReport {
  readonly bench: string;
  /** How it came to be, what is assumed, what it does not say. */
  readonly notes: readonly string[];
  readonly tables: readonly BenchTable[];
  readonly document: JsonObject;
  /** False: something that must hold does not. */
  readonly passed: boolean;
}

/** Four decimals without trailing zeros; null is not measured. */
export function figure(value: number | null | undefined): string {
  if (value === null || value === undefined) return '-';
  return Number.isInteger(value) ? String(value) : value.toFixed(4).replace(/0+$/, '');
}

export function markdownReport({ bench, notes, tables }: BenchReport): string {
  const blocks = tables.map(({ title, columns, rows }) =>
    [`### ${title}`, '', row(columns), row(columns.map(() => '---')), ...rows.map(row)].join('\n'),
  );
  return `${[`## ${bench}`, notes.map((note) => `- ${note}`).join('\n'), ...blocks].filter((one) => one !== '').join('\n\n')}\n`;
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
}

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

interface TableBench {
  readonly name: string;
  readonly summary: string;
  readonly report: (signal: AbortSignal) => Promise<BenchReport>;
}

const BENCHES: readonly TableBench[] = [
  {
    name: 'claim-aware',
    summary: 'Score seven controlled completions of a cut text',
    report: async () => (await import('./scorer-tables.ts')).claimAwareBench(),
  },
  {
    name: 'synthetic',
    summary: 'Score 756 generated completions: 108 fixtures, seven strategies',
    report: async () => (await import('./scorer-tables.ts')).syntheticBench(),
  },
  {
    name: 'ablation',
    summary: 'Six contracts and injected faults, with the gate really run and calls counted',
    report: async (signal) => (await import('./engine-ablation.ts')).ablationBench(signal),
  },
];

export const reportFlags = {
  output: z.string().min(1).optional().describe('File for the result: JSON, or Markdown when its name ends in .md'),
  format: z.enum(['text', 'md']).default('text').describe('How the tables are printed'),
} as const;

export function tableCommands(ground: Ground): readonly AnyCommand[] {
  return BENCHES.map((bench) =>
    defineCommand({
      name: `rlm ${bench.name}`,
      summary: bench.summary,
      surfaces: ['cli'],
      input: z.object(reportFlags),
      examples: [`npm run bench -- rlm ${bench.name}`, `npm run bench -- rlm ${bench.name} --format md`],
      run: (asked, context) => run({ ground, bench }, asked, context),
    }),
  );
}

interface Asked {
  readonly output?: string | undefined;
  readonly format: 'text' | 'md';
}

async function* run(
  { ground, bench }: { readonly ground: Ground; readonly bench: TableBench },
  { output, format }: Asked,
  { cwd, signal }: CommandContext,
): AsyncGenerator<CommandOutput> {
  const report = await bench.report(signal);
  const path = output === undefined ? undefined : typedPath(output, { cwd, userHome: ground.places.userHome });
  yield* benchOutput({ report, format, output: path });
}
