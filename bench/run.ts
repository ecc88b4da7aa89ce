/**
 * `npm run bench [-- NAME …]`: measures every row and prints the table. `--write` puts it into docs/performance.md.
 * Figures are ratios within one run, since machines differ and are shared.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { BenchRow } from './bench-row.ts';
import { root } from './stub.ts';

const BENCHES: Readonly<Record<string, () => Promise<readonly BenchRow[]>>> = {
  version: async () => (await import('./start.ts')).benchVersion(),
  'first-request': async () => (await import('./start.ts')).benchFirstRequest(),
  'tool-rounds': async () => (await import('./tool-rounds.ts')).benchToolRounds(),
  'fixed-prompt': async () => (await import('./prompt-size.ts')).benchFixedPrompt(),
  prefix: async () => (await import('./prefix.ts')).benchPrefix(),
  append: async () => (await import('./append.ts')).benchAppend(),
  locomo: async () => (await import('./locomo.ts')).benchLocomo(),
  'recall-1m': async () => (await import('./recall-1m.ts')).benchRecall1m(),
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean', default: false } },
});
const unknown = positionals.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  console.error(`bench: no such row: ${unknown.join(', ')}. Rows: ${Object.keys(BENCHES).join(', ')}`);
  process.exit(2);
}

const rows: BenchRow[] = [];
for (const [name, bench] of Object.entries(BENCHES)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const measured = await bench();
  rows.push(...measured);
  for (const row of measured)
    console.log(
      `${row.ok ? 'ok    ' : 'MISSED'} ${row.metric}: ${format(row.value)} ${row.unit} (target ${row.target}) · ${row.note}`,
    );
}
if (values.write) writeTable(rows);
const prefix = rows.find((row) => row.metric === 'prefix reuse');
if (prefix && !prefix.ok) process.exitCode = 1;

function format(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 3 : 1);
}

function writeTable(measured: readonly BenchRow[]): void {
  const path = join(root, 'docs/performance.md');
  const text = readFileSync(path, 'utf8');
  const lines = measured.map(
    (row) =>
      `| ${row.metric} | ${format(row.value)} ${row.unit} | ${row.target} | ${row.ok ? 'met' : 'missed'} | ${row.note} |`,
  );
  const { length: cores } = cpus();
  const machine = `Measured ${new Date().toISOString().slice(0, 10)}, ${cores} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform} ${process.arch}, Node ${process.version}.`;
  const table = ['| metric | measured | target | | how |', '|---|---|---|---|---|', ...lines].join('\n');
  const block = /<!-- bench:start -->[\s\S]*<!-- bench:end -->/;
  writeFileSync(
    path,
    text.replace(block, () => `<!-- bench:start -->\n${machine}\n\n${table}\n<!-- bench:end -->`),
  );
}
