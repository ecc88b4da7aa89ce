// An agent with keys on disk is killed (SIGKILL) between any two of its steps: what the server has was stored before, nothing is lost.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { Agent, room } from '../../extensions/hive/crypto/hive-crypto-bench.ts';
import { HiveKeyServer, type ServerCall } from '../../extensions/hive/crypto/hive-key-server.ts';
import { AgentProcess, serveKeys } from '../../extensions/hive/crypto/hive-key-server-http.ts';
import { verifies } from '../../verifies.ts';

const PAIR = room('!pair:x', '@alice:x', '@bob:x');
const SAY = { do: 'say', room: PAIR.roomId, members: PAIR.members } as const;

describe('an agent that is killed', () => {
  for (const [moment, step] of [
    ['after', 'claim'],
    ['before', 'm.room.encrypted'],
    ['after', 'm.room.encrypted'],
  ] as const) {
    verifies(['R4.36', 'R4.75'], `${moment} the server got its ${step}: the next message can be read`, async (t) => {
      const { server, alice, start } = await bench(t);
      const first = await start();
      await first.run({ do: 'sync' });
      server[moment] = killAt(first, step);
      assert.equal(await first.run({ ...SAY, text: 'never sent' }), undefined);
      server[moment] = () => undefined;
      const second = await start();
      assert.equal(second.position, first.position ?? second.position);
      await second.run({ do: 'sync' });
      const said = await second.run<JsonObject>({ ...SAY, text: 'sent' });
      await alice.sync();
      assert.equal(await alice.read(said ?? {}), 'sent');
      const answer = await alice.say(PAIR, 'answer');
      await second.run({ do: 'sync' });
      assert.equal(await second.run({ do: 'read', event: answer }), 'answer');
    });
  }

  for (const moment of ['before', 'after'] as const) {
    verifies('R4.75', `${moment} the server got its first keys: the same device goes on`, async (t) => {
      const { server, alice, start } = await bench(t);
      const first = await start();
      server[moment] = killAt(first, 'upload');
      assert.equal(await first.run({ do: 'sync' }), undefined);
      server[moment] = () => undefined;
      const second = await start();
      await second.run({ do: 'sync' });
      const said = await alice.say(PAIR, 'hello');
      await second.run({ do: 'sync' });
      assert.equal(await second.run({ do: 'read', event: said }), 'hello');
      assert.deepEqual(await second.run({ do: 'warnings' }), []);
    });
  }

  verifies(
    ['R4.37', 'R4.75'],
    'after it took keys in, before the next sync: they are there, and the server may forget them',
    async (t) => {
      const { server, alice, start } = await bench(t);
      const first = await start();
      await first.run({ do: 'sync' });
      const said = await alice.say(PAIR, 'kept');
      await first.run({ do: 'sync' });
      first.child.kill('SIGKILL');
      const second = await start();
      assert.equal(second.position, '3');
      await second.run({ do: 'sync' });
      assert.deepEqual(server.waiting('@bob:x', 'BOB'), []);
      assert.equal(await second.run({ do: 'read', event: said }), 'kept');
    },
  );
});

function killAt(agent: AgentProcess, step: string): (call: ServerCall) => void {
  return ({ userId, path }) => {
    if (userId !== '@bob:x' || path[2] !== step) return;
    agent.child.kill('SIGKILL');
    throw new Error('the caller is dead');
  };
}

async function bench(t: TestContext) {
  const server = new HiveKeyServer();
  const address = await serveKeys(server, t);
  const home = createTempHome(t);
  const alice = await Agent.open({ server, userId: '@alice:x', deviceId: 'ALICE', folder: join(home.path, 'alice') });
  t.after(() => alice.crypto.close());
  await alice.sync();
  const place = { address, userId: '@bob:x', deviceId: 'BOB', folder: join(home.path, 'bob', 'peers') };
  return { server, alice, start: () => AgentProcess.start(place, t) };
}
