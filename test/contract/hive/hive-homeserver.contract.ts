/**
 * What the peer layer takes for granted of a homeserver: the fourteen protocol tests of the seed, private data, the sync, sending, refusals and
 * room versions, keys of devices. The fake one and a real one run it, so that the fake tells no lies.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe } from 'node:test';
import {
  ABOUT_BOB,
  ABOUT_CAROL,
  about,
  barred,
  HiveRawClient,
  type HomeserverStart,
  introduce,
  joinBoth,
  joined,
  RawError,
  type RawSync,
  REASON,
  refused,
  roomPath,
  testsWithAgents,
  users,
} from './hive-raw-client.ts';

export function protocolSuite(name: string, start: HomeserverStart): void {
  const { verifies } = testsWithAgents(start);

  describe(`introductions over plain HTTP: ${name}`, () => {
    verifies(['R4.3', 'R4.66', 'R4.68'], 'an introduction as a whole', async ({ server, alice, bob, carol, room }) => {
      const log = server.wire?.requests().length ?? 0;
      await bob.join(room);
      await carol.join(room);
      for (const join of server.wire?.requests().slice(log) ?? []) {
        assert.deepEqual([join.method, join.body], ['POST', '{}']);
        assert.match(String(join.headers['content-type']), /^application\/json\b/);
      }
      const introduction = [`Why: ${REASON}`, about(carol, ABOUT_CAROL), about(bob, ABOUT_BOB)];
      assert.deepEqual(await bob.texts(room), introduction);
      assert.deepEqual(await carol.texts(room), introduction);
      await bob.say(room, QUESTION);
      await carol.say(room, 'Gladly, Bob.');
      for (const agent of [alice, bob, carol]) {
        assert.deepEqual((await agent.texts(room)).slice(0, 2), ['Gladly, Bob.', QUESTION]);
        assert.deepEqual(await joined(agent, room), users(alice, bob, carol));
      }
      const create = (await bob.state(room)).find(({ type }) => type === 'm.room.create');
      assert.equal(create?.sender, alice.userId);
    });

    verifies('R4.68', 'what was said is there when somebody joins, not earlier', async ({ alice, bob, room }) => {
      const before = await bob.sync();
      const invite = before.rooms?.invite?.[room]?.invite_state.events ?? [];
      const mine = invite.find((event) => event.type === 'm.room.member' && event.state_key === bob.userId);
      assert.deepEqual([mine?.sender, mine?.content.membership], [alice.userId, 'invite']);
      assert.equal(before.rooms?.join?.[room], undefined);
      await refused(bob.messages(room));
      await bob.join(room);
      assert.ok((await bob.texts(room)).includes(about(bob, ABOUT_BOB)));
      const after = await bob.sync({ since: before.next_batch });
      assert.ok(after.rooms?.join?.[room], 'the room is among the joined ones');
      assert.equal(after.rooms?.invite?.[room], undefined);
    });

    verifies('R4.68', 'who declines unjoined leaves the others to themselves', async ({ alice, bob, carol, room }) => {
      const { next_batch: since } = await bob.sync();
      await bob.leave(room);
      await carol.join(room);
      await carol.say(room, 'Bob seems busy.');
      assert.equal((await alice.texts(room))[0], 'Bob seems busy.');
      assert.deepEqual(await joined(alice, room), users(alice, carol));
      assert.equal((await alice.members(room))[bob.userId], 'leave');
      const after = await bob.sync({ since });
      assert.equal(after.rooms?.invite?.[room], undefined);
      assert.equal(after.rooms?.join?.[room], undefined);
      // Whether he still reads what was said while he was invited is the server's choice.
      const seen = await bob.texts(room).catch((): readonly string[] => []);
      assert.ok(!seen.includes('Bob seems busy.'), 'what was said after he declined is not for him');
    });

    verifies('R4.68', 'who has declined cannot join without another invitation', async ({ alice, bob, room }) => {
      await bob.leave(room);
      await refused(bob.join(room));
      await refused(bob.say(room, 'let me in'));
      assert.equal((await alice.members(room))[bob.userId], 'leave');
    });

    verifies('R4.68', 'who declined can be invited again, and sees the introduction', async ({ alice, bob, room }) => {
      await bob.leave(room);
      const { next_batch: since } = await bob.sync();
      await alice.invite(room, bob.userId);
      assert.ok((await bob.sync({ since })).rooms?.invite?.[room], 'a new invitation');
      await bob.join(room);
      assert.deepEqual(await joined(alice, room), users(alice, bob));
      assert.ok((await bob.texts(room)).includes(`Why: ${REASON}`));
    });

    verifies(['R4.55', 'R4.68'], 'who leaves after joining leaves its messages, for good', async (all) => {
      const { alice, bob, carol, room } = all;
      await joinBoth(all);
      await bob.say(room, 'Goodbye.');
      await bob.leave(room);
      await carol.say(room, 'He is gone.');
      assert.deepEqual((await alice.texts(room)).slice(0, 2), ['He is gone.', 'Goodbye.']);
      assert.deepEqual(await joined(carol, room), users(alice, carol));
      await refused(bob.join(room));
      await refused(bob.say(room, 'one more thing'));
    });

    verifies('R4.68', 'when both decline, the introducer has a working room', async ({ alice, bob, carol, room }) => {
      await bob.leave(room);
      await carol.leave(room);
      assert.deepEqual(await joined(alice, room), users(alice));
      await alice.say(room, 'Nobody came.');
      assert.equal((await alice.texts(room))[0], 'Nobody came.');
      for (const agent of [bob, carol]) await refused(agent.join(room));
    });

    verifies('R4.68', 'when the introducer leaves, the two go on', async (all) => {
      const { alice, bob, carol, room } = all;
      await joinBoth(all);
      await alice.leave(room);
      await bob.say(room, 'Just us now.');
      assert.equal((await carol.texts(room))[0], 'Just us now.');
      assert.deepEqual(await joined(bob, room), users(bob, carol));
      await refused(alice.say(room, 'still here'));
      const create = (await bob.state(room)).find(({ type }) => type === 'm.room.create');
      assert.equal(create?.sender, alice.userId, 'who introduced them stays on record');
    });

    verifies('R4.68', 'when all have left, nobody reaches the room any more', async (all) => {
      const { alice, bob, carol, room } = all;
      await joinBoth(all);
      for (const agent of [alice, bob, carol]) await agent.leave(room);
      for (const agent of [alice, bob, carol]) {
        // M_FORBIDDEN where the server remembers the room, M_NOT_FOUND or M_UNKNOWN where it forgot it.
        await assert.rejects(
          agent.join(room),
          (error: unknown) => error instanceof RawError && /^40[34]$/.test(`${error.status}`),
        );
        await refused(agent.say(room, 'anybody?'));
        assert.equal((await agent.sync()).rooms?.join?.[room], undefined);
      }
    });

    verifies('R4.68', 'who is removed is out until invited again, and only the introducer removes', async (all) => {
      const { alice, bob, carol, room } = all;
      await joinBoth(all);
      await refused(bob.kick(room, carol.userId));
      await alice.kick(room, bob.userId);
      assert.deepEqual(await joined(alice, room), users(alice, carol));
      await refused(bob.say(room, 'why?'));
      await refused(bob.join(room));
      await alice.invite(room, bob.userId);
      await bob.join(room);
      await bob.say(room, 'Back again.');
      assert.equal((await carol.texts(room))[0], 'Back again.');
    });

    verifies('R4.68', 'who is banned can neither join nor be invited, until the ban is lifted', async (all) => {
      const { alice, bob, carol, room } = all;
      await joinBoth(all);
      await refused(carol.ban(room, bob.userId));
      await alice.ban(room, bob.userId);
      assert.equal((await alice.members(room))[bob.userId], 'ban');
      await barred(bob.join(room));
      await barred(alice.invite(room, bob.userId));
      await refused(bob.say(room, 'unfair'));
      await alice.unban(room, bob.userId);
      await alice.invite(room, bob.userId);
      await bob.join(room);
      assert.deepEqual(await joined(alice, room), users(alice, bob, carol));
    });

    verifies('R4.68', 'messages come newest first, page by page, and the other way round when asked', async (all) => {
      const { alice, bob, room } = all;
      await joinBoth(all);
      const said = Array.from({ length: 12 }, (_, index) => `message ${index}`);
      for (const [index, text] of said.entries()) await (index % 2 === 0 ? alice : bob).say(room, text);
      assert.deepEqual((await bob.texts(room)).slice(0, 12), said.toReversed());
      const first = await bob.messages(room, { limit: '5' });
      const second = await bob.messages(room, { limit: '5', from: String(first.end) });
      const bodies = [...first.chunk, ...second.chunk].map(({ content }) => content.body);
      assert.deepEqual(bodies, said.toReversed().slice(0, 10));
      const oldest = (await bob.messages(room, { dir: 'f' })).chunk.filter(({ type }) => type === 'm.room.message');
      assert.deepEqual(
        oldest.slice(3).map(({ content }) => content.body),
        said,
      );
      const times = oldest.map(({ origin_server_ts: time }) => time);
      assert.deepEqual(
        times,
        times.toSorted((a, b) => a - b),
      );
    });

    verifies(['R4.55', 'R4.68'], 'who joins late sees all that was said', async ({ alice, bob, carol, room }) => {
      await bob.join(room);
      for (let index = 0; index < 30; index += 1) await (index % 2 === 0 ? alice : bob).say(room, `talk ${index}`);
      await carol.join(room);
      const texts = await carol.texts(room);
      assert.equal(texts.length, 33);
      assert.deepEqual(texts, await alice.texts(room));
      assert.ok(texts.includes(about(carol, ABOUT_CAROL)));
    });

    verifies('R4.68', 'each introduction has its own room, and nothing crosses over', async (all) => {
      const { server, alice, bob, carol, room } = all;
      await joinBoth(all);
      const dave = await HiveRawClient.register(server, 'hermes-of-dave');
      const other = await introduce(alice, [bob, ABOUT_BOB], [dave, 'Dave runs a kitchen.']);
      assert.notEqual(other, room);
      await bob.join(other);
      await dave.join(other);
      await bob.say(room, 'for Carol only');
      await bob.say(other, 'for Dave only');
      assert.ok(!(await carol.texts(room)).includes('for Dave only'));
      assert.ok(!(await dave.texts(other)).includes('for Carol only'));
      assert.deepEqual(await joined(bob, room), users(alice, bob, carol));
      assert.deepEqual(await joined(bob, other), users(alice, bob, dave));
      await refused(carol.messages(other));
      await refused(dave.messages(room));
      assert.deepEqual(Object.keys((await bob.sync()).rooms?.join ?? {}).sort(), [room, other].sort());
    });
  });
}

const QUESTION = 'Hello Carol, can you look at my enclave?';
const SPARKS = 'social.awareness.sparks';

const PEER = 'social.awareness.peer';

export function homeserverContract(name: string, start: HomeserverStart): void {
  const { test } = testsWithAgents(start);

  describe(`homeserver contract: ${name}`, () => {
    test('a token says who and which device it is; an unknown one and none are refused with 401', async ({
      server,
      bob,
    }) => {
      const me = await bob.call<Record<string, unknown>>('GET', '/v3/account/whoami');
      assert.deepEqual([me.user_id, me.device_id], [bob.userId, bob.account.deviceId]);
      const stranger = new HiveRawClient(server, { ...bob.account, accessToken: 'no-such-token' });
      await refused(stranger.sync(), 'M_UNKNOWN_TOKEN', 401);
      const bare = await fetch(`${server.url}/_matrix/client/v3/sync?timeout=0`);
      assert.equal(bare.status, 401);
      assert.equal(((await bare.json()) as { errcode: string }).errcode, 'M_MISSING_TOKEN');
    });

    test('signing in again gives another device of the same account', async ({ server, bob }) => {
      const again = await server.signIn(bob.account);
      assert.equal(again.userId, bob.userId);
      assert.notEqual(again.deviceId, bob.account.deviceId);
      assert.notEqual(again.accessToken, bob.account.accessToken);
      await assert.rejects(server.signIn({ ...bob.account, password: 'wrong' }));
    });

    test('private data are absent until written, then whole, and nobody else reads or writes them', async ({
      alice,
      bob,
      room,
    }) => {
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
    });

    test('private data come whole with the first sync, and changed ones with the next', async ({ bob, room }) => {
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
    });

    test('a first sync is up to date when the text of its filter is new', async ({ bob, room }) => {
      await bob.sync({ filter: filter({}) });
      await bob.join(room);
      await bob.call('PUT', dataPath(bob.userId, SPARKS), { sparks: ['late'] });
      const restarted = await bob.sync({ filter: filter({}) });
      assert.deepEqual(dataOf(restarted, SPARKS), { sparks: ['late'] });
      assert.ok(restarted.rooms?.join?.[room]);
    });

    test('the first sync has the whole state of a room; the next has only what is new', async ({
      alice,
      bob,
      room,
    }) => {
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
    });

    test('a filter narrows the timeline to the types that are read', async ({ alice, bob, room }) => {
      await bob.join(room);
      await alice.send(room, { type: 'm.reaction', content: { key: 'x' } });
      await alice.say(room, 'read me');
      const narrow = { room: { timeline: { types: ['m.room.message'], limit: 20 }, ephemeral: { types: [] } } };
      const seen = (await bob.sync({ filter: filter(narrow) })).rooms?.join?.[room];
      assert.deepEqual([...new Set(seen?.timeline.events.map(({ type }) => type))], ['m.room.message']);
      assert.ok(seen?.state.events.some(({ type }) => type === 'm.room.create'));
      await refused(bob.sync({ filter: '{' }), 'M_NOT_JSON', 400);
    });

    test('a room that was left is named once among the left ones', async ({ alice, bob, room }) => {
      await bob.join(room);
      const { next_batch: since } = await bob.sync();
      await alice.kick(room, bob.userId);
      const next = await bob.sync({ since });
      assert.ok(next.rooms?.leave?.[room]);
      assert.equal(next.rooms?.join?.[room], undefined);
      assert.equal((await bob.sync({ since: next.next_batch })).rooms?.leave?.[room], undefined);
    });

    test('an invitation is handed out once, and again by a first sync', async ({ bob, room }) => {
      const first = await bob.sync();
      assert.ok(first.rooms?.invite?.[room]);
      assert.equal((await bob.sync({ since: first.next_batch })).rooms?.invite?.[room], undefined);
      assert.ok((await bob.sync({ filter: filter({}) })).rooms?.invite?.[room]);
    });

    test('the same transaction sends once; its sender sees the id of it', async ({ alice, bob, room }) => {
      await bob.join(room);
      const event = { type: 'm.room.message', content: { msgtype: 'm.text', body: 'once' }, txn: randomUUID() };
      const id = await alice.send(room, event);
      assert.equal(await alice.send(room, event), id);
      assert.equal((await bob.texts(room)).filter((text) => text === 'once').length, 1);
      const other = await bob.send(room, event);
      assert.notEqual(other, id, 'another device, another transaction');
      const mine = (await alice.messages(room)).chunk.find(({ event_id }) => event_id === id);
      assert.equal(mine?.unsigned?.transaction_id, event.txn);
    });

    test('joining again, by either path, is no error and changes nothing', async ({ bob, room }) => {
      await bob.join(room);
      await bob.join(room);
      await bob.call('POST', `${roomPath(room)}/join`, {});
      const joins = (await bob.messages(room)).chunk.filter(
        ({ type, state_key, content }) =>
          type === 'm.room.member' && state_key === bob.userId && content.membership === 'join',
      );
      assert.equal(joins.length, 1);
    });

    test('what is no JSON, too large or unheard of is refused by name', async ({ alice, bob, room }) => {
      await bob.join(room);
      const send = (body: unknown) => alice.call('PUT', `${roomPath(room)}/send/m.room.message/${randomUUID()}`, body);
      await refused(send('{"msgtype":'), 'M_NOT_JSON', 400);
      await refused(alice.say(room, 'x'.repeat(70_000)), 'M_TOO_LARGE', 413);
      await refused(alice.call('GET', '/v3/no/such/thing'), 'M_UNRECOGNIZED', 404);
      await assert.rejects(alice.join('!nowhere-at-all:localhost'), /: 40[34] /);
      const long = 'y'.repeat(50_000);
      await alice.say(room, long);
      assert.equal((await bob.texts(room))[0], long);
    });

    test('members are told apart by membership', async ({ alice, bob, carol, room }) => {
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
    });

    test('a redacted message has lost its text', async ({ alice, bob, room }) => {
      await bob.join(room);
      const id = await alice.say(room, 'regretted');
      await alice.call('PUT', `${roomPath(room)}/redact/${encodeURIComponent(id)}/${randomUUID()}`, {});
      const event = (await bob.messages(room)).chunk.find(({ event_id }) => event_id === id);
      assert.deepEqual(event?.content, {});
      assert.ok(event?.unsigned?.redacted_because);
    });

    test('rooms of every version have a creator by the sender of their first event, and keep what they were made with', async ({
      alice,
      bob,
    }) => {
      for (const room_version of ['1', '6', '10', '11', '12']) {
        const room = await alice.createRoom({
          room_version,
          preset: 'private_chat',
          creation_content: { 'social.awareness.direct': true },
          invite: [bob.userId],
          initial_state: [{ type: 'm.room.encryption', state_key: '', content: { algorithm: 'm.megolm.v1.aes-sha2' } }],
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
    });

    test('everything kept in clear is found in what the server stores', async ({ server, alice, bob, room }) => {
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
    });
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

type Keys = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

type Answer = Readonly<Record<string, Readonly<Record<string, Keys>>>>;

export function devicesContract(name: string, start: HomeserverStart): void {
  const { test } = testsWithAgents(start);

  describe(`homeserver contract, devices: ${name}`, () => {
    test('keys of a device that were uploaded are found by others, with those of its other devices', async ({
      server,
      alice,
      bob,
    }) => {
      const phone = new HiveRawClient(server, await server.signIn(bob.account));
      for (const device of [bob, phone]) await upload(device, { device_keys: deviceKeys(device) });
      const query = { device_keys: { [bob.userId]: [], '@nobody-at-all:localhost': [] } };
      const answer = await alice.call<Answer>('POST', '/v3/keys/query', query);
      const found = answer.device_keys?.[bob.userId] ?? {};
      assert.deepEqual(Object.keys(found).sort(), [bob.account.deviceId, phone.account.deviceId].sort());
      for (const device of [bob, phone]) {
        const { unsigned: _, ...keys } = found[device.account.deviceId] ?? {};
        assert.deepEqual(keys, deviceKeys(device));
      }
      assert.deepEqual(Object.keys(answer.device_keys?.['@nobody-at-all:localhost'] ?? {}), []);
    });

    test('a one-time key is given out once, then the fallback key for ever; sync counts what is left', async ({
      alice,
      bob,
    }) => {
      const counts = await upload(bob, {
        device_keys: deviceKeys(bob),
        one_time_keys: { 'signed_curve25519:AAAA': oneTime('first'), 'signed_curve25519:AAAB': oneTime('second') },
        fallback_keys: { 'signed_curve25519:AAAF': { ...oneTime('last'), fallback: true } },
      });
      assert.equal(counts.signed_curve25519, 2);
      assert.equal((await bob.sync()).device_one_time_keys_count?.signed_curve25519, 2);
      const claimed = [await claim(alice, bob), await claim(alice, bob)];
      assert.deepEqual(claimed.toSorted(), ['first', 'second']);
      const left = await bob.sync({ filter: '{"room":{"timeline":{"limit":2}}}' });
      assert.equal(left.device_one_time_keys_count?.signed_curve25519 ?? 0, 0);
      assert.deepEqual([await claim(alice, bob), await claim(alice, bob)], ['last', 'last']);
    });

    test('the same one-time key may be uploaded again, another under its name not', async ({ bob }) => {
      const keys = { 'signed_curve25519:AAAA': oneTime('first') };
      await upload(bob, { device_keys: deviceKeys(bob), one_time_keys: keys });
      assert.equal((await upload(bob, { one_time_keys: keys })).signed_curve25519, 1);
      const other = { one_time_keys: { 'signed_curve25519:AAAA': oneTime('other') } };
      const { status } = await bob.request({ method: 'POST', path: '/v3/keys/upload', body: other });
      assert.equal(status, 400);
    });

    test('where no key is left a claim gives none, and no error', async ({ alice, bob }) => {
      await upload(bob, { device_keys: deviceKeys(bob) });
      assert.equal(await claim(alice, bob), undefined);
    });

    test('who shares a room hears of new device keys, once', async ({ alice, bob, room }) => {
      await bob.join(room);
      const { next_batch: since } = await alice.sync();
      await upload(bob, { device_keys: deviceKeys(bob) });
      const heard = await alice.sync({ since });
      assert.ok(heard.device_lists?.changed?.includes(bob.userId));
      const later = await alice.sync({ since: heard.next_batch });
      assert.ok(!later.device_lists?.changed?.includes(bob.userId));
    });

    test('who joins brings its keys to the notice of the others', async ({ alice, bob, room }) => {
      await upload(bob, { device_keys: deviceKeys(bob) });
      const { next_batch: since } = await alice.sync();
      await bob.join(room);
      assert.ok((await alice.sync({ since })).device_lists?.changed?.includes(bob.userId));
    });

    test('a message to a device waits until it is acknowledged by the next sync, and reaches no other', async ({
      server,
      alice,
      bob,
    }) => {
      const phone = new HiveRawClient(server, await server.signIn(bob.account));
      await toDevice(alice, { [bob.userId]: { [bob.account.deviceId]: { secret: 1 } } });
      const first = await bob.sync();
      assert.deepEqual(first.to_device?.events, [{ type: 'm.test', sender: alice.userId, content: { secret: 1 } }]);
      const acknowledged = await bob.sync({ since: first.next_batch });
      assert.deepEqual(acknowledged.to_device?.events ?? [], []);
      const afresh = await bob.sync({ filter: '{"room":{"timeline":{"limit":3}}}' });
      assert.deepEqual(afresh.to_device?.events ?? [], []);
      assert.deepEqual((await phone.sync()).to_device?.events ?? [], []);
    });

    test('a message to all devices reaches each; the same transaction reaches it once', async ({
      server,
      alice,
      bob,
    }) => {
      const phone = new HiveRawClient(server, await server.signIn(bob.account));
      const txn = randomUUID();
      for (let times = 0; times < 2; times += 1) await toDevice(alice, { [bob.userId]: { '*': { to: 'all' } } }, txn);
      for (const device of [bob, phone]) assert.equal((await device.sync()).to_device?.events.length, 1);
    });
  });
}

function deviceKeys({ userId, account: { deviceId } }: HiveRawClient) {
  return {
    user_id: userId,
    device_id: deviceId,
    algorithms: ['m.olm.v1.curve25519-aes-sha2', 'm.megolm.v1.aes-sha2'],
    keys: { [`curve25519:${deviceId}`]: `curve-${deviceId}`, [`ed25519:${deviceId}`]: `ed-${deviceId}` },
    signatures: { [userId]: { [`ed25519:${deviceId}`]: 'unchecked' } },
  };
}

function oneTime(key: string) {
  return { key, signatures: { '@any:localhost': { 'ed25519:ANY': 'unchecked' } } };
}

async function upload(client: HiveRawClient, body: unknown): Promise<Readonly<Record<string, number>>> {
  type Counts = { one_time_key_counts: Readonly<Record<string, number>> };
  return (await client.call<Counts>('POST', '/v3/keys/upload', body)).one_time_key_counts;
}

async function claim(by: HiveRawClient, { userId, account }: HiveRawClient): Promise<unknown> {
  const body = { one_time_keys: { [userId]: { [account.deviceId]: 'signed_curve25519' } } };
  const answer = await by.call<Answer>('POST', '/v3/keys/claim', body);
  const [key] = Object.values(answer.one_time_keys?.[userId]?.[account.deviceId] ?? {});
  return (key as { key: string } | undefined)?.key;
}

function toDevice(by: HiveRawClient, messages: unknown, txn = randomUUID()): Promise<unknown> {
  return by.call('PUT', `/v3/sendToDevice/m.test/${txn}`, { messages });
}
