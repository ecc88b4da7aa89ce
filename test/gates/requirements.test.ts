import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { refuseUnknown, verifies } from '../verifies.ts';
import { linkPackages, type Run, runScript, tempTree } from './temp-tree.ts';

const rows = `export const requirements = [
  { id: 'a:one', source: 'seed', text: 'Something happens when it should.' },
  { id: 'a:two', source: 'seed', text: 'Another thing happens as well.' },
  { id: 'a:later', source: 'seed', text: 'A third thing happens much later.', deferred: 'later' },
];
`;
const citesBoth = "verifies(['a:one', 'a:two'], 'works', () => {});\n";

function gate(context: TestContext, files: Readonly<Record<string, string>>, ...flags: readonly string[]): Run {
  const root = tempTree(context, { 'package.json': '{"type":"module"}', 'test/requirements.ts': rows, ...files });
  linkPackages(root);
  return runScript('requirements.ts', '--root', root, ...flags);
}

describe('the requirements gate', () => {
  verifies('core:house:requirements', 'passes when every current row is cited', (context) => {
    const { code, text } = gate(context, { 'test/x.test.ts': citesBoth }, '--strict');
    assert.equal(code, 0, text);
    assert.match(text, /3 rows, 1 deferred, 0 uncited, 0 problems/);
  });

  verifies.slow('core:house:requirements', 'names an uncited row, and fails on it when strict', (context) => {
    const files = { 'test/x.test.ts': "verifies('a:one', 'works', () => {});\n// verifies('a:two')\n" };
    assert.equal(gate(context, files).code, 0);
    const { code, text } = gate(context, files, '--strict');
    assert.equal(code, 1);
    assert.match(text, /a:two is cited by no test/);
  });

  const faults: readonly (readonly [what: string, test: string, expected: RegExp])[] = [
    ['an unknown id', `${citesBoth}verifies('a:three', 'works', () => {});\n`, /cites a:three, which is no row/],
    [
      'a deferred id',
      `${citesBoth}verifies('a:later', 'works', () => {});\n`,
      /cites a:later, which is still deferred/,
    ],
    ['an id that is not written out', `${citesBoth}verifies(id, 'works', () => {});\n`, /not written out/],
  ];
  for (const [what, text, expected] of faults) {
    verifies('core:house:requirements', `refuses ${what}, strict or not`, (context) => {
      const run = gate(context, { 'test/x.test.ts': text });
      assert.equal(run.code, 1);
      assert.match(run.text, expected);
    });
  }

  verifies('core:house:requirements', 'refuses a row that stands twice', (context) => {
    const twice = rows.replace("'a:two'", "'a:one'");
    const { code, text } = gate(context, {
      'test/requirements.ts': twice,
      'test/x.test.ts': "verifies('a:one', 'x', () => {});\n",
    });
    assert.equal(code, 1);
    assert.match(text, /a:one stands twice/);
  });

  verifies.slow('core:house:false-greens', 'fails without rows or without tests', (context) => {
    assert.match(gate(context, {}).text, /no test file at all/);
    const { code, text } = gate(context, { 'test/requirements.ts': 'export const requirements = [];\n' });
    assert.equal(code, 1);
    assert.match(text, /no requirement at all/);
  });

  verifies('core:house:requirements', 'refuses a page that says "not yet" of nothing that is deferred', (context) => {
    const page = 'One is not yet built (a:later).\nAnother is to come (a:one).\n';
    const { code, text } = gate(context, { 'test/x.test.ts': citesBoth, 'docs/page.md': page });
    assert.equal(code, 1);
    assert.match(text, /docs.page\.md:2 promises something/);
    assert.doesNotMatch(text, /page\.md:1/);
  });

  test('citing an unknown or a deferred row fails when the test is registered', () => {
    // Under another name, since these ids are wrong on purpose and the gate reads this file too.
    const register: typeof verifies = verifies;
    const noTest = (): void => assert.fail('must not be registered');
    const unknown: string = 'core:no:such-row';
    assert.throws(() => register(unknown, 'x', noTest), /no row/);
    assert.throws(() => refuseUnknown('a:later', new Map([['a:later', false]])), /still marked deferred/);
  });
});
