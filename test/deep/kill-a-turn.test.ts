/** kill −9 in the middle of real turns: what was acknowledged on the event stream is in the database, and the session goes on. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { describe } from 'node:test';
import { errorCode } from '#base/errors.ts';
import { parseJsonObject } from '#base/json.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { startStub } from '../../bench/stub.ts';
import { realClock } from '../ground.ts';
import { verifies } from '../verifies.ts';

const root = resolve(import.meta.dirname, '../..');
const KILLS = 200;
const SEED = Number(process.env.SEED ?? 4711);

interface Acknowledged {
  readonly sessionId: string;
  readonly messageId: number;
}

describe('kill −9 in mid-turn', () => {
  verifies(
    ['core:session:durable', 'core:session:resume-history'],
    'every acknowledged message is there, and the session goes on',
    {
      options: { timeout: 600_000 },
      run: async () => {
        const stub = await startStub({ rounds: 40 });
        const base = mkdtempSync(join(tmpdir(), 'talaria-kill-'));
        const [home, cwd] = [join(base, 'home'), join(base, 'work')];
        for (const path of [home, cwd]) mkdirSync(path);
        writeFileSync(join(home, 'config.yaml'), 'version: 1\nmodel: openai/stub-model\n', { mode: 0o600 });
        const env = {
          ...process.env,
          TALARIA_HOME: home,
          OPENAI_BASE_URL: stub.baseUrl,
          OPENAI_API_KEY: 'test-key-0000',
        };
        const acknowledged: Acknowledged[] = [];
        const random = randomFrom(SEED);
        console.log(`kill −9 at ${KILLS} random moments, SEED=${SEED}`);
        try {
          for (let i = 0; i < KILLS; i++) {
            const kill = { isFirst: i === 0, early: random() < 0.2, afterMs: random() * 400 };
            acknowledged.push(...(await killedTurn({ env, cwd }, kill)));
            if (i % 20 === 19) await agrees(home);
          }
          // One in five is killed early; each of the others had acknowledged something before it was, on whatever machine.
          assert.ok(acknowledged.length > KILLS / 2, `only ${acknowledged.length} messages were acknowledged`);
          const whole = await messageIds(env);
          const missing = acknowledged.filter((message) => !whole.has(message.messageId));
          assert.deepEqual(missing, []);
          assert.equal(await exitCode(env, ['doctor']), 0);
          assert.equal(await exitCode(env, ['-p', 'go on', '--continue']), 0);
        } finally {
          stub.stop();
          rmSync(base, { recursive: true, force: true });
        }
      },
    },
  );
});

/** Small, seeded, good enough to pick moments. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The store opens as it was left, and its search index holds what the messages hold. */
async function agrees(home: string): Promise<void> {
  const store = createSqliteSessionStore({ path: join(home, 'state.db') });
  try {
    assert.deepEqual(store.notices, []);
    const report = await store.checkIndex();
    assert.equal(report.agrees, true, JSON.stringify(report));
  } finally {
    await store.close();
  }
}

interface Kill {
  readonly isFirst: boolean;
  /** Counted from the start of the process; else from the first message that it acknowledged. */
  readonly early: boolean;
  readonly afterMs: number;
}

async function killedTurn(
  where: { env: NodeJS.ProcessEnv; cwd: string },
  { isFirst, early, afterMs }: Kill,
): Promise<Acknowledged[]> {
  const args = ['-p', 'go', '--output-format', 'stream-json', ...(isFirst ? [] : ['--continue'])];
  const child = spawn('sh', [join(root, 'bin/talaria'), ...args], {
    ...where,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  const seen: Acknowledged[] = [];
  const acknowledged = Promise.withResolvers<void>();
  let sessionId = '';
  createInterface({ input: child.stdout }).on('line', (line) => {
    const event = parseJsonObject(line);
    if (!event.ok) return;
    if (event.value.type === 'turn-start') sessionId = String(event.value.sessionId);
    if (event.value.type !== 'message') return;
    seen.push({ sessionId, messageId: Number(event.value.messageId) });
    acknowledged.resolve();
  });
  const closed = new Promise<void>((done) => child.once('close', () => done()));
  if (!early) await Promise.race([acknowledged.promise, closed]);
  await realClock.sleep(afterMs);
  try {
    if (child.pid) process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    assert.equal(errorCode(error), 'ESRCH');
  }
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
