// What a server or a stranger can put in our way: ids that the machine does not take, and JSON that nobody can write out.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { isDeep, withoutDeep } from '#extensions/hive/matrix/crypto/foreign/json-depth.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../../verifies.ts';
import { Agent, never, room } from './hive-crypto-bench.ts';
import { HiveKeyServer } from './hive-key-server.ts';

const ODD = '@odd:b_c';

describe('one odd member', () => {
  verifies(['R4.36', 'R4.76'], 'attack: an id that is none keeps nobody from being written to or found', async (t) => {
    const { open } = bench(t);
    const [alice, bob] = [await open('alice'), await open('bob')];
    const all = room('!all:x', '@alice:x', '@bob:x', ODD, '');
    assert.deepEqual(await alice.crypto.lateDevices(all, never()), [{ userId: '@bob:x', deviceId: 'BOB' }]);
    const said = await alice.say(all, 'for those who can read');
    await bob.sync();
    assert.equal(await bob.read(said), 'for those who can read');
  });

  verifies('R4.36', 'one that has a device would get what it cannot read: nothing is sent', async (t) => {
    const { server, open } = bench(t);
    const alice = await open('alice');
    await open('bob');
    const device_keys = { user_id: ODD, device_id: 'ODD', keys: {} };
    server.answer({
      method: 'POST',
      path: ['v3', 'keys', 'upload'],
      body: { device_keys },
      userId: ODD,
      deviceId: 'ODD',
    });
    const refused = alice.say(room('!all:x', '@alice:x', '@bob:x', ODD), 'x');
    await assert.rejects(refused, { code: 'peers-encryption', message: /@odd:b_c/ });
    const said = await alice.say(room('!pair:x', '@alice:x', '@bob:x'), 'elsewhere');
    assert.equal(said.type, 'm.room.encrypted');
  });

  verifies(
    'R4.75',
    'an own id that the machine does not take is said, and nothing is moved aside for it',
    async (t) => {
      const { server, folderOf } = bench(t);
      const folder = folderOf('odd');
      const opening = () => Agent.open({ server, userId: ODD, deviceId: 'ODD', folder });
      await assert.rejects(opening, { code: 'peers-encryption', message: /@odd:b_c/ });
      await assert.rejects(opening, { code: 'peers-encryption', message: /@odd:b_c/ });
    },
  );
});

describe('JSON that is nested too deep', () => {
  verifies(
    'R4.75',
    'attack: a message about keys that nobody can write out is left out once and for all',
    async (t) => {
      const { open } = bench(t);
      const [alice, bob] = [await open('alice'), await open('bob')];
      const said = await alice.say(room('!pair:x', '@alice:x', '@bob:x'), 'behind it');
      const changes = bob.crypto;
      const event = { type: 'x', sender: '@mallory:x', content: nested(20_000) };
      const quiet = { changed: [], left: [], oneTimeKeyCounts: {} };
      await changes.receive({ ...quiet, toDevice: [event, event], next: bob.since ?? '0' }, never());
      assert.deepEqual(bob.warnings.filter((text) => /nested deeper than 64/.test(text)).length, 1);
      await bob.sync();
      assert.equal(await bob.read(said), 'behind it');
    },
  );

  verifies('R4.36', 'attack: a device whose keys nobody can write out stops no message to the others', async (t) => {
    const { server, open } = bench(t);
    const [alice, bob] = [await open('alice'), await open('bob')];
    const device_keys = { user_id: '@mallory:x', device_id: 'M', keys: {}, unsigned: nested(20_000) };
    const http = server.http('@alice:x', 'ALICE');
    server.http = () => async (call, signal) => {
      const answer = await http(call, signal);
      const users = answer.device_keys as JsonObject;
      return call.path[2] === 'query'
        ? { ...answer, device_keys: { ...users, '@mallory:x': { M: device_keys } } }
        : answer;
    };
    await alice.crypto.close();
    const again = await open('alice');
    const said = await again.say(room('!all:x', '@alice:x', '@bob:x', '@mallory:x'), 'for those who can read');
    await bob.sync();
    assert.equal(await bob.read(said), 'for those who can read');
  });

  test('the bound: 64 levels pass, 65 do not; of an answer the deep devices alone go', () => {
    assert.equal(isDeep(nested(64)), false);
    assert.equal(isDeep(nested(65)), true);
    assert.equal(isDeep([[[]]], 3), false);
    assert.equal(isDeep([[[]]], 2), true);
    const good = { keys: { a: 'b' } };
    const answer = { device_keys: { '@a:x': { GOOD: good, BAD: nested(100) } }, failures: {}, odd: nested(100) };
    const kept = withoutDeep(answer);
    assert.deepEqual(kept.device_keys, { '@a:x': { GOOD: good } });
    assert.deepEqual(kept.failures, {});
    assert.equal(isDeep(kept), false);
    assert.equal(withoutDeep(good), good);
  });
});

function nested(levels: number): JsonObject {
  let value: JsonObject = {};
  for (let level = 1; level < levels; level += 1) value = { value };
  return value;
}

function bench(t: TestContext) {
  const server = new HiveKeyServer();
  const home = createTempHome(t);
  const folderOf = (name: string) => join(home.path, name, 'peers');
  const open = async (name: string) => {
    const agent = await Agent.open({
      server,
      userId: `@${name}:x`,
      deviceId: name.toUpperCase(),
      folder: folderOf(name),
    });
    t.after(() => agent.crypto.close());
    await agent.sync();
    return agent;
  };
  return { server, folderOf, open };
}
