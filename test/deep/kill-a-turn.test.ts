/** kill −9 in the middle of real turns: what was acknowledged on the event stream is in the database, and the session goes on. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { describe } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { parseJsonObject } from '#base/json.ts';
import { startStub } from '../../bench/stub.ts';
import { verifies } from '../verifies.ts';

const root = resolve(import.meta.dirname, '../..');
const KILLS = 60;

interface Acknowledged {
  readonly sessionId: string;
  readonly messageId: number;
}

describe('kill −9 in mid-turn', () => {
  verifies(['core:session:durable', 'core:session:resume-history'], {
    options: { timeout: 600_000 },
    run: async () => {
      const stub = await startStub({ rounds: 40 });
      const home = mkdtempSync(join(tmpdir(), 'talaria-kill-'));
      writeFileSync(join(home, 'config.yaml'), 'version: 1\nmodel: openai/stub-model\n');
      const env = {
        ...process.env,
        TALARIA_HOME: home,
        OPENAI_BASE_URL: stub.baseUrl,
        OPENAI_API_KEY: 'test-key-0000',
      };
      const acknowledged: Acknowledged[] = [];
      try {
        for (let i = 0; i < KILLS; i++)
          acknowledged.push(...(await killedTurn(env, { first: i === 0, afterMs: 150 + ((i * 37) % 500) })));
        assert.ok(acknowledged.length > KILLS, `only ${acknowledged.length} messages were acknowledged`);
        const whole = await messageIds(env);
        const missing = acknowledged.filter((message) => !whole.has(message.messageId));
        assert.deepEqual(missing, []);
        assert.equal(await exitCode(env, ['doctor']), 0);
      } finally {
        stub.stop();
        rmSync(home, { recursive: true, force: true });
      }
    },
  });
});

async function killedTurn(
  env: NodeJS.ProcessEnv,
  { first, afterMs }: { first: boolean; afterMs: number },
): Promise<Acknowledged[]> {
  const args = ['-p', 'go', '--output-format', 'stream-json', ...(first ? [] : ['--continue'])];
  const child = spawn('sh', [join(root, 'bin/talaria'), ...args], {
    env,
    cwd: tmpdir(),
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  const seen: Acknowledged[] = [];
  let sessionId = '';
  createInterface({ input: child.stdout }).on('line', (line) => {
    const event = parseJsonObject(line);
    if (!event.ok) return;
    if (event.value.type === 'turn-start') sessionId = String(event.value.sessionId);
    if (event.value.type === 'message') seen.push({ sessionId, messageId: Number(event.value.messageId) });
  });
  const closed = new Promise<void>((done) => child.once('close', () => done()));
  await systemClock.sleep(afterMs);
  if (child.pid) process.kill(-child.pid, 'SIGKILL');
  await closed;
  return seen;
}

async function messageIds(env: NodeJS.ProcessEnv): Promise<ReadonlySet<number>> {
  const { openDatabase } = await import('#base/database.ts');
  const { sessionSchema } = await import('#mind/sessions/session-schema.ts');
  const { database } = openDatabase(join(String(env.TALARIA_HOME), 'state.db'), {
    rooms: [sessionSchema],
    readOnly: true,
  });
  try {
    return new Set(database.all<{ id: number }>('SELECT id FROM messages').map((row) => row.id));
  } finally {
    database.close();
  }
}

function exitCode(env: NodeJS.ProcessEnv, args: readonly string[]): Promise<number | null> {
  const child = spawn('sh', [join(root, 'bin/talaria'), ...args], { env, stdio: 'ignore' });
  return new Promise((done) => child.once('close', done));
}
