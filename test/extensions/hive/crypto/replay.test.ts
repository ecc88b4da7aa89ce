// A server that shows a message twice: the same ciphertext, or the same message in other bytes, under another event id.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { openDatabase } from '#base/database.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { messagePlace } from '#extensions/hive/matrix/crypto/foreign/message-place.ts';
import { OpenedMessages } from '#extensions/hive/matrix/crypto/store/opened-messages.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../../verifies.ts';
import { agentsOn, room } from './hive-crypto-bench.ts';
import { HiveKeyServer } from './hive-key-server.ts';

const PAIR = room('!pair:x', '@alice:x', '@bob:x');

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
  const bytes = Buffer.from(String(isJsonObject(content) ? content.ciphertext : ''), 'base64');
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
  const { open } = agentsOn(new HiveKeyServer(), t);
  const bob = await open('bob');
  await bob.crypto.close();
  return { alice: await open('alice'), open: () => open('bob') };
}
