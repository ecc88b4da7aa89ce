// What is remembered of encrypted rooms, so that a server which leaves the encryption of a room out later is not believed.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../../verifies.ts';
import { Agent, MEGOLM, never, room } from './hive-crypto-bench.ts';
import { HiveKeyServer } from './hive-key-server.ts';

const QUIET = { toDevice: [], changed: [], left: [], oneTimeKeyCounts: {} };

describe('rooms that were seen encrypted', () => {
  verifies('R4.74', 'a room stays encrypted whatever later syncs leave out, after a restart too', async (t) => {
    const { open } = bench(t);
    const alice = await open();
    assert.deepEqual(alice.crypto.encryptedRooms(), []);
    const encrypted = [
      { roomId: '!a:x', settings: MEGOLM },
      { roomId: '!b:x', settings: { ...MEGOLM, rotation_period_msgs: 7 } },
    ];
    await alice.crypto.receive({ ...QUIET, next: '1', encrypted }, never());
    await alice.crypto.receive({ ...QUIET, next: '2', isInitial: true, encrypted: [] }, never());
    await alice.say(room('!c:x', '@alice:x'), 'a room of which no sync has told yet');
    const all = [
      { roomId: '!a:x', settings: MEGOLM },
      { roomId: '!b:x', settings: { ...MEGOLM, rotation_period_msgs: 7 } },
      { roomId: '!c:x', settings: MEGOLM },
    ];
    assert.deepEqual(alice.crypto.encryptedRooms(), all);
    await alice.crypto.close();
    assert.deepEqual((await open()).crypto.encryptedRooms(), all);
  });

  verifies(
    'R4.74',
    'who signs in anew, or loses the key of the store, still knows which rooms are encrypted',
    async (t) => {
      const { open, folder } = bench(t);
      const alice = await open();
      await alice.crypto.receive({ ...QUIET, next: '1', encrypted: [{ roomId: '!a:x', settings: MEGOLM }] }, never());
      await alice.crypto.close();
      const anew = await open('ALICE2');
      assert.deepEqual(anew.crypto.encryptedRooms(), [{ roomId: '!a:x', settings: MEGOLM }]);
      await anew.crypto.close();
      rmSync(join(folder, 'store.key'));
      assert.deepEqual((await open('ALICE2')).crypto.encryptedRooms(), [{ roomId: '!a:x', settings: MEGOLM }]);
    },
  );

  verifies('R4.74', 'settings nested deeper than anybody can write out are no way to stop the sync', async (t) => {
    const alice = await bench(t).open();
    let deep: JsonObject = {};
    for (let level = 0; level < 50_000; level += 1) deep = { deep };
    const settings = { ...MEGOLM, rotation_period_ms: 1, deep, algorithm: MEGOLM.algorithm };
    await alice.crypto.receive({ ...QUIET, next: '1', encrypted: [{ roomId: '!a:x', settings }] }, never());
    const kept = { ...MEGOLM, rotation_period_ms: 1 };
    assert.deepEqual(alice.crypto.encryptedRooms(), [{ roomId: '!a:x', settings: kept }]);
  });
});

function bench(t: TestContext) {
  const server = new HiveKeyServer();
  const folder = join(createTempHome(t).path, 'peers');
  const open = async (deviceId = 'ALICE') => {
    const agent = await Agent.open({ server, userId: '@alice:x', deviceId, folder });
    t.after(() => agent.crypto.close());
    return agent;
  };
  return { open, folder };
}
