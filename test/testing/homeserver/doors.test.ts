/** Doors past the protocol, and how much the server bears. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startFakeHomeserver } from '#testing/homeserver/start-fake-homeserver.ts';
import { jsonPieces } from '#testing/homeserver/wire/json-pieces.ts';
import { person, personOf, textsOf } from './matrix-caller.ts';

describe('fake homeserver: doors', () => {
  test('accounts, rooms, events, redactions and data without HTTP are as real ones', async (context) => {
    const server = await startFakeHomeserver({ context });
    const { doors } = server;
    const alice = doors.addAccount('alice');
    const bob = personOf(server, doors.addAccount('@bob:elsewhere'));
    const carol = doors.addAccount('carol');
    const id = doors.addRoom({
      creator: alice.userId,
      name: 'Introduction',
      join: [bob.userId],
      invite: [carol.userId],
      messages: ['About @carol:localhost: knows bees'],
      creationContent: { 'x.direct': true },
      encrypted: true,
    });
    const injected = doors.inject(id, {
      type: 'm.room.message',
      sender: carol.userId,
      content: { msgtype: 'm.text', body: 'from outside' },
      at: 5,
    });
    doors.setAccountData(bob.userId, 'x.peer', { a: 1 }, id);
    const synced = (await bob.sync({ room: { timeline: { limit: 50 } } })).rooms.join[id];
    assert.deepEqual(textsOf(synced.timeline.events), ['About @carol:localhost: knows bees', 'from outside']);
    assert.equal(synced.timeline.events.at(-1).origin_server_ts, 5);
    assert.deepEqual(synced.account_data.events, [{ type: 'x.peer', content: { a: 1 } }]);
    assert.equal(doors.state(id, 'm.room.create')?.['x.direct'], true);
    assert.equal(doors.state(id, 'm.room.encryption')?.algorithm, 'm.megolm.v1.aes-sha2');
    assert.equal(doors.state(id, 'm.room.member', carol.userId)?.membership, 'invite');
    doors.redact(id, injected, alice.userId);
    assert.ok(!(await server.storedText()).includes('from outside'));
    assert.equal(doors.timeline(id).at(-1)?.type, 'm.room.redaction');
    assert.deepEqual(doors.accountData(bob.userId, 'x.peer', id), { a: 1 });
    assert.throws(() => doors.inject('!none', { type: 'x', sender: alice.userId, content: {} }), /has no !none/);
    assert.equal((await personOf(server, await server.signIn(carol)).call('GET', '/account/whoami')).status, 200);
  });

  test('somebody who was invited before signing up finds the invitation', async (context) => {
    const server = await startFakeHomeserver({ context });
    const alice = server.doors.addAccount('alice');
    const id = server.doors.addRoom({ creator: alice.userId, invite: ['@late:localhost'] });
    const late = await person(server, 'late');
    assert.deepEqual(Object.keys((await late.sync()).rooms.invite), [id]);
  });

  test('the kept text has what was said and done, no password and no token', async (context) => {
    const server = await startFakeHomeserver({ context });
    const alice = await person(server, 'alice');
    server.doors.setAccountData(alice.userId, 'x.secret', { text: 'in account data' });
    const text = await server.storedText();
    assert.ok(text.includes('in account data'));
    assert.ok(!text.includes(alice.password) && !text.includes(alice.accessToken));
  });

  test('two thousand rooms come in one sync', async (context) => {
    const server = await startFakeHomeserver({ context });
    const alice = server.doors.addAccount('alice');
    const bob = personOf(server, server.doors.addAccount('bob'));
    for (let index = 0; index < 2_000; index += 1) {
      const messages = [`About @peer${index}:localhost: thing ${index}`];
      server.doors.addRoom({
        creator: alice.userId,
        join: [bob.userId],
        invite: [`@peer${index}:localhost`],
        messages,
      });
    }
    assert.equal(Object.keys((await bob.sync()).rooms.join).length, 2_000);
    assert.equal((await bob.sync()).rooms, undefined);
  });

  test('an answer in pieces is the same JSON', () => {
    const value = {
      a: [1, { b: undefined, c: 'é"' }],
      d: {},
      e: { f: { g: { h: null } }, i: 'x'.repeat(70_000) },
      j: true,
    };
    const pieces = [...jsonPieces(value)];
    assert.equal(pieces.join(''), JSON.stringify(value));
    assert.ok(pieces.length > 1);
    assert.equal([...jsonPieces([1, 2])].join(''), '[1,2]');
  });
});
