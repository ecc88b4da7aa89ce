import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { repository, run, tempTree } from './temp-tree.ts';

const lines = (count: number): string => Array.from({ length: count }, (_, index) => `  q = ${index};`).join('\n');
const deep = `export function f(a: number): number {\n${'  if (a) { for (;;) { while (a) { if (a) { return 1; } } } }\n'.repeat(2)}  return 0;\n}\n`;

const refused: readonly (readonly [path: string, text: string, rule: string])[] = [
  ['src/core/parse.ts', "export const a: unknown = JSON.parse('1');\n", 'Parse JSON with #base/json.ts'],
  [
    'src/core/parse-taken-apart.ts',
    'const { parse } = JSON;\nexport const a = parse;\n',
    'Parse JSON with #base/json.ts',
  ],
  [
    'src/core/cut.ts',
    'export const a = (b: string) => b.split(/(?<=[.!?])\\s+/);\n',
    'Sentences are cut in #base/text',
  ],
  ['src/mind/last.ts', 'export const a = (b: string) => b.search(/[^.!?\\n]*$/);\n', 'Sentences are cut in #base/text'],
  ['src/core/random.ts', 'export const a = Math.random();\n', 'Take ids and random numbers'],
  ['src/core/date.ts', 'export const a = Date.now();\n', 'noRestrictedGlobals'],
  ['src/core/timer.ts', 'export const a = setTimeout(() => 1, 1);\n', 'noRestrictedGlobals'],
  ['src/core/global-timer.ts', 'export const a = globalThis.setTimeout(() => 1, 1);\n', 'holds for globalThis too'],
  ['src/core/timers-module.ts', "export { setTimeout as wait } from 'node:timers/promises';\n", 'noRestrictedImports'],
  ['src/mind/sqlite.ts', "export const open = () => import('node:sqlite');\n", 'noRestrictedImports'],
  ['src/surfaces/cli/environment.ts', 'export const a = process.env.HOME;\n', 'noProcessEnv'],
  ['src/core/console.ts', "console.log('a');\nexport {};\n", 'noConsole'],
  ['src/core/output.ts', "process.stdout.write('a');\nexport {};\n", 'Only a surface speaks'],
  ['src/core/leave.ts', 'process.exit(1);\nexport {};\n', 'Only a surface speaks'],
  ['src/base/silent.ts', 'try {\n  JSON.parse("");\n} catch {}\nexport {};\n', 'noEmptyBlockStatements'],
  ['src/base/any.ts', 'export const a = (b: any): unknown => b;\n', 'noExplicitAny'],
  ['src/base/default.ts', 'export default 1;\n', 'noDefaultExport'],
  ['src/base/enum.ts', 'export enum A {\n  b,\n}\n', 'noEnum'],
  ['src/base/barrel.ts', "export * from './any.ts';\n", 'noReExportAll'],
  ['src/base/CamelCase.ts', 'export const a = 1;\n', 'useFilenamingConvention'],
  [
    'src/base/floating.ts',
    'const a = async (): Promise<void> => undefined;\nexport const b = (): void => {\n  a();\n};\n',
    'noFloatingPromises',
  ],
  [
    'src/base/long-function.ts',
    `export function f(): number {\n  let q = 0;\n${lines(60)}\n  return q;\n}\n`,
    'noExcessiveLinesPerFunction',
  ],
  ['src/base/deep.ts', deep, 'noExcessiveCognitiveComplexity'],
  ['test/base/speed.test.ts', 'export const from = performance.now();\n', 'No test of npm test reads a clock'],
  ['src/base/development.ts', "export { assert } from 'fast-check';\n", 'noUndeclaredDependencies'],
];

const accepted: Readonly<Record<string, string>> = {
  'src/base/clock.ts': 'export const now = (): number => Date.now();\n',
  'src/base/json.ts': 'export const parse = (text: string): unknown => JSON.parse(text);\n',
  'src/base/text/sentences.ts': 'export const END = /[.!?]\\s+/g;\n',
  'src/core/last-mark.ts': 'export const MARK = /[.!?]["\\s]*$/;\n',
  'src/surfaces/app/environment.ts': 'export const home = process.env.HOME;\n',
  'src/surfaces/cli/print.ts': "export const print = (): void => console.log('a');\n",
  'test/deep/speed.test.ts': 'export const from = performance.now();\n',
  'test/base/long.test.ts': `export function f(): number {\n  let q = 0;\n${lines(80)}\n  return q;\n}\n`,
};

describe('the lint', () => {
  test('refuses each habit with an error, and lets the rooms that may do it', (context) => {
    const files = Object.fromEntries(refused.map(([path, text]) => [path, text]));
    const root = tempTree(context, { ...files, ...accepted });
    for (const name of ['biome.json', 'lint', 'package.json', 'tsconfig.json', '.gitignore']) {
      cpSync(join(repository, name), join(root, name), { recursive: true });
    }
    const biome = join(repository, 'node_modules/.bin/biome');
    const flags = ['lint', '--max-diagnostics=1000', '--diagnostic-level=error', '--colors=off'];
    const { code, text } = run(biome, flags, { cwd: root });
    assert.equal(code, 1);
    const diagnostics = text.split(/\n(?=\S+\.ts(?::\d+:\d+)? \S+)/);
    for (const [path, , rule] of refused) {
      assert.ok(
        diagnostics.some((one) => one.startsWith(path) && one.includes(rule)),
        `${path} is not refused by ${rule}:\n${diagnostics.filter((one) => one.startsWith(path)).join('\n')}`,
      );
    }
    for (const path of Object.keys(accepted)) {
      assert.deepEqual(
        diagnostics.filter((one) => one.startsWith(path)),
        [],
        path,
      );
    }
  });
});
