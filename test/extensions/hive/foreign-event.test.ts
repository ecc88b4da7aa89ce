/** Events that are not what they claim to be: another's words under one's own name, of another room, damaged, or no event at all. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { openDatabase } from '#base/database.ts';
import { OpenedMessages } from '#extensions/hive/crypto/crypto-file.ts';
import { isDeep, messagePlace, withoutDeep } from '#extensions/hive/crypto/key-batch.ts';
import type { JsonObject } from '#public/talaria.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../verifies.ts';
import { Agent, agentsOn, never, PAIR, room } from './key-stage.ts';

const ALL = room('!all:x', '@alice:x', '@bob:x', '@mallory:x');

describe('events that are not what they claim to be', () => {
  verifies.slow('R4.37', 'words that a member copied and sent as own ones are not read as theirs', async (t) => {
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

  verifies.slow('R4.37', 'words of one room are not read in another', async (t) => {
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
    const content = said.content as JsonObject;
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

  verifies.slow('R4.76', 'a known device that lost its keys gets new ones a few times, a stranger never', async (t) => {
    const [alice, bob] = await three(t);
    const session = async () => {
      const { content } = await alice.say(ALL, 'x');
      return (content as JsonObject).session_id;
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
  const { open } = agentsOn(t);
  return [await open('alice'), await open('bob'), await open('mallory')];
}

describe('a server that repeats messages', () => {
  verifies('R4.37', 'attack: one ciphertext under new event ids is no new message, after a restart too', async (t) => {
    const { alice, open } = await pair(t);
    const bob = await open();
    const said = await alice.say(PAIR, 'Yes. Transfer the 100 now.');
    await bob.sync();
    assert.equal(await bob.read(said), 'Yes. Transfer the 100 now.');
    assert.equal(await bob.read({ ...said, event_id: '$again' }), undefined);
    assert.equal(await bob.read(said), 'Yes. Transfer the 100 now.', 'the first one stays readable');
    assert.equal(await alice.read(said), 'Yes. Transfer the 100 now.', 'as it does for its sender');
    assert.equal(await alice.read({ ...said, event_id: '$again' }), undefined);
    await bob.crypto.close();
    const later = await open();
    assert.equal(await later.read({ ...said, event_id: '$third' }), undefined);
    assert.equal(await later.read(said), 'Yes. Transfer the 100 now.');
    const { event_id: _, ...nameless } = said;
    assert.equal(await later.read(nameless), undefined);
  });

  verifies('R4.37', 'attack: the same message in other bytes, which the machine would open, is not read', async (t) => {
    const { alice, open } = await pair(t);
    const bob = await open();
    const said = await alice.say(PAIR, 'once');
    await bob.sync();
    assert.equal(await bob.read(said), 'once');
    for (const bytes of otherForms(said)) {
      const content = { ...(said.content as JsonObject), ciphertext: bytes.toString('base64').replace(/=+$/, '') };
      assert.equal(
        await bob.read({ ...said, event_id: '$other', content }),
        undefined,
        bytes.subarray(0, 8).toString('hex'),
      );
    }
  });

  verifies('R4.37', 'what a member copied does not take the place of what it was copied from', async (t) => {
    const { alice, open } = await pair(t);
    const bob = await open();
    const said = await alice.say(PAIR, 'mine');
    await bob.sync();
    assert.equal(await bob.read({ ...said, sender: '@mallory:x', event_id: '$copy' }), undefined);
    assert.equal(await bob.read(said), 'mine');
  });

  test('of a session no more is kept than an honest one holds', async (t) => {
    const path = join(createTempHome(t).path, 'x.sqlite');
    const { database } = openDatabase(path, { rooms: [] });
    t.after(() => database.close());
    database.exec('CREATE TABLE opened(session BLOB, place INTEGER, event BLOB, PRIMARY KEY(session, place))');
    const opened = new OpenedMessages(database);
    const message = { roomId: '!r:x', sessionId: 's', index: 0, eventId: '$0' };
    assert.equal(await opened.claim(message), true);
    database.run(
      `INSERT INTO opened SELECT (SELECT session FROM opened), value, x'00' FROM
       (WITH RECURSIVE up(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM up LIMIT 9999) SELECT value FROM up)`,
    );
    assert.equal(await opened.claim({ ...message, index: 10_000, eventId: '$10000' }), false);
    assert.equal(await opened.claim(message), true);
    assert.equal(await opened.claim({ ...message, sessionId: 'other', index: 10_000 }), true);
  });

  test('the place of a message: any number in its shortest form, and nothing else', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.uint8Array({ maxLength: 300 }), (index, text) => {
        const bytes = Buffer.from([
          3,
          8,
          ...number(index),
          0x12,
          ...number(text.length),
          ...text,
          ...Array(72).fill(7),
        ]);
        assert.deepEqual(placeOf(bytes), { sessionId: 's', index });
        assert.equal(placeOf(Buffer.concat([bytes, Buffer.from([0])])), undefined);
        assert.equal(placeOf(bytes.subarray(0, -1)), undefined);
      }),
    );
    fc.assert(fc.property(fc.uint8Array(), (bytes) => placeOf(Buffer.from(bytes)) === undefined || bytes[0] === 3));
    for (const content of [undefined, {}, { session_id: 's' }, { session_id: 's', ciphertext: 7 }])
      assert.equal(messagePlace(content), undefined);
  });
});

/** Padded numbers, the index twice, a field that nobody knows. */
function otherForms({ content }: JsonObject): readonly Buffer[] {
  const bytes = Buffer.from(String((content as JsonObject).ciphertext), 'base64');
  const index = bytes[2] ?? 0;
  const rest = bytes.subarray(3);
  const trailer = rest.subarray(-72);
  const body = rest.subarray(0, -72);
  return [
    Buffer.from([3, 8, index | 0x80, 0, ...rest]),
    Buffer.from([3, 8, 99, 8, index, ...rest]),
    Buffer.from([3, 8, index, ...body, 0x18, 1, ...trailer]),
    Buffer.from([3, ...body, 8, index, ...trailer]),
  ];
}

function placeOf(bytes: Buffer) {
  return messagePlace({ session_id: 's', ciphertext: bytes.toString('base64') });
}

function number(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) + 128);
  }
}

async function pair(t: TestContext) {
  const { open } = agentsOn(t);
  const bob = await open('bob');
  await bob.crypto.close();
  return { alice: await open('alice'), open: () => open('bob') };
}

const ODD = '@odd:b_c';

describe('one odd member', () => {
  verifies(['R4.36', 'R4.76'], 'attack: an id that is none keeps nobody from being written to or found', async (t) => {
    const { open } = agentsOn(t);
    const [alice, bob] = [await open('alice'), await open('bob')];
    const all = room('!all:x', '@alice:x', '@bob:x', ODD, '');
    assert.deepEqual(await alice.crypto.lateDevices(all, never()), [{ userId: '@bob:x', deviceId: 'BOB' }]);
    const said = await alice.say(all, 'for those who can read');
    await bob.sync();
    assert.equal(await bob.read(said), 'for those who can read');
  });

  verifies('R4.36', 'one that has a device would get what it cannot read: nothing is sent', async (t) => {
    const { server, open } = agentsOn(t);
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

  verifies('R4.75', 'an own id that the machine does not take is said; nothing is moved aside for it', async (t) => {
    const { server, folderOf } = agentsOn(t);
    const folder = folderOf('odd');
    const opening = () => Agent.open({ server, userId: ODD, deviceId: 'ODD', folder });
    await assert.rejects(opening, { code: 'peers-encryption', message: /@odd:b_c/ });
    await assert.rejects(opening, { code: 'peers-encryption', message: /@odd:b_c/ });
  });
});

describe('JSON that is nested too deep', () => {
  verifies('R4.75', 'attack: a message about keys that nobody can write out is left out for good', async (t) => {
    const { open } = agentsOn(t);
    const [alice, bob] = [await open('alice'), await open('bob')];
    const said = await alice.say(room('!pair:x', '@alice:x', '@bob:x'), 'behind it');
    const changes = bob.crypto;
    const event = { type: 'x', sender: '@mallory:x', content: nested(20_000) };
    const quiet = { changed: [], left: [], oneTimeKeyCounts: {} };
    await changes.receive({ ...quiet, toDevice: [event, event], next: bob.since ?? '0' }, never());
    assert.deepEqual(bob.warnings.filter((text) => /nested deeper than 64/.test(text)).length, 1);
    await bob.sync();
    assert.equal(await bob.read(said), 'behind it');
  });

  verifies('R4.36', 'attack: a device whose keys nobody can write out stops no message to the others', async (t) => {
    const { server, open } = agentsOn(t);
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
