/** Who may join, invite, remove and ban; what new rooms begin with. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startFakeHomeserver } from '#testing/homeserver/start-fake-homeserver.ts';
import { codeOf, type Loose, person, roomOf, say } from './matrix-caller.ts';

describe('fake homeserver: membership', () => {
  test('only invited ones join; leaving, declining and inviting again', async (context) => {
    const server = await startFakeHomeserver({ context });
    const [alice, bob, carol] = await Promise.all(['alice', 'bob', 'carol'].map((name) => person(server, name)));
    assert.ok(alice && bob && carol);
    const room = await roomOf(alice, { invite: [bob.userId] });
    assert.equal(codeOf(await carol.call('POST', `/join/${room}`, {})), '403 M_FORBIDDEN');
    assert.equal((await bob.call('POST', `/join/${room}`, {})).body.room_id, decodeURIComponent(room));
    assert.equal((await bob.call('POST', `/join/${room}`, {})).status, 200);
    assert.equal(codeOf(await alice.call('POST', `/rooms/${room}/invite`, { user_id: bob.userId })), '403 M_FORBIDDEN');
    assert.equal((await bob.call('POST', `/rooms/${room}/leave`, {})).status, 200);
    assert.equal((await bob.call('POST', `/rooms/${room}/leave`, {})).status, 200);
    assert.equal(codeOf(await bob.call('POST', `/rooms/${room}/join`, {})), '403 M_FORBIDDEN');
    await alice.call('POST', `/rooms/${room}/invite`, { user_id: bob.userId });
    assert.equal((await bob.call('POST', `/rooms/${room}/leave`, {})).status, 200);
    await alice.call('POST', `/rooms/${room}/invite`, { user_id: bob.userId });
    assert.equal((await bob.call('POST', `/rooms/${room}/join`, {})).status, 200);
  });

  test('a member without power may invite and talk, not remove, ban or rename', async (context) => {
    const server = await startFakeHomeserver({ context });
    const [alice, bob, carol] = await Promise.all(['alice', 'bob', 'carol'].map((name) => person(server, name)));
    assert.ok(alice && bob && carol);
    const room = await roomOf(alice, { invite: [bob.userId] });
    await bob.call('POST', `/join/${room}`, {});
    assert.equal(codeOf(await bob.call('POST', `/rooms/${room}/kick`, { user_id: alice.userId })), '403 M_FORBIDDEN');
    assert.equal(codeOf(await bob.call('POST', `/rooms/${room}/ban`, { user_id: alice.userId })), '403 M_FORBIDDEN');
    assert.equal(codeOf(await bob.call('PUT', `/rooms/${room}/state/m.room.name`, { name: 'x' })), '403 M_FORBIDDEN');
    assert.equal((await bob.call('POST', `/rooms/${room}/invite`, { user_id: carol.userId })).status, 200);
    assert.equal((await say(bob, room, 'hi')).status, 200);
    assert.equal(codeOf(await say(carol, room, 'not yet')), '403 M_FORBIDDEN');
  });

  test('removed and banned ones: what they may read and whether they come back', async (context) => {
    const server = await startFakeHomeserver({ context });
    const [alice, bob] = await Promise.all(['alice', 'bob'].map((name) => person(server, name)));
    assert.ok(alice && bob);
    const room = await roomOf(alice, { invite: [bob.userId] });
    const target = { user_id: bob.userId };
    await bob.call('POST', `/join/${room}`, {});
    await alice.call('POST', `/rooms/${room}/kick`, target);
    await say(alice, room, 'behind his back');
    const read = () => bob.call('GET', `/rooms/${room}/messages?dir=b&limit=1`);
    assert.equal((await read()).body.chunk[0].content.membership, 'leave');
    assert.equal(codeOf(await alice.call('POST', `/rooms/${room}/kick`, target)), '403 M_FORBIDDEN');
    await alice.call('POST', `/rooms/${room}/ban`, target);
    assert.equal(codeOf(await read()), '403 M_FORBIDDEN');
    assert.equal(codeOf(await bob.call('POST', `/join/${room}`, {})), '403 M_BAD_STATE');
    assert.equal(codeOf(await alice.call('POST', `/rooms/${room}/invite`, target)), '403 M_BAD_STATE');
    await alice.call('POST', `/rooms/${room}/unban`, target);
    assert.equal((await alice.call('POST', `/rooms/${room}/invite`, target)).status, 200);
    assert.equal((await bob.call('POST', `/join/${room}`, {})).status, 200);
  });

  test('a room that everybody left, a room that never was, a person of a server out of reach', async (context) => {
    const server = await startFakeHomeserver({ context });
    const [alice, bob] = await Promise.all(['alice', 'bob'].map((name) => person(server, name)));
    assert.ok(alice && bob);
    const room = await roomOf(alice, { invite: [bob.userId] });
    await alice.call('POST', `/rooms/${room}/leave`, {});
    assert.equal((await bob.call('POST', `/join/${room}`, {})).status, 404);
    assert.equal((await bob.call('POST', '/join/!none:localhost', {})).status, 404);
    assert.equal(codeOf(await bob.call('GET', '/rooms/!none:localhost/state')), '403 M_FORBIDDEN');
    assert.equal((await alice.call('POST', '/createRoom', { invite: ['@far:elsewhere'] })).status, 502);
    const far = server.doors.addAccount('@far:elsewhere');
    assert.equal((await alice.call('POST', '/createRoom', { invite: [far.userId] })).status, 200);
  });

  for (const version of ['1', '6', '10', '11', '12']) {
    test(`a room of version ${version} names its creator where that version does`, async (context) => {
      const server = await startFakeHomeserver({ context, roomVersion: version });
      const alice = await person(server, 'alice');
      const made = await alice.call('POST', '/createRoom', { creation_content: { 'x.direct': true } });
      const id = String(made.body.room_id);
      assert.equal(id.includes(':'), version !== '12');
      const state: Loose[] = (await alice.call('GET', `/rooms/${encodeURIComponent(id)}/state`)).body;
      const create = state.find(({ type }) => type === 'm.room.create');
      assert.equal(create.sender, alice.userId);
      assert.equal(create.content.creator, Number(version) < 11 ? alice.userId : undefined);
      assert.equal(create.content['x.direct'], true);
      if (version === '12') assert.equal(create.event_id.slice(1), id.slice(1));
      const levels = state.find(({ type }) => type === 'm.room.power_levels');
      assert.deepEqual(levels.content.users, version === '12' ? {} : { [alice.userId]: 100 });
    });
  }

  test('version 12: creators stand above everybody, invited ones of a trusted chat are creators', async (context) => {
    const server = await startFakeHomeserver({ context, roomVersion: '12' });
    const [alice, bob] = await Promise.all(['alice', 'bob'].map((name) => person(server, name)));
    assert.ok(alice && bob);
    const room = await roomOf(alice, { preset: 'trusted_private_chat', invite: [bob.userId], is_direct: true });
    await bob.call('POST', `/join/${room}`, {});
    assert.equal((await bob.call('PUT', `/rooms/${room}/state/m.room.name`, { name: 'ours' })).status, 200);
    assert.equal(codeOf(await alice.call('POST', `/rooms/${room}/kick`, { user_id: bob.userId })), '403 M_FORBIDDEN');
    const create = await bob.call('GET', `/rooms/${room}/state/m.room.create`);
    assert.deepEqual(create.body.additional_creators, [bob.userId]);
  });

  test('initial state, name, topic, alias, public preset', async (context) => {
    const server = await startFakeHomeserver({ context });
    const [alice, bob] = await Promise.all(['alice', 'bob'].map((name) => person(server, name)));
    assert.ok(alice && bob);
    const encryption = { type: 'm.room.encryption', state_key: '', content: { algorithm: 'm.megolm.v1.aes-sha2' } };
    const wanted = { preset: 'public_chat', room_alias_name: 'den', name: 'Den', initial_state: [encryption] };
    const room = await roomOf(alice, wanted);
    assert.equal((await bob.call('POST', `/join/${encodeURIComponent('#den:localhost')}`, {})).status, 200);
    assert.deepEqual((await bob.call('GET', `/rooms/${room}/state/m.room.encryption`)).body, encryption.content);
    assert.equal(codeOf(await bob.call('GET', `/rooms/${room}/state/x.none`)), '404 M_NOT_FOUND');
    const joined = await bob.call('GET', `/rooms/${room}/members?membership=join`);
    assert.equal(joined.body.chunk.length, 2);
    assert.deepEqual((await bob.call('GET', '/joined_rooms')).body.joined_rooms, [decodeURIComponent(room)]);
    assert.equal(codeOf(await alice.call('POST', '/createRoom', wanted)), '400 M_ROOM_IN_USE');
    assert.equal(
      codeOf(await alice.call('POST', '/createRoom', { room_version: '99' })),
      '400 M_UNSUPPORTED_ROOM_VERSION',
    );
  });
});
