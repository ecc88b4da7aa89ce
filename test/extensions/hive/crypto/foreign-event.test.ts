// Events that are not what they claim to be: another's words under one's own name, of another room, damaged, or no event at all.
import assert from 'node:assert/strict';
import { describe, type TestContext } from 'node:test';
import fc from 'fast-check';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { verifies } from '../../../verifies.ts';
import { type Agent, agentsOn, never, room } from './hive-crypto-bench.ts';
import { HiveKeyServer } from './hive-key-server.ts';

const ALL = room('!all:x', '@alice:x', '@bob:x', '@mallory:x');

describe('events that are not what they claim to be', () => {
  verifies('R4.37', 'words that a member copied and sent as own ones are not read as theirs', async (t) => {
    const [alice, bob, mallory] = await three(t);
    const said = await alice.say(ALL, 'I, Alice, vouch for this');
    await Promise.all([bob.sync(), mallory.sync()]);
    const copied = { ...said, sender: '@mallory:x', event_id: '$copied' };
    assert.equal(await bob.read(copied), undefined);
    await bob.sync();
    assert.equal(await bob.read(copied), undefined, 'nor when the devices of both are known');
    await bob.say(ALL, 'so that everybody is known');
    assert.equal(await bob.read(copied), undefined);
    assert.equal(await bob.read(said), 'I, Alice, vouch for this');
    const own = await mallory.say(ALL, 'my own words');
    await bob.sync();
    assert.equal(await bob.read(own), 'my own words');
  });

  verifies('R4.37', 'words of one room are not read in another', async (t) => {
    const [alice, bob] = await three(t);
    const said = await alice.say(ALL, 'here');
    await bob.sync();
    assert.equal(await bob.read({ ...said, room_id: '!elsewhere:x' }), undefined);
    const { room_id, ...event } = said;
    assert.equal(await bob.crypto.decrypt('!all:x', { ...event, room_id: '!elsewhere:x' }), undefined);
    assert.notEqual(await bob.crypto.decrypt(String(room_id), event), undefined);
  });

  verifies('R4.37', 'a damaged event, and any garbage, is undefined and harms nothing', async (t) => {
    const [alice, bob] = await three(t);
    const said = await alice.say(ALL, 'whole');
    await bob.sync();
    const content = isJsonObject(said.content) ? said.content : {};
    const broken: JsonObject[] = [
      { ...said, content: { ...content, ciphertext: 'AAAA' } },
      { ...said, content: { ...content, session_id: 'nobody' } },
      { ...said, content: {} },
      { ...said, content: null },
      { ...said, type: 'm.room.message' },
      { ...said, sender: 'nobody' },
      { ...said, sender: 7 },
      {},
    ];
    for (const event of broken) assert.equal(await bob.read(event), undefined, JSON.stringify(event));
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (extra) => {
        const made = { ...said, content: { ...content, ...(extra as JsonObject), ciphertext: 'x' } };
        assert.equal(await bob.crypto.decrypt('!all:x', made), undefined);
      }),
    );
    assert.equal(await bob.read(said), 'whole');
  });

  verifies('R4.75', 'garbage among the messages of a sync does not stop it', async (t) => {
    const [alice, bob] = await three(t);
    const request = { action: 'request', requesting_device_id: 'X', body: { room_id: '!all:x' } };
    await alice.say(ALL, 'a room that is known');
    const toDevice: JsonObject[] = [
      { type: 'm.room_key_request', sender: 'nobody', content: request },
      { type: 'm.room_key_request', sender: '@mallory:x', content: request },
      { type: 'm.room_key_request', sender: '@mallory:x', content: null },
      { type: 'm.room.encrypted', sender: '@mallory:x', content: { algorithm: 'm.olm.v1.curve25519-aes-sha2' } },
      { type: 'm.room_key', sender: '@mallory:x', content: { algorithm: 'm.megolm.v1.aes-sha2', room_id: '!all:x' } },
      { type: 7 },
      {},
    ];
    const changes = {
      toDevice,
      changed: ['nobody', '@mallory:x'],
      left: ['', '@gone:x'],
      oneTimeKeyCounts: {},
      next: '99',
    };
    await alice.crypto.receive(changes, never());
    assert.equal(alice.crypto.position(), '99');
    const said = await alice.say(ALL, 'still here');
    await bob.sync();
    assert.equal(await bob.read(said), 'still here');
  });

  verifies('R4.76', 'a known device that lost its keys gets new ones a few times, a stranger never', async (t) => {
    const [alice, bob] = await three(t);
    const session = async () => {
      const { content } = await alice.say(ALL, 'x');
      return isJsonObject(content) ? content.session_id : undefined;
    };
    const ask = async (sender: string, device: string) => {
      const body = { algorithm: 'm.megolm.v1.aes-sha2', room_id: '!all:x', session_id: 'any' };
      const content = { action: 'request', requesting_device_id: device, request_id: '1', body };
      const toDevice = [{ type: 'm.room_key_request', sender, content }];
      await alice.crypto.receive({ toDevice, changed: [], left: [], oneTimeKeyCounts: {}, next: '9' }, never());
    };
    let before = await session();
    await ask('@stranger:x', 'ANY');
    await ask('@bob:x', 'UNKNOWN');
    assert.equal(await session(), before);
    let changes = 0;
    for (let count = 0; count < 8; count += 1) {
      await alice.crypto.noteReached('!all:x', [{ userId: '@bob:x', deviceId: 'BOB' }]);
      await ask('@bob:x', 'BOB');
      const now = await session();
      if (now !== before) changes += 1;
      before = now;
    }
    assert.equal(changes, 5);
    await bob.sync();
    assert.equal(await bob.read(await alice.say(ALL, 'still read')), 'still read');
  });
});

async function three(t: TestContext): Promise<[Agent, Agent, Agent]> {
  const { open } = agentsOn(new HiveKeyServer(), t);
  return [await open('alice'), await open('bob'), await open('mallory')];
}
