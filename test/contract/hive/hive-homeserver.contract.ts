/**
 * What the peer layer takes for granted of a homeserver, beyond the fourteen protocol tests: private data, the sync, sending, refusals
 * and room versions. The fake one and a real one run it, so that the fake tells no lies.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { ABOUT_BOB, type Agents, about, type HomeserverStart, refused, withAgents } from './hive-introduction.ts';
import { HiveRawClient, type RawSync, roomPath } from './hive-raw-client.ts';

const SPARKS = 'social.awareness.sparks';
const PEER = 'social.awareness.peer';

export function homeserverContract(name: string, start: HomeserverStart): void {
  const agents = (body: (agents: Agents) => Promise<void>) => () => withAgents(start, body);

  describe(`homeserver contract: ${name}`, () => {
    test(
      'a token says who and which device it is; an unknown one and none are refused with 401',
      agents(async ({ server, bob }) => {
        const me = await bob.call<Record<string, unknown>>('GET', '/v3/account/whoami');
        assert.deepEqual([me.user_id, me.device_id], [bob.userId, bob.account.deviceId]);
        const stranger = new HiveRawClient(server, { ...bob.account, accessToken: 'no-such-token' });
        await refused(stranger.sync(), 'M_UNKNOWN_TOKEN', 401);
        const bare = await fetch(`${server.url}/_matrix/client/v3/sync?timeout=0`);
        assert.equal(bare.status, 401);
        assert.equal(((await bare.json()) as { errcode: string }).errcode, 'M_MISSING_TOKEN');
      }),
    );

    test(
      'signing in again gives another device of the same account',
      agents(async ({ server, bob }) => {
        const again = await server.signIn(bob.account);
        assert.equal(again.userId, bob.userId);
        assert.notEqual(again.deviceId, bob.account.deviceId);
        assert.notEqual(again.accessToken, bob.account.accessToken);
        const wrong = { ...bob.account, password: 'wrong' };
        await assert.rejects(server.signIn(wrong));
      }),
    );

    test(
      'private data are absent until written, then whole, and nobody else reads or writes them',
      agents(async ({ alice, bob, room }) => {
        await bob.join(room);
        for (const path of [dataPath(bob.userId, SPARKS), dataPath(bob.userId, PEER, room)]) {
          await refused(bob.call('GET', path), 'M_NOT_FOUND', 404);
          const content = { sparks: [{ reason: 'ein „Grund“ 🦊', nested: { deep: [1, null, true] } }] };
          await bob.call('PUT', path, content);
          assert.deepEqual(await bob.call('GET', path), content);
          await bob.call('PUT', path, { sparks: [] });
          assert.deepEqual(await bob.call('GET', path), { sparks: [] });
          await refused(alice.call('GET', path));
          await refused(alice.call('PUT', path, {}));
        }
      }),
    );

    test(
      'private data come whole with the first sync, and changed ones with the next',
      agents(async ({ bob, room }) => {
        await bob.join(room);
        await bob.call('PUT', dataPath(bob.userId, SPARKS), { sparks: ['one'] });
        await bob.call('PUT', dataPath(bob.userId, PEER, room), { status: 'active' });
        const first = await bob.sync();
        assert.deepEqual(dataOf(first, SPARKS), { sparks: ['one'] });
        assert.deepEqual(dataOf(first, PEER, room), { status: 'active' });
        const quiet = await bob.sync({ since: first.next_batch });
        assert.equal(dataOf(quiet, SPARKS), undefined);
        assert.equal(quiet.rooms?.join?.[room], undefined, 'a room without news is left out');
        await bob.call('PUT', dataPath(bob.userId, SPARKS), { sparks: ['two'] });
        await bob.call('PUT', dataPath(bob.userId, PEER, room), { status: 'left' });
        const next = await bob.sync({ since: quiet.next_batch });
        assert.deepEqual(dataOf(next, SPARKS), { sparks: ['two'] });
        assert.deepEqual(dataOf(next, PEER, room), { status: 'left' });
      }),
    );

    test(
      'a first sync is up to date when the text of its filter is new',
      agents(async ({ bob, room }) => {
        await bob.sync({ filter: filter({}) });
        await bob.join(room);
        await bob.call('PUT', dataPath(bob.userId, SPARKS), { sparks: ['late'] });
        const restarted = await bob.sync({ filter: filter({}) });
        assert.deepEqual(dataOf(restarted, SPARKS), { sparks: ['late'] });
        assert.ok(restarted.rooms?.join?.[room]);
      }),
    );

    test(
      'the first sync has the whole state of a room; the next has only what is new',
      agents(async ({ alice, bob, room }) => {
        await bob.join(room);
        const first = await bob.sync({ filter: filter({ room: { timeline: { limit: 1 } } }) });
        const seen = first.rooms?.join?.[room];
        assert.equal(seen?.timeline.events.length, 1);
        assert.equal(seen?.timeline.limited, true);
        const create = seen?.state.events.find(({ type }) => type === 'm.room.create');
        assert.equal(create?.sender, alice.userId);
        const memberships = [...(seen?.state.events ?? []), ...(seen?.timeline.events ?? [])].filter(
          ({ type }) => type === 'm.room.member',
        );
        assert.equal(new Set(memberships.map(({ state_key }) => state_key)).size, 3);
        const earlier = await bob.messages(room, { from: String(seen?.timeline.prev_batch) });
        assert.ok(earlier.chunk.some(({ content }) => content.body === about(bob, ABOUT_BOB)));
        const id = await alice.say(room, 'news');
        const next = await bob.sync({ since: first.next_batch });
        assert.deepEqual(
          next.rooms?.join?.[room]?.timeline.events.map(({ event_id }) => event_id),
          [id],
        );
        assert.equal(next.rooms?.join?.[room]?.timeline.limited ?? false, false);
      }),
    );

    test(
      'a filter narrows the timeline to the types that are read',
      agents(async ({ alice, bob, room }) => {
        await bob.join(room);
        await alice.send(room, { type: 'm.reaction', content: { key: 'x' } });
        await alice.say(room, 'read me');
        const narrow = { room: { timeline: { types: ['m.room.message'], limit: 20 }, ephemeral: { types: [] } } };
        const seen = (await bob.sync({ filter: filter(narrow) })).rooms?.join?.[room];
        assert.deepEqual([...new Set(seen?.timeline.events.map(({ type }) => type))], ['m.room.message']);
        assert.ok(seen?.state.events.some(({ type }) => type === 'm.room.create'));
        await refused(bob.sync({ filter: '{' }), 'M_NOT_JSON', 400);
      }),
    );

    test(
      'a room that was left is named once among the left ones',
      agents(async ({ alice, bob, room }) => {
        await bob.join(room);
        const { next_batch: since } = await bob.sync();
        await alice.kick(room, bob.userId);
        const next = await bob.sync({ since });
        assert.ok(next.rooms?.leave?.[room]);
        assert.equal(next.rooms?.join?.[room], undefined);
        assert.equal((await bob.sync({ since: next.next_batch })).rooms?.leave?.[room], undefined);
      }),
    );

    test(
      'an invitation is handed out once, and again by a first sync',
      agents(async ({ bob, room }) => {
        const first = await bob.sync();
        assert.ok(first.rooms?.invite?.[room]);
        assert.equal((await bob.sync({ since: first.next_batch })).rooms?.invite?.[room], undefined);
        assert.ok((await bob.sync({ filter: filter({}) })).rooms?.invite?.[room]);
      }),
    );

    test(
      'the same transaction sends once; its sender sees the id of it',
      agents(async ({ alice, bob, room }) => {
        await bob.join(room);
        const event = { type: 'm.room.message', content: { msgtype: 'm.text', body: 'once' }, txn: randomUUID() };
        const id = await alice.send(room, event);
        assert.equal(await alice.send(room, event), id);
        assert.equal((await bob.texts(room)).filter((text) => text === 'once').length, 1);
        const other = await bob.send(room, event);
        assert.notEqual(other, id, 'another device, another transaction');
        const mine = (await alice.messages(room)).chunk.find(({ event_id }) => event_id === id);
        assert.equal(mine?.unsigned?.transaction_id, event.txn);
      }),
    );

    test(
      'joining again, by either path, is no error and changes nothing',
      agents(async ({ bob, room }) => {
        await bob.join(room);
        await bob.join(room);
        await bob.call('POST', `${roomPath(room)}/join`, {});
        const joins = (await bob.messages(room)).chunk.filter(
          ({ type, state_key, content }) =>
            type === 'm.room.member' && state_key === bob.userId && content.membership === 'join',
        );
        assert.equal(joins.length, 1);
      }),
    );

    test(
      'what is no JSON, too large or unheard of is refused by name',
      agents(async ({ alice, bob, room }) => {
        await bob.join(room);
        const send = (body: unknown) =>
          alice.call('PUT', `${roomPath(room)}/send/m.room.message/${randomUUID()}`, body);
        await refused(send('{"msgtype":'), 'M_NOT_JSON', 400);
        await refused(alice.say(room, 'x'.repeat(70_000)), 'M_TOO_LARGE', 413);
        await refused(alice.call('GET', '/v3/no/such/thing'), 'M_UNRECOGNIZED', 404);
        await assert.rejects(alice.join('!nowhere-at-all:localhost'), /: 40[34] /);
        const long = 'y'.repeat(50_000);
        await alice.say(room, long);
        assert.equal((await bob.texts(room))[0], long);
      }),
    );

    test(
      'members are told apart by membership',
      agents(async ({ alice, bob, carol, room }) => {
        await bob.join(room);
        await carol.leave(room);
        assert.deepEqual(await alice.members(room), {
          [alice.userId]: 'join',
          [bob.userId]: 'join',
          [carol.userId]: 'leave',
        });
        type Page = { chunk: readonly { state_key: string }[] };
        const only = await alice.call<Page>('GET', `${roomPath(room)}/members?membership=join`);
        assert.deepEqual(only.chunk.map(({ state_key }) => state_key).sort(), [alice.userId, bob.userId].sort());
      }),
    );

    test(
      'a redacted message has lost its text',
      agents(async ({ alice, bob, room }) => {
        await bob.join(room);
        const id = await alice.say(room, 'regretted');
        await alice.call('PUT', `${roomPath(room)}/redact/${encodeURIComponent(id)}/${randomUUID()}`, {});
        const event = (await bob.messages(room)).chunk.find(({ event_id }) => event_id === id);
        assert.deepEqual(event?.content, {});
        assert.ok(event?.unsigned?.redacted_because);
      }),
    );

    test(
      'rooms of every version have a creator by the sender of their first event, and keep what they were made with',
      agents(async ({ alice, bob }) => {
        for (const room_version of ['1', '6', '10', '11', '12']) {
          const room = await alice.createRoom({
            room_version,
            preset: 'private_chat',
            creation_content: { 'social.awareness.direct': true },
            invite: [bob.userId],
            initial_state: [
              { type: 'm.room.encryption', state_key: '', content: { algorithm: 'm.megolm.v1.aes-sha2' } },
            ],
          });
          assert.equal(room.includes(':'), room_version !== '12', room);
          await bob.join(room);
          const state = await bob.state(room);
          const create = state.find(({ type }) => type === 'm.room.create');
          assert.equal(create?.sender, alice.userId);
          assert.equal(create?.content['social.awareness.direct'], true);
          assert.equal(create?.content.room_version, room_version);
          assert.equal(create?.content.creator, Number(room_version) < 11 ? alice.userId : undefined);
          const encryption = state.find(({ type }) => type === 'm.room.encryption');
          assert.equal(encryption?.content.algorithm, 'm.megolm.v1.aes-sha2');
          await refused(bob.kick(room, alice.userId));
        }
      }),
    );

    test(
      'everything kept in clear is found in what the server stores',
      agents(async ({ server, alice, bob, room }) => {
        await bob.join(room);
        await alice.say(room, 'sentinel-message-4711');
        const long = Array.from({ length: 2_000 }, (_, index) => `sentinel ${index}`).join(' ');
        await alice.say(room, long);
        await bob.call('PUT', dataPath(bob.userId, SPARKS), { sparks: ['sentinel-data-4712'] });
        const stored = await server.storedText();
        for (const sentinel of ['sentinel-message-4711', 'sentinel-data-4712', long]) {
          assert.ok(stored.includes(sentinel), sentinel.slice(0, 30));
        }
        assert.ok(!stored.includes('sentinel-nowhere-4713'));
      }),
    );
  });
}

/** A text of its own each time: Synapse answers the same first sync of a device from memory for two minutes. */
function filter(value: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ ...value, presence: { not_senders: [`@${randomUUID()}:localhost`] } });
}

function dataPath(user: string, type: string, room?: string): string {
  const place = room === undefined ? '' : `/rooms/${encodeURIComponent(room)}`;
  return `/v3/user/${encodeURIComponent(user)}${place}/account_data/${encodeURIComponent(type)}`;
}

function dataOf(sync: RawSync, type: string, room?: string): Readonly<Record<string, unknown>> | undefined {
  const data = room === undefined ? sync.account_data : sync.rooms?.join?.[room]?.account_data;
  return data?.events.find((event) => event.type === type)?.content;
}
