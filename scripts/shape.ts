/**
 * Writes docs/shape.md: the measures of the source beside their targets, `node scripts/shape.ts [--print | --check]`. `--rooms` prints the files and
 * non-blank lines of each room instead, and of the parts that have a limit. It measures and judges nothing; the caps are held by the lint
 * and by the floor check.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { judgeArrows } from './graph/arrow-rules.ts';
import { loadTree, type SourceFile } from './graph/load-tree.ts';
import { readFunctions } from './shape/read-functions.ts';

const { values } = parseArgs({
  options: { print: { type: 'boolean' }, rooms: { type: 'boolean' }, check: { type: 'boolean' } },
});
const PAGE = join('docs', 'shape.md');
/** Parts of rooms that have a limit of their own, non-blank lines. */
const PARTS: readonly (readonly [name: string, path: RegExp, limit: number])[] = [
  ['guard', /^src\/mind\/evidence\/guard\//, 2_400],
  ['reflex, in all rooms', /(?:^|\/)reflex(?:-[\w-]+)?(?:\/|\.ts$)|\/[\w-]*-reflex(?:\/|\.ts$)/, 4_000],
  ['rlm ask/gate', /^src\/extensions\/rlm\/ask\/gate[/.]/, 250],
  ['sparks by rule', /^src\/extensions\/hive\/provider\/sparks-by-rule/, 80],
  ['rlm ambiguity', /^src\/extensions\/rlm\/(?:run\/)?ambiguity[/.]/, 250],
];

const tree = loadTree('.');
if (values.rooms === true) console.log(rooms(tree.sources));
else if (values.print === true) console.log(render(tree.sources));
else if (values.check === true) check(render(tree.sources));
else writeFileSync(PAGE, render(tree.sources));

function check(text: string): void {
  const isTrue = readFileSync(PAGE, 'utf8') === text;
  console.log(isTrue ? 'shape: the page is up to date' : `shape: ${PAGE} is old: node scripts/shape.ts`);
  if (!isTrue) process.exitCode = 1;
}

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

function rooms(files: readonly SourceFile[]): string {
  const measured = files.map(({ path, room }) => ({ path, room, lines: nonBlank(path) }));
  const names = [...new Set(measured.map(({ room }) => room))].sort();
  const row = (name: string, own: typeof measured, limit = '') =>
    `${name.padEnd(24)}${String(own.length).padStart(6)}${String(total(own.map(({ lines }) => lines))).padStart(9)}${limit}`;
  return [
    `${'room'.padEnd(24)}${'files'.padStart(6)}${'lines'.padStart(9)}`,
    ...names.map((name) =>
      row(
        name,
        measured.filter(({ room }) => room === name),
      ),
    ),
    row('all', measured),
    '',
    ...PARTS.map(([name, path, limit]) =>
      row(
        name,
        measured.filter((file) => path.test(file.path)),
        `  ≤ ${limit}`,
      ),
    ),
  ].join('\n');
}

function nonBlank(path: string): number {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '').length;
}
