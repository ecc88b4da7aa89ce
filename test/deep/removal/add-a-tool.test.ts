/** CONTRIBUTING: a tool is a file and a line in its room. This writes one as it says there, and finds it in an agent. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { copyWithout } from './copy-without.ts';

const TOOL = `// Owns the tool that counts stored sessions. Knows the store alone.
import { z } from 'zod';
import { type AnyTool, defineTool } from '#core/agent/tool.ts';
import type { SessionStore } from '#core/agent/session-store.ts';

export function createSessionCountTool(store: Pick<SessionStore, 'list'>): AnyTool {
  return defineTool({
    name: 'session_count',
    description: 'How many conversations are stored.',
    input: z.object({}),
    toolset: 'session_search',
    effect: 'read',
    run: async () => ({ text: String((await store.list()).length), origin: 'observed' }),
  });
}
`;

const TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStage } from './surfaces/app/app-fixture.ts';

test('it is shown and answers', async (t) => {
  const app = await createStage(t).open({ model: 'reflex' });
  const tool = (await app.tools()).tools.find(({ name }) => name === 'session_count');
  assert.ok(tool);
  const answer = await tool.run({} as never, {} as never, new AbortController().signal);
  assert.equal(answer.text, '0');
});
`;

test('a read-only tool is a new file, a line in its room, and its test', { timeout: 300_000 }, (context) => {
  const root = mkdtempSync(join(tmpdir(), 'talaria tool '));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  copyWithout([], root);
  writeFileSync(join(root, 'src/mind/sessions/session-count-tool.ts'), TOOL);
  const room = join(root, 'src/mind/sessions/open-room.ts');
  const text = readFileSync(room, 'utf8');
  const line = "import { createSessionCountTool } from './session-count-tool.ts';\nimport { createSqliteSessionStore";
  const added = text
    .replace('import { createSqliteSessionStore', line)
    .replace('tools: [', 'tools: [createSessionCountTool(store), ');
  assert.ok(added.includes('[createSessionCountTool(store), ') && added.includes(line));
  writeFileSync(room, added);
  writeFileSync(join(root, 'test/session-count.test.ts'), TEST);
  for (const command of [
    ['node_modules/.bin/tsc', '-p', '.', '--noEmit'],
    [process.execPath, '--test', '--test-isolation=none', '--test-force-exit', 'test/session-count.test.ts'],
  ] as const) {
    const [file, ...args] = command;
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
    const { status, stdout, stderr } = spawnSync(file, args, { cwd: root, encoding: 'utf8', env });
    assert.equal(status, 0, stdout + stderr);
  }
});
