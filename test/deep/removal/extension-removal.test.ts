/** Design 3: an extension is one folder and one line. Without it the rest of the repository is whole: types, floors, rows, tests. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, type TestContext, test } from 'node:test';
import { parseJsonObject } from '#base/json.ts';
import { copyWithout } from './copy-without.ts';
import { REMOVABLE, type RemovableExtension } from './removable-extension.ts';

const LONGEST_MS = 600_000;
/** Of what a command prints: enough to find the failing test. */
const SHOWN_LINES = 60;

describe('an extension', () => {
  for (const extension of REMOVABLE)
    test(`${extension.name} can be deleted`, { timeout: LONGEST_MS }, async (context) => {
      await holdsWithout([extension], context);
    });

  test('all of them can be deleted, and the tests of what is left pass', { timeout: LONGEST_MS }, async (context) => {
    const root = await holdsWithout(REMOVABLE, context);
    await run(context, root, 'sh', '-c', testCommand(root));
  });
});

async function holdsWithout(extensions: readonly RemovableExtension[], context: TestContext): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'talaria removal '));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  copyWithout(extensions, root);
  // The two generated files that list rooms and commands.
  for (const script of ['scripts/architecture.ts', 'scripts/reference.ts']) await run(context, root, 'node', script);
  await run(context, root, 'tsc', '-p', '.', '--noEmit');
  await run(context, root, 'node', 'scripts/graph.ts', '--part');
  await run(context, root, 'node', 'scripts/requirements.ts', '--strict');
  return root;
}

function testCommand(root: string): string {
  const parsed = parseJsonObject(readFileSync(join(root, 'package.json'), 'utf8'));
  const scripts = parsed.ok ? parsed.value.scripts : undefined;
  const command = typeof scripts === 'object' && scripts !== null && 'test' in scripts ? scripts.test : undefined;
  assert.equal(typeof command, 'string', 'package.json has a test script');
  return String(command);
}

/** Runs a command as npm would, in the copy; its last lines are the message when it fails. */
async function run(context: TestContext, cwd: string, command: string, ...args: readonly string[]): Promise<void> {
  const began = performance.now();
  const lines: string[] = [];
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined, TALARIA_TEST_MAIN: undefined, PATH: searchPath(cwd) };
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], signal: context.signal });
  const closed = once(child, 'close');
  await Promise.all(
    [child.stdout, child.stderr].map(async (stream) => {
      for await (const line of createInterface({ input: stream })) lines.push(line);
    }),
  );
  const [code] = await closed;
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  context.diagnostic(`${[command, ...args].join(' ').slice(0, 80)}: ${seconds} s`);
  const failing = lines.indexOf('✖ failing tests:');
  assert.equal(code, 0, [...lines.slice(failing, failing + SHOWN_LINES), ...lines.slice(-SHOWN_LINES)].join('\n'));
}

function searchPath(cwd: string): string {
  return [join(cwd, 'node_modules/.bin'), dirname(process.execPath), process.env.PATH ?? ''].join(delimiter);
}
