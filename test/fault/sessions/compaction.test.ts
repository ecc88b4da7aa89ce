/** A process that compresses is killed at random moments: the context is the one before or the one after, never between. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe } from 'node:test';
import { jitter } from '#base/ids.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { withFolder } from '../../mind/sessions/temp-store.ts';
import { many } from '../../property-runs.ts';
import { verifies } from '../../verifies.ts';

const CHILD = join(import.meta.dirname, 'compact-child.ts');

function runUntilKilled(path: string, sessionId: string, killAfterMs: number): Promise<readonly string[]> {
  const child = spawn(process.execPath, [CHILD, path, sessionId], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  let timer: NodeJS.Timeout | undefined;
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    timer ??= setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => {
      clearTimeout(timer);
      resolve(output.slice(0, output.lastIndexOf('\n')).split('\n'));
    });
  });
}

/** Opens the file anew and reads how far the live summary reaches; 0 without one. */
async function assertWhole(path: string, id: string): Promise<{ readonly covered: number; readonly told: number }> {
  const store = createSqliteSessionStore({ path });
  const live = (await store.messages(id)).map(({ message }) => JSON.stringify(message));
  const covered = Number(/"S(\d+)"/.exec(live[1] ?? '')?.[1] ?? 0);
  const told = (await store.get(id))?.messageCount ?? 0;
  const wanted = Array.from({ length: told }, (_, n) => n).filter((n) => n === 0 || n > covered);
  const shown = live.flatMap((text) => /message (\d+)/.exec(text)?.[1] ?? []);
  assert.deepEqual(shown.map(Number), wanted);
  assert.equal((await store.loadPrompt(id))?.system, covered > 0 ? `after S${covered}` : undefined);
  if (covered > 0) assert.ok((await store.search('message 1 topic')).length > 0);
  assert.deepEqual(await store.checkIndex(), { agrees: true, differences: [] });
  await store.close();
  return { covered, told };
}

function lastOf(lines: readonly string[], pattern: RegExp): number {
  return Number(pattern.exec(lines.findLast((line) => pattern.test(line)) ?? '')?.[1] ?? 0);
}

describe('a process killed while it compresses', () => {
  verifies(
    ['core:compression:rows-kept', 'core:session:index-agrees'],
    'nothing acknowledged is lost; context and prompt belong together; what left the context is found',
    () =>
      withFolder(async (folder) => {
        const path = join(folder, 'state.db');
        const first = createSqliteSessionStore({ path });
        const { id } = await first.create({ source: 'cli', cwd: '/' });
        await first.close();
        for (let kill = 0; kill < many(24, 2); kill += 1) {
          const acknowledged = await runUntilKilled(path, id, 5 + jitter() * 60);
          const { covered, told } = await assertWhole(path, id);
          assert.ok(told > lastOf(acknowledged, /^(\d+)$/));
          assert.ok(covered >= lastOf(acknowledged, /^S(\d+)$/));
        }
      }),
  );
});
