// Owns what a bench hands over: a document for programs, tables and sentences for people, and their text. Pure; knows no bench.
// Invariant: every figure of a table stands in the document; what is not measured is shown as `-`, never as 0.
import type { JsonObject } from '#base/json.ts';

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
