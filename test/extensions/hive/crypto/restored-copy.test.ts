// A key store that was put back from a copy: what was sent since is not in it, and no message key may be used again.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe } from 'node:test';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { messagePlace } from '#extensions/hive/matrix/crypto/foreign/message-place.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../../verifies.ts';
import { Agent, agentsOn, room } from './hive-crypto-bench.ts';
import { HiveKeyServer } from './hive-key-server.ts';
import { copyOf, WAYS } from './hive-restored-home.ts';

const PAIR = room('!pair:x', '@alice:x', '@bob:x');

describe('keys that were put back from a copy', () => {
  for (const [how, putBack] of Object.entries(WAYS)) {
    verifies(['R4.36', 'R4.75'], `put back ${how}: no message key is used twice, and all is read`, async (t) => {
      const { open, folderOf } = agentsOn(new HiveKeyServer(), t);
      const bob = await open('bob');
      const folder = folderOf('alice');
      const first = await open('alice');
      const sent = [await first.say(PAIR, 'zero')];
      await first.crypto.close();
      const copy = copyOf(folder);
      const second = await open('alice');
      sent.push(await second.say(PAIR, 'one: the real plan'), await second.say(PAIR, 'two'));
      await second.crypto.close();
      await bob.sync();
      assert.deepEqual(await Promise.all(sent.map((event) => bob.read(event))), ['zero', 'one: the real plan', 'two']);
      putBack(folder, copy);
      const third = await open('alice');
      const after = [await third.say(PAIR, 'one: other words'), await third.say(PAIR, 'two again')];
      assert.equal(new Set([...sent, ...after].map(keyOf)).size, 5);
      if (how === 'without a trace') return;
      assert.match(third.warnings.join('\n'), /was put back from a copy/);
      await bob.sync();
      assert.deepEqual(await Promise.all(after.map((event) => bob.read(event))), ['one: other words', 'two again']);
    });
  }

  verifies('R4.36', 'a process goes on with its own session, also while another one writes to the store', async (t) => {
    const server = new HiveKeyServer();
    const folder = join(createTempHome(t).path, 'peers');
    const open = async () => {
      const agent = await Agent.open({ server, userId: '@alice:x', deviceId: 'ALICE', folder });
      t.after(() => agent.crypto.close());
      await agent.sync();
      return agent;
    };
    const [chat, command] = [await open(), await open()];
    const one = await chat.say(PAIR, 'one');
    await command.sync();
    const two = await chat.say(PAIR, 'two');
    assert.equal(sessionOf(two), sessionOf(one), 'the other one has only received');
    const three = await command.say(PAIR, 'three');
    assert.notEqual(sessionOf(three), sessionOf(one), 'nobody goes on with what another process began');
    const four = await chat.say(PAIR, 'four');
    assert.equal(new Set([one, two, three, four].map(keyOf)).size, 4);
  });
});

function sessionOf({ content }: JsonObject): unknown {
  return isJsonObject(content) ? content.session_id : undefined;
}

function keyOf({ content }: JsonObject): string {
  const place = messagePlace(isJsonObject(content) ? content : undefined);
  assert.notEqual(place, undefined);
  return JSON.stringify(place);
}
