/** The counts that only fall, and the budgets of rooms: each with a planted violation. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { ratchets } from '../../scripts/floors.ts';
import { judgeBudgets, judgeCounts } from '../../scripts/graph/fold-rules.ts';
import { loadTree } from '../../scripts/graph/load-tree.ts';
import { repository, run, tempTree } from './temp-tree.ts';

type Files = Readonly<Record<string, string>>;

const NONE = Object.fromEntries(Object.keys(ratchets).map((name) => [name, 0])) as Record<
  keyof typeof ratchets,
  number
>;
const LONG = `'${'x'.repeat(220)}'`;
const files = (count: number, folder: string): Files =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${folder}/f${at}.ts`, 'export const a = 1;\n']));

const sound: Files = {
  ...files(4, 'src/base/text'),
  'src/base/text/words.ts':
    'export interface Word { a: 1 }\nexport type Words = readonly Word[];\nexport const word: Word = { a: 1 };\n',
  'src/base/one.ts': "import { word } from './text/words.ts';\nexport const one = word;\n",
  'src/base/two.ts': "import { word } from './text/words.ts';\nexport const two = word;\n",
  'test/base/one.test.ts': '',
};

function counted(context: TestContext, more: Files, exact = false): readonly string[] {
  return judgeCounts(loadTree(tempTree(context, { ...sound, ...more })), { allowed: NONE, isExact: exact });
}

describe('the counts that only fall', () => {
  test('are all nought in a sound tree', (context) => {
    assert.deepEqual(counted(context, {}, true), []);
  });

  const planted: Readonly<Record<keyof typeof ratchets, Files>> = {
    crowdedFolders: files(21, 'src/base/many'),
    smallFolders: { 'src/base/lonely/x.ts': '' },
    deepFiles: files(5, 'src/core/model/a/b'),
    thinFiles: {
      'src/base/thin.ts': 'export const thin = 1;\n',
      'src/base/fat.ts': "import { thin } from './thin.ts';\nexport const fat = thin;\n",
    },
    longSignatures: {
      'src/base/x.ts': 'export function f(a: 1, b: 1, c: 1, d: 1, e: 1) { return [a, b, c, d, e]; }\n',
    },
    loneInterfaces: { 'src/base/x.ts': 'interface Bag { a: 1 }\nexport const f = ({ a }: Bag) => a;\n' },
    longLiterals: { 'src/base/x.ts': `export const text = ${LONG};\n` },
    tableBytes: { 'src/base/x.rules.ts': `export const text = ${LONG};\n` },
    deepEdges: { 'test/base/x.test.ts': "import '#base/one.ts';\n" },
  };
  for (const [name, more] of Object.entries(planted))
    test(`${name} names what is too much`, (context) => {
      const problems = counted(context, more);
      assert.equal(problems.length, 1, problems.join('\n'));
      assert.match(problems[0] ?? '', new RegExp(`^${name}: \\d+, and 0 are allowed`));
    });

  test('what is imported later, a thread and a table stand alone', (context) => {
    const alone = {
      'src/base/later.ts': 'export const later = 1;\n',
      'src/base/x.rules.ts': 'export const table = 1;\n',
      'src/base/x.worker.ts': 'export const thread = 1;\n',
      'src/base/reader.ts':
        "import { table } from './x.rules.ts';\nimport { thread } from './x.worker.ts';\nexport const read = () => [table, thread, import('./later.ts')];\n",
    };
    assert.deepEqual(counted(context, alone), []);
  });

  test('a fall has to be written down', (context) => {
    const tree = loadTree(tempTree(context, sound));
    const allowed = { ...NONE, thinFiles: 3 };
    assert.deepEqual(judgeCounts(tree, { allowed }), []);
    assert.match(judgeCounts(tree, { allowed, isExact: true }).join(), /thinFiles: 0 now, so write that/);
  });
});

describe('the budgets of rooms', () => {
  test('hold lines and files, and are not left loose', (context) => {
    const tree = loadTree(tempTree(context, sound));
    const judge = (lines: number, count: number, isExact = true) =>
      judgeBudgets(tree, { allowed: { base: [lines, count] }, isExact }).join('\n');
    assert.equal(judge(11, 7), '');
    assert.match(judge(10, 7), /room base has 11 non-blank lines, and 10 are its budget/);
    assert.match(judge(11, 6), /room base has 7 files, and 6 are its budget/);
    assert.match(judge(100, 7), /write that in scripts\/floors\.ts/);
    assert.equal(judge(100, 7, false), '');
    assert.match(judgeBudgets(tree, { allowed: {} }).join(), /room base has 11 non-blank lines, and 0 are its budget/);
  });
});

test('a page of figures that is old fails the check', (context) => {
  const cwd = tempTree(context, { ...sound, 'docs/shape.md': '# Shape\n' });
  const { code, text } = run(process.execPath, [`${repository}/scripts/shape.ts`, '--check'], { cwd });
  assert.equal(code, 1);
  assert.match(text, /docs.shape\.md is old: node scripts\/shape\.ts/);
});
