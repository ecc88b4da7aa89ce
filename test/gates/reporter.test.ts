import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext } from 'node:test';
import { verifies } from '../verifies.ts';
import { type Run, repository, run, tempTree } from './temp-tree.ts';

const reporter = join(repository, 'scripts/reporter.ts');

function runTests(context: TestContext, files: Readonly<Record<string, string>>, strict = false): Run {
  const root = tempTree(context, { 'package.json': '{"type":"module"}', ...files });
  const flags = ['--test', '--test-isolation=none', '--test-force-exit', `--test-reporter=${reporter}`, '*.test.ts'];
  const { NODE_TEST_CONTEXT: _inherited, ...env } = process.env;
  return run(process.execPath, flags, { cwd: root, env: { ...env, TALARIA_NO_SKIPS: strict ? '1' : '0' } });
}

const passing = "import { test } from 'node:test';\ntest('fine', () => {});\n";

describe('the test reporter', () => {
  verifies('core:house:false-greens', 'ends with the counts and passes what passes', (context) => {
    const { code, text } = runTests(context, { 'a.test.ts': passing });
    assert.equal(code, 0, text);
    assert.match(
      text,
      /# tests 1\n# suites 0\n# pass 1\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms [\d.]+\n$/,
    );
  });

  verifies('core:house:false-greens', 'shows a failure before the counts and leaves with 1', (context) => {
    const failing = "import { test } from 'node:test';\ntest('broken', () => { throw new Error('reason'); });\n";
    const { code, text } = runTests(context, { 'a.test.ts': passing, 'b.test.ts': failing });
    assert.equal(code, 1);
    assert.ok(text.lastIndexOf('reason') < text.indexOf('# fail 1'), text);
  });

  const falseGreens: readonly (readonly [what: string, files: Readonly<Record<string, string>>])[] = [
    ['no test file', {}],
    ['a file that leaves while it is loaded', { 'a.test.ts': passing, 'b.test.ts': 'process.exit(0);\n' }],
    [
      'a test that leaves',
      { 'a.test.ts': "import { test } from 'node:test';\ntest('leaves', () => process.exit(0));\n" },
    ],
  ];
  for (const [what, files] of falseGreens) {
    verifies('core:house:false-greens', `is red for ${what}`, (context) => {
      assert.equal(runTests(context, files).code, 1);
    });
  }

  verifies.slow('core:house:false-greens', 'counts a skip as a defect where skips are counted', (context) => {
    const skipping = (reason: string): Readonly<Record<string, string>> => ({
      'a.test.ts': `${passing}test('later', { skip: '${reason}' }, () => {});\n`,
    });
    assert.equal(runTests(context, skipping('no time')).code, 0);
    const { code, text } = runTests(context, skipping('no time'), true);
    assert.equal(code, 1);
    assert.match(text, /skip without an accepted reason: later \(no time\)/);
    assert.equal(runTests(context, skipping('skipped: tmux is not installed'), true).code, 0);
  });
});
