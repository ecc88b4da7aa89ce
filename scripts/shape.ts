/**
 * Writes docs/shape.md: the measures of the source beside their targets, `node scripts/shape.ts [--print]`.
 * It measures and judges nothing; the caps are held by the lint and by the floor check.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { judgeArrows } from './graph/arrow-rules.ts';
import { loadTree, type SourceFile } from './graph/load-tree.ts';
import { readFunctions } from './shape/read-functions.ts';

const { values } = parseArgs({ options: { print: { type: 'boolean' } } });
const tree = loadTree('.');
const report = render(tree.sources);
if (values.print === true) console.log(report);
else writeFileSync(join('docs', 'shape.md'), report);

function render(files: readonly SourceFile[]): string {
  const lines = files.map((file) => file.text.lines);
  const measured = files.map((file) => readFunctions(file.path));
  const functions = measured.flatMap((one) => one.functionLines);
  const anys = measured.reduce((sum, one) => sum + one.anyTypes, 0);
  const composed = files.filter((file) => file.room !== 'surfaces/app' && file.room !== 'public');
  const fanOut = composed.map((file) => new Set(file.arrows.map((arrow) => arrow.target)).size);
  const cycles = judgeArrows(tree).filter((problem) => problem.startsWith('cycle')).length;
  const rows: readonly (readonly [measure: string, now: string, target: string])[] = [
    ['source files · lines', `${files.length} · ${total(lines)}`, ''],
    ['file lines, median / p90 / max', spread(lines, 0.9), '120–180 / ≤ 350 / 600'],
    ['function lines, median / p99 / max', spread(functions, 0.99), '≤ 12 / ≤ 50 / 60'],
    ['`any`', String(anys), '0'],
    ['import cycles, types included', String(cycles), '0'],
    ['fan-out of a file outside `app`, max', String(Math.max(0, ...fanOut)), '≤ 15'],
    ['files in a folder, max', String(fullestFolder(files)), '≤ 20'],
    ['test lines for each source line', (testLines() / Math.max(1, total(lines))).toFixed(2), '0.7–1'],
  ];
  const table = rows.map((row) => `| ${row.join(' | ')} |`).join('\n');
  return `# Shape\n\nWritten by \`node scripts/shape.ts\`. A figure that grew since the last release needs a sentence here.\n\n| measure | now | target |\n|---|---|---|\n${table}\n`;
}

function testLines(): number {
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.startsWith('requirements'))
    .reduce((sum, name) => sum + readFileSync(join('test', name), 'utf8').split('\n').length - 1, 0);
}

function fullestFolder(files: readonly SourceFile[]): number {
  const count = new Map<string, number>();
  for (const { path } of files) count.set(dirname(path), (count.get(dirname(path)) ?? 0) + 1);
  return Math.max(0, ...count.values());
}

function spread(numbers: readonly number[], high: number): string {
  const sorted = [...numbers].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return `${at(0.5)} / ${at(high)} / ${at(1)}`;
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}
