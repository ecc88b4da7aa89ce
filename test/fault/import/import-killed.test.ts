import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { jitter } from '#base/ids.ts';
import { many } from '../../property-runs.ts';
import { type HermesState, writeHermesHome } from '../../surfaces/app/commands/import/hermes-home.ts';
import { createImportStage } from '../../surfaces/app/commands/import/import-stage.ts';

const CHILD = fileURLToPath(new URL('import-child.ts', import.meta.url));
const SESSIONS = many(300, 100);
const EACH = 12;

function fill(state: HermesState): void {
  state.database.exec('BEGIN');
  for (let n = 0; n < SESSIONS; n += 1) {
    const id = `20260701_${String(n).padStart(6, '0')}_abcdef`;
    state.session({ id, source: 'cli', started_at: 1_780_000_000 + n * 100 });
    for (let m = 0; m < EACH; m += 1) {
      const role = m % 2 === 0 ? 'user' : 'assistant';
      const content = `session ${n} line ${m} about topic${(n * 7 + m) % 50} and ${'padding '.repeat(m)}`;
      state.message({ session_id: id, role, content, timestamp: 1_780_000_000 + n * 100 + m });
    }
  }
  state.database.exec('COMMIT');
}

/** Gives what it took, or undefined when it was killed. */
function importInProcess(args: readonly string[], killAfterMs?: number): Promise<string | undefined> {
  const child = spawn(process.execPath, [CHILD, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  let timer: NodeJS.Timeout | undefined;
  child.stdout.on('data', (data) => {
    out += String(data);
    if (killAfterMs !== undefined) timer ??= setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  });
  return new Promise((resolve) => {
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve(code === 0 ? out.replace('started\n', '') : undefined);
    });
  });
}

describe('an import that is killed', () => {
  test('is completed by the next one: every session once, every message once, the copy gone', async (t) => {
    const stage = createImportStage(t);
    const hermes = writeHermesHome(stage.temp, { version: 30 });
    fill(hermes.state);
    hermes.state.close();
    const args = [stage.temp.path, stage.home.root, hermes.path];
    for (const widest of [200, 500]) {
      await importInProcess(args, 30 + jitter() * widest);
    }
    await stage.run({ from: hermes.path, keys: true });
    const store = stage.store();
    const sessions = await store.list({ limit: 1000 });
    assert.equal(sessions.length, SESSIONS + 6);
    const filled = sessions.filter(({ id }) => id.startsWith('20260701_'));
    assert.ok(filled.every(({ messageCount }) => messageCount === EACH));
    const rows = store.database.get<{ n: number }>(
      'SELECT count(*) AS n FROM messages m JOIN sessions s ON s.key = m.session WHERE s.id LIKE ?',
      '20260701%',
    );
    assert.equal(rows?.n, SESSIONS * EACH);
    assert.equal((await store.checkIndex()).agrees, true);
    assert.deepEqual(
      readdirSync(stage.home.cache).filter((name) => name.startsWith('import-')),
      [],
    );
    assert.equal(stage.temp.read('home/memories/MEMORY.md').split('\n§\n').length, 2);
    const further = await stage.run({ from: hermes.path, keys: true });
    assert.deepEqual(further.data.taken.sessions, undefined, 'a further run took something');
  });
});
