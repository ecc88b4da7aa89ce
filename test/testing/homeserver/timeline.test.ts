/** Sending, paging, transactions, redaction, sizes, history. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startFakeHomeserver } from '#testing/homeserver/start-fake-homeserver.ts';
import { codeOf, type Loose, type Person, person, personOf, roomOf, say, textsOf } from './matrix-caller.ts';

async function readAll(who: Person, path: string): Promise<readonly Loose[]> {
  const events: Loose[] = [];
  let from: string | undefined = '';
  for (let pages = 0; from !== undefined && pages < 50; pages += 1) {
    const page: Loose = (await who.call('GET', `${path}&from=${from}`)).body;
    events.push(...page.chunk);
    from = page.end;
  }
  return events;
}

describe('fake homeserver: timeline', () => {
  test('paging back and forth gives every event once, with and without a filter', async (context) => {
    const server = await startFakeHomeserver({ context });
    const alice = await person(server, 'alice');
    const room = await roomOf(alice);
    const wanted = Array.from({ length: 23 }, (_, index) => `m${index}`);
    for (const text of wanted) await say(alice, room, text);
    const filter = `&filter=${encodeURIComponent(JSON.stringify({ types: ['m.room.mess*'] }))}`;
    for (const [direction, extra] of [
      ['b', ''],
      ['f', ''],
      ['b', filter],
      ['f', filter],
    ] as const) {
      const events = await readAll(alice, `/rooms/${room}/messages?dir=${direction}&limit=5${extra}`);
      assert.deepEqual(textsOf(events), direction === 'b' ? wanted.toReversed() : wanted);
      assert.equal(events.length, extra === '' ? 29 : 23);
      assert.equal(new Set(events.map(({ event_id }) => event_id)).size, events.length);
      assert.ok(events.every(({ room_id }) => room_id === decodeURIComponent(room)));
    }
    assert.equal(codeOf(await alice.call('GET', `/rooms/${room}/messages?dir=b&from=t1`)), '400 M_UNKNOWN');
    assert.equal(codeOf(await alice.call('GET', `/rooms/${room}/messages`)), '400 M_INVALID_PARAM');
  });

  test('a transaction of a device takes effect once; of another device again', async (context) => {
    const server = await startFakeHomeserver({ context });
    const alice = await person(server, 'alice');
    const other = personOf(server, await server.signIn(alice));
    const room = await roomOf(alice);
    const path = `/rooms/${room}/send/m.room.message/t1`;
    const first = await alice.call('PUT', path, { msgtype: 'm.text', body: 'one' });
    const second = await alice.call('PUT', path, { msgtype: 'm.text', body: 'two' });
    assert.equal(second.body.event_id, first.body.event_id);
    const elsewhere = await other.call('PUT', path, { msgtype: 'm.text', body: 'three' });
    assert.notEqual(elsewhere.body.event_id, first.body.event_id);
    const page = await alice.call('GET', `/rooms/${room}/messages?dir=b&limit=2`);
    assert.deepEqual(textsOf(page.body.chunk), ['three', 'one']);
    const marks = page.body.chunk.map(({ unsigned }: Loose) => unsigned?.transaction_id);
    assert.deepEqual(marks, [undefined, 't1']);
  });

  test('redaction empties what was said; not everybody may', async (context) => {
    const server = await startFakeHomeserver({ context });
    const [alice, bob] = await Promise.all(['alice', 'bob'].map((name) => person(server, name)));
    assert.ok(alice && bob);
    const room = await roomOf(alice, { invite: [bob.userId] });
    await bob.call('POST', `/join/${room}`, {});
    const mine = (await say(alice, room, 'mine')).body.event_id;
    const his = (await say(bob, room, 'his')).body.event_id;
    const refused = await bob.call('PUT', `/rooms/${room}/redact/${encodeURIComponent(mine)}/r1`, {});
    assert.equal(codeOf(refused), '403 M_FORBIDDEN');
    await alice.call('PUT', `/rooms/${room}/redact/${encodeURIComponent(his)}/r2`, { reason: 'no' });
    const event = (await bob.call('GET', `/rooms/${room}/event/${encodeURIComponent(his)}`)).body;
    assert.deepEqual(event.content, {});
    assert.equal(event.unsigned.redacted_because.sender, alice.userId);
    assert.ok(!(await server.storedText()).includes('his"'));
    assert.equal(codeOf(await alice.call('PUT', `/rooms/${room}/redact/%24none/r3`, {})), '404 M_NOT_FOUND');
  });

  test('an event of more than 64 KiB and a message without its fields are refused', async (context) => {
    const server = await startFakeHomeserver({ context });
    const alice = await person(server, 'alice');
    const room = await roomOf(alice);
    assert.equal(codeOf(await say(alice, room, 'x'.repeat(66_000))), '413 M_TOO_LARGE');
    assert.equal(codeOf(await say(alice, room, 'é'.repeat(33_000))), '413 M_TOO_LARGE');
    assert.equal((await say(alice, room, 'x'.repeat(64_000))).status, 200);
    const bare = await alice.call('PUT', `/rooms/${room}/send/m.room.message/b`, { body: 'x' });
    assert.equal(codeOf(bare), '400 M_UNKNOWN');
  });

  test('invited ones read nothing; late ones read everything that is shared', async (context) => {
    const server = await startFakeHomeserver({ context });
    const [alice, bob] = await Promise.all(['alice', 'bob'].map((name) => person(server, name)));
    assert.ok(alice && bob);
    const read = async (room: string) => bob.call('GET', `/rooms/${room}/messages?dir=b&limit=50`);
    const history = async (visibility: string) => {
      const state = { type: 'm.room.history_visibility', state_key: '', content: { history_visibility: visibility } };
      const room = await roomOf(alice, { initial_state: [state] });
      await say(alice, room, 'before');
      await alice.call('POST', `/rooms/${room}/invite`, { user_id: bob.userId });
      await say(alice, room, 'invited');
      assert.equal(codeOf(await read(room)), '403 M_FORBIDDEN');
      assert.equal(codeOf(await bob.call('GET', `/rooms/${room}/state`)), '403 M_FORBIDDEN');
      assert.equal(codeOf(await bob.call('GET', `/rooms/${room}/members`)), '403 M_FORBIDDEN');
      await bob.call('POST', `/join/${room}`, {});
      await say(alice, room, 'after');
      return textsOf((await read(room)).body.chunk);
    };
    assert.deepEqual(await history('shared'), ['after', 'invited', 'before']);
    assert.deepEqual(await history('invited'), ['after', 'invited']);
    assert.deepEqual(await history('joined'), ['after']);
  });

  test('the same state again is the same event', async (context) => {
    const server = await startFakeHomeserver({ context });
    const alice = await person(server, 'alice');
    const room = await roomOf(alice);
    const put = (name: string) => alice.call('PUT', `/rooms/${room}/state/m.room.name`, { name });
    const first = await put('x');
    assert.deepEqual((await put('x')).body, first.body);
    assert.notDeepEqual((await put('y')).body, first.body);
  });
});
