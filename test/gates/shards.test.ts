import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext } from 'node:test';
import { verifies } from '../verifies.ts';
import { type Run, repository, run, tempTree } from './temp-tree.ts';

function runShards(context: TestContext, files: Readonly<Record<string, string>>): Run {
  const root = tempTree(context, { 'package.json': '{"type":"module"}', ...files });
  const reporter = `--test-reporter=${join(repository, 'scripts/reporter.ts')}`;
  const flags = [join(repository, 'scripts/shards.ts'), '--test-isolation=none', reporter, '*.test.ts'];
  const { NODE_TEST_CONTEXT: _inherited, ...env } = process.env;
  return run(process.execPath, flags, { cwd: root, env: { ...env, TALARIA_TEST_SHARDS: '2', TALARIA_NO_SKIPS: '0' } });
}

const passing = "import { test } from 'node:test';\ntest('fine', () => {});\n";
const failing = "import { test } from 'node:test';\ntest('broken', () => { throw new Error('reason'); });\n";

describe('tests in shares', () => {
  verifies.slow('core:house:false-greens', 'every file runs once and the counts are added up', (context) => {
    const { code, text } = runShards(context, { 'a.test.ts': passing, 'b.test.ts': passing, 'c.test.ts': passing });
    assert.equal(code, 0, text);
    assert.match(text, /# tests 3\n# suites 0\n# pass 3\n# fail 0\n(?:# \w+ 0\n){3}# duration_ms [\d.]+\n$/);
  });

  for (const broken of ['a.test.ts', 'b.test.ts']) {
    verifies('core:house:false-greens', `is red when ${broken} fails`, (context) => {
      const { code, text } = runShards(context, { 'a.test.ts': passing, 'b.test.ts': passing, [broken]: failing });
      assert.equal(code, 1);
      assert.ok(text.lastIndexOf('reason') < text.indexOf('# fail 1'), text);
    });
  }

  verifies.slow('core:house:false-greens', 'is red when a share leaves while it is loaded', (context) => {
    assert.equal(runShards(context, { 'a.test.ts': passing, 'b.test.ts': 'process.exit(0);\n' }).code, 1);
  });
});
