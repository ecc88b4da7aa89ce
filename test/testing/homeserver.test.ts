/** The fake homeserver, beyond what the homeserver contract holds of every server: registration, its doors, its wire and faults, odd rooms and syncs. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FakeHomeserver, FakeHomeserverOptions, HomeserverAccount } from '#public/testing.ts';
import { jsonPieces } from '#testing/homeserver/calls.ts';
import { startFakeHomeserver } from '#testing/homeserver/fake-homeserver.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { slow } from '../slow.ts';

/** A client of the fake homeserver as small as can be: one request, its status and its object. */

// biome-ignore lint/suspicious/noExplicitAny: the tests look into whatever the server answers
type Loose = any;

interface Called {
  readonly status: number;
  readonly body: Loose;
  readonly headers: Headers;
}

type Caller = (method: string, path: string, body?: object) => Promise<Called>;

/** Paths begin after `/_matrix/client/v3`. */
function callerOf(server: FakeHomeserver, account?: { readonly accessToken: string }): Caller {
  return async (method, path, body) => {
    const headers = {
      ...(account && { authorization: `Bearer ${account.accessToken}` }),
      ...(body && { 'content-type': 'application/json' }),
    };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`${server.url}/_matrix/client/v3${path}`, init);
    return { status: response.status, body: await response.json(), headers: response.headers };
  };
}

interface Person extends HomeserverAccount {
  readonly call: Caller;
  /** `/sync` from where it was left; the answer's body. */
  sync(filter?: object): Promise<Loose>;
}

async function person(server: FakeHomeserver, local: string): Promise<Person> {
  return personOf(server, await server.register(local));
}

function personOf(server: FakeHomeserver, account: HomeserverAccount): Person {
  const call = callerOf(server, account);
  let since = '';
  const sync = async (filter?: object): Promise<Loose> => {
    const query = new URLSearchParams({ timeout: '0', ...(since && { since }) });
    if (filter) query.set('filter', JSON.stringify(filter));
    const { body } = await call('GET', `/sync?${query}`);
    since = body.next_batch;
    return body;
  };
  return { ...account, call, sync };
}

/** A new room's id, escaped for a path. */
async function roomOf(creator: Person, body: object = {}): Promise<string> {
  const made = await creator.call('POST', '/createRoom', body);
  return encodeURIComponent(String(made.body.room_id));
}

type Context = { after(run: () => unknown): void };

async function withAlice(context: Context, options: FakeHomeserverOptions = {}) {
  const server = await startFakeHomeserver({ context, ...options });
  return { server, alice: await person(server, 'alice') };
}

async function withBoth(context: Context, options: FakeHomeserverOptions = {}) {
  const { server, alice } = await withAlice(context, options);
  return { server, alice, bob: await person(server, 'bob') };
}

let sent = 0;

function say(who: Person, room: string, text: string): Promise<Called> {
  sent += 1;
  return who.call('PUT', `/rooms/${room}/send/m.room.message/say${sent}`, { msgtype: 'm.text', body: text });
}

function textsOf(events: readonly Loose[]): readonly string[] {
  return events.filter(({ type }) => type === 'm.room.message').map(({ content }) => content.body);
}

function codeOf({ status, body }: Called): string {
  return `${status} ${body.errcode ?? ''}`.trim();
}

describe('fake homeserver: accounts', () => {
  test('registration asks for its step first, and refuses names that are taken or no names', async (context) => {
    const server = await startFakeHomeserver({ context });
    const call = callerOf(server);
    const wanted = { username: 'bob', password: 'p' };
    const asked = await call('POST', '/register', wanted);
    assert.equal(asked.status, 401);
    assert.deepEqual(asked.body.flows, [{ stages: ['m.login.dummy'] }]);
    const auth = { type: 'm.login.dummy', session: asked.body.session };
    assert.equal((await call('POST', '/register', { ...wanted, auth })).body.user_id, '@bob:localhost');
    assert.equal(codeOf(await call('POST', '/register', wanted)), '400 M_USER_IN_USE');
    assert.equal(codeOf(await call('POST', '/register', { username: 'b d', password: 'p' })), '400 M_INVALID_USERNAME');
  });

  for (const strict of [true, false]) {
    test(`with a registration token, ${strict ? 'one step' : 'two steps'}`, async (context) => {
      const server = await startFakeHomeserver({ context, strict, registrationToken: 'open sesame' });
      const call = callerOf(server);
      const wanted = { username: 'eve', password: 'p' };
      const { session, flows } = (await call('POST', '/register', wanted)).body;
      assert.equal(flows[0].stages.length, strict ? 1 : 2);
      const wrong = { type: 'm.login.registration_token', token: 'guess', session };
      assert.equal(codeOf(await call('POST', '/register', { ...wanted, auth: wrong })), '401 M_UNAUTHORIZED');
      const dummy = { type: 'm.login.dummy', session };
      assert.notEqual((await call('POST', '/register', { ...wanted, auth: dummy })).status, 200);
      assert.equal((await server.register('carol')).userId, '@carol:localhost');
    });
  }

  test('wrong password, no token, unknown token, logout, expired token', async (context) => {
    const { server, alice } = await withAlice(context);
    const identifier = { type: 'm.id.user', user: 'alice' };
    const guess = await callerOf(server)('POST', '/login', { type: 'm.login.password', identifier, password: 'no' });
    assert.equal(codeOf(guess), '403 M_FORBIDDEN');
    assert.equal(codeOf(await callerOf(server)('GET', '/sync')), '401 M_MISSING_TOKEN');
    assert.equal(codeOf(await callerOf(server, { accessToken: 'x' })('GET', '/sync')), '401 M_UNKNOWN_TOKEN');
    server.doors.expireToken(alice.accessToken);
    assert.equal(codeOf(await alice.call('GET', '/account/whoami')), '401 M_UNKNOWN_TOKEN');
    const again = callerOf(server, await server.signIn(alice));
    assert.equal((await again('POST', '/logout', {})).status, 200);
    assert.equal(codeOf(await again('GET', '/account/whoami')), '401 M_UNKNOWN_TOKEN');
  });

  test('versions, well-known, unknown paths', async (context) => {
    const server = await startFakeHomeserver({ context, roomVersion: '12' });
    const alice = await person(server, 'alice');
    const versions = await (await fetch(`${server.url}/_matrix/client/versions`)).json();
    assert.ok((versions as { versions: string[] }).versions.includes('v1.11'));
    const wellKnown = await (await fetch(`${server.url}/.well-known/matrix/client`)).json();
    assert.deepEqual(wellKnown, { 'm.homeserver': { base_url: server.url } });
    assert.equal(codeOf(await alice.call('GET', '/nothing')), '404 M_UNRECOGNIZED');
    assert.equal(codeOf(await alice.call('POST', '/sync', {})), '405 M_UNRECOGNIZED');
  });
});

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
    const { server, alice } = await withAlice(context);
    server.doors.setAccountData(alice.userId, 'x.secret', { text: 'in account data' });
    const text = await server.storedText();
    assert.ok(text.includes('in account data'));
    assert.ok(!text.includes(alice.password) && !text.includes(alice.accessToken));
  });

  slow('two thousand rooms come in one sync', async (context) => {
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

const identity = ({ userId, deviceId }: Person, mark = '1') => ({
  user_id: userId,
  device_id: deviceId,
  algorithms: ['m.olm.v1.curve25519-aes-sha2'],
  keys: { [`ed25519:${deviceId}`]: mark },
  signatures: {},
});

describe('fake homeserver: keys', () => {
  test('changed devices are told to those who share a room', async (context) => {
    const { server, alice, bob } = await withBoth(context);
    const room = await roomOf(alice, { invite: [bob.userId] });
    await alice.sync();
    await bob.call('POST', '/keys/upload', { device_keys: identity(bob) });
    assert.equal((await alice.sync()).device_lists, undefined);
    await bob.call('POST', `/join/${room}`, {});
    assert.deepEqual((await alice.sync()).device_lists, { changed: [bob.userId] });
    await bob.call('POST', '/keys/upload', { device_keys: identity(bob) });
    assert.equal((await alice.sync()).device_lists, undefined);
    await alice.sync();
    const second = personOf(server, await server.signIn(bob));
    await second.call('POST', '/keys/upload', { device_keys: identity(second) });
    assert.deepEqual((await alice.sync()).device_lists, { changed: [bob.userId] });
    await bob.sync();
    await bob.call('POST', `/rooms/${room}/leave`, {});
    assert.deepEqual((await alice.sync()).device_lists, { left: [bob.userId] });
    assert.deepEqual((await bob.sync()).device_lists, { left: [alice.userId] });
  });

  test('messages to devices: once a transaction, until acknowledged, a hundred at a time', async (context) => {
    const { server, alice, bob } = await withBoth(context);
    const other = personOf(server, await server.signIn(bob));
    const send = (txn: string, device: string, content: object) =>
      alice.call('PUT', `/sendToDevice/m.test/${txn}`, { messages: { [bob.userId]: { [device]: content } } });
    await send('t1', bob.deviceId, { n: 1 });
    await send('t1', bob.deviceId, { n: 2 });
    await send('t2', '*', { n: 3 });
    const texts = (body: Loose) => (body.to_device?.events ?? []).map(({ content }: Loose) => content.n);
    assert.deepEqual(texts((await bob.call('GET', '/sync')).body), [1, 3]);
    assert.deepEqual(texts(await bob.sync()), [1, 3]);
    assert.equal(server.doors.waiting(bob.userId, bob.deviceId).length, 2);
    assert.deepEqual(texts(await bob.sync()), []);
    assert.equal(server.doors.waiting(bob.userId, bob.deviceId).length, 0);
    assert.deepEqual(texts(await other.sync()), [3]);
    for (let n = 0; n < 105; n += 1) await send(`many${n}`, bob.deviceId, { n });
    assert.equal(texts(await bob.sync()).length, 100);
    assert.deepEqual(texts(await bob.sync()), [100, 101, 102, 103, 104]);
    assert.deepEqual(texts(await bob.sync()), []);
  });
});

describe('fake homeserver: membership', () => {
  test('a room that everybody left, a room that never was, a person of a server out of reach', async (context) => {
    const { server, alice, bob } = await withBoth(context);
    const room = await roomOf(alice, { invite: [bob.userId] });
    await alice.call('POST', `/rooms/${room}/leave`, {});
    assert.equal((await bob.call('POST', `/join/${room}`, {})).status, 404);
    assert.equal((await bob.call('POST', '/join/!none:localhost', {})).status, 404);
    assert.equal(codeOf(await bob.call('GET', '/rooms/!none:localhost/state')), '403 M_FORBIDDEN');
    assert.equal((await alice.call('POST', '/createRoom', { invite: ['@far:elsewhere'] })).status, 502);
    const far = server.doors.addAccount('@far:elsewhere');
    assert.equal((await alice.call('POST', '/createRoom', { invite: [far.userId] })).status, 200);
  });

  test('version 12: creators stand above everybody, invited ones of a trusted chat are creators', async (context) => {
    const { alice, bob } = await withBoth(context, { roomVersion: '12' });
    const room = await roomOf(alice, { preset: 'trusted_private_chat', invite: [bob.userId], is_direct: true });
    await bob.call('POST', `/join/${room}`, {});
    assert.equal((await bob.call('PUT', `/rooms/${room}/state/m.room.name`, { name: 'ours' })).status, 200);
    assert.equal(codeOf(await alice.call('POST', `/rooms/${room}/kick`, { user_id: bob.userId })), '403 M_FORBIDDEN');
    const { body } = await bob.call('GET', `/rooms/${room}/state`);
    const create = body.find(({ type }: Loose) => type === 'm.room.create');
    assert.deepEqual(create.content.additional_creators, [bob.userId]);
  });
});

describe('fake homeserver: sync', () => {
  const sections = (body: Loose) =>
    Object.fromEntries(
      Object.entries(body.rooms ?? {}).map(([name, rooms]) => [name, Object.keys(rooms as object).length]),
    );
  const only = (body: Loose, section: string): Loose => Object.values(body.rooms[section])[0];

  test('a timeline filter without memberships hides who came and went, as on Synapse', async (context) => {
    const { server, alice, bob } = await withBoth(context);
    const carol = await person(server, 'carol');
    const room = await roomOf(alice, { invite: [bob.userId, carol.userId] });
    await bob.call('POST', `/join/${room}`, {});
    const filter = { room: { timeline: { types: ['m.room.message'] } } };
    await bob.sync(filter);
    await carol.call('POST', `/join/${room}`, {});
    assert.deepEqual(sections(await bob.sync(filter)), {});
    await alice.call('PUT', `/rooms/${room}/state/m.room.topic`, { topic: 'new' });
    await say(alice, room, 'with state before it');
    const { state, timeline } = only(await bob.sync(filter), 'join');
    assert.deepEqual(textsOf(timeline.events), ['with state before it']);
    assert.deepEqual(
      state.events.map(({ type }: Loose) => type),
      ['m.room.topic'],
    );
  });

  test('state before the timeline and then the timeline give the state of the room', async (context) => {
    const { alice, bob } = await withBoth(context);
    const room = await roomOf(alice, { name: 'a', invite: [bob.userId] });
    for (const name of ['b', 'c', 'd']) await alice.call('PUT', `/rooms/${room}/state/m.room.name`, { name });
    await bob.call('POST', `/join/${room}`, {});
    const { state, timeline } = only(await bob.sync({ room: { timeline: { limit: 2 } } }), 'join');
    const folded = new Map<string, Loose>();
    for (const event of [...state.events, ...timeline.events])
      folded.set(`${event.type} ${event.state_key}`, event.event_id);
    const current: Loose[] = (await bob.call('GET', `/rooms/${room}/state`)).body;
    assert.deepEqual(folded, new Map(current.map((event) => [`${event.type} ${event.state_key}`, event.event_id])));
  });

  test('leaving, being removed, coming back', async (context) => {
    const { alice, bob } = await withBoth(context);
    const room = await roomOf(alice, { invite: [bob.userId] });
    const invite = () => alice.call('POST', `/rooms/${room}/invite`, { user_id: bob.userId });
    const join = () => bob.call('POST', `/join/${room}`, {});
    await join();
    await bob.sync();
    await bob.call('POST', `/rooms/${room}/leave`, {});
    assert.deepEqual(sections(await bob.sync()), { leave: 1 });
    await invite();
    assert.deepEqual(sections(await bob.sync()), { invite: 1 });
    await bob.call('POST', `/rooms/${room}/leave`, {});
    assert.deepEqual(sections(await bob.sync()), { leave: 1 });
    await invite();
    await join();
    await alice.call('POST', `/rooms/${room}/kick`, { user_id: bob.userId });
    await say(alice, room, 'without him');
    const kicked = await bob.sync();
    assert.deepEqual(sections(kicked), { leave: 1 });
    assert.deepEqual(textsOf(only(kicked, 'leave').timeline.events), []);
    await invite();
    await join();
    await bob.call('POST', `/rooms/${room}/leave`, {});
    await invite();
    await join();
    const back = await bob.sync();
    assert.deepEqual(sections(back), { join: 1 });
    assert.ok(textsOf(only(back, 'join').timeline.events).includes('without him'));
  });

  test('an initial sync tells rooms that one was removed from, not those that one left', async (context) => {
    const { alice, bob } = await withBoth(context);
    for (const remove of [false, true]) {
      const room = await roomOf(alice, { invite: [bob.userId] });
      await bob.call('POST', `/join/${room}`, {});
      if (remove) await alice.call('POST', `/rooms/${room}/kick`, { user_id: bob.userId });
      else await bob.call('POST', `/rooms/${room}/leave`, {});
    }
    const initial = async (filter: object) =>
      (await bob.call('GET', `/sync?filter=${encodeURIComponent(JSON.stringify(filter))}`)).body;
    assert.deepEqual(sections(await initial({})), { leave: 1 });
    assert.deepEqual(sections(await initial({ room: { include_leave: true } })), { leave: 2 });
  });

  test('filters: inline, broken', async (context) => {
    const { bob } = await withBoth(context);
    await roomOf(bob, { name: 'x' });
    const filter = { room: { timeline: { types: [] }, state: { types: ['m.room.name'] } } };
    const { state, timeline } = only(await bob.sync(filter), 'join');
    assert.deepEqual(
      state.events.map(({ type }: Loose) => type),
      ['m.room.name'],
    );
    assert.deepEqual(timeline.events, []);
    assert.equal(codeOf(await bob.call('GET', '/sync?filter=%7Bbad')), '400 M_NOT_JSON');
    assert.equal(codeOf(await bob.call('GET', '/sync?since=nonsense')), '400 M_UNKNOWN');
    const none = encodeURIComponent(JSON.stringify({ room: { rooms: [] } }));
    assert.deepEqual(sections((await bob.call('GET', `/sync?filter=${none}`)).body), {});
  });

  test('waiting ends with the next event, or with its time', async (context) => {
    const { alice, bob } = await withBoth(context);
    const room = await roomOf(alice, { invite: [bob.userId] });
    await bob.call('POST', `/join/${room}`, {});
    const since = (await bob.sync()).next_batch;
    const wait = (person: Person, ms: number) => person.call('GET', `/sync?timeout=${ms}&since=${since}`);
    assert.deepEqual(sections((await wait(bob, 30)).body), {});
    const waiting = wait(bob, 20_000);
    await say(alice, room, 'wake up');
    assert.deepEqual(textsOf(only((await waiting).body, 'join').timeline.events), ['wake up']);
  });

  test('with the cache of Synapse the same initial sync is as old as the first', async (context) => {
    const { alice, bob } = await withBoth(context, { cachesSync: true });
    assert.deepEqual(sections((await bob.call('GET', '/sync?timeout=0')).body), {});
    await roomOf(alice, { invite: [bob.userId] });
    assert.deepEqual(sections((await bob.call('GET', '/sync?timeout=0')).body), {});
    assert.deepEqual(sections((await bob.call('GET', '/sync?timeout=0&filter=%7B%22x%22%3A1%7D')).body), { invite: 1 });
  });
});

describe('fake homeserver: timeline', () => {
  test('invited ones read nothing; late ones read everything', async (context) => {
    const { alice, bob } = await withBoth(context);
    const room = await roomOf(alice);
    const read = async () => bob.call('GET', `/rooms/${room}/messages?dir=b&limit=50`);
    await say(alice, room, 'before');
    await alice.call('POST', `/rooms/${room}/invite`, { user_id: bob.userId });
    await say(alice, room, 'invited');
    assert.equal(codeOf(await read()), '403 M_FORBIDDEN');
    assert.equal(codeOf(await bob.call('GET', `/rooms/${room}/state`)), '403 M_FORBIDDEN');
    assert.equal(codeOf(await bob.call('GET', `/rooms/${room}/members`)), '403 M_FORBIDDEN');
    await bob.call('POST', `/join/${room}`, {});
    await say(alice, room, 'after');
    assert.deepEqual(textsOf((await read()).body.chunk), ['after', 'invited', 'before']);
  });

  test('the same state again is the same event', async (context) => {
    const { alice } = await withAlice(context);
    const room = await roomOf(alice);
    const put = (name: string) => alice.call('PUT', `/rooms/${room}/state/m.room.name`, { name });
    const first = await put('x');
    assert.deepEqual((await put('x')).body, first.body);
    assert.notDeepEqual((await put('y')).body, first.body);
  });
});

describe('fake homeserver: wire', () => {
  const raw = async (url: string, token: string, init: RequestInit) => {
    const headers = { authorization: `Bearer ${token}`, ...init.headers };
    const response = await fetch(url, { ...init, headers });
    return { status: response.status, body: await response.json(), headers: response.headers };
  };

  test('strict: a POST without a JSON body is refused; lenient: joining and leaving may have none', async (context) => {
    for (const strict of [true, false]) {
      const server = await startFakeHomeserver({ context, strict });
      const alice = await person(server, 'alice');
      const room = await roomOf(alice);
      const join = `${server.url}/_matrix/client/v3/join/${room}`;
      const json = { 'content-type': 'application/json' };
      const token = alice.accessToken;
      const empty = await raw(join, token, { method: 'POST' });
      assert.equal(codeOf(empty), strict ? '400 M_NOT_JSON' : '200');
      const untyped = await raw(join, token, { method: 'POST', body: new Blob(['{}']) });
      assert.equal(codeOf(untyped), strict ? '400 M_NOT_JSON' : '200');
      assert.equal(codeOf(await raw(join, token, { method: 'POST', body: 'no', headers: json })), '400 M_NOT_JSON');
      assert.equal(codeOf(await raw(join, token, { method: 'POST', body: '[]', headers: json })), '400 M_BAD_JSON');
      assert.equal(codeOf(await raw(join, token, { method: 'POST', body: '{}', headers: json })), '200');
      const event = `${server.url}/_matrix/client/v3/rooms/${room}/send/x.y/1`;
      assert.equal(codeOf(await raw(event, token, { method: 'PUT' })), '400 M_NOT_JSON');
    }
  });

  test('the log keeps what was asked, by whom, with escapes', async (context) => {
    const { server, alice } = await withAlice(context);
    server.wire.clear();
    await alice.call('PUT', '/user/%40alice%3Alocalhost/account_data/x.y', { a: 1 });
    await alice.call('GET', '/sync?timeout=0&since=s1');
    const [put, sync] = server.wire.requests();
    assert.equal(put?.path, '/_matrix/client/v3/user/%40alice%3Alocalhost/account_data/x.y');
    assert.equal(put?.body, '{"a":1}');
    assert.equal(put?.userId, alice.userId);
    assert.equal(put?.headers['content-type'], 'application/json');
    assert.deepEqual(sync?.query, { timeout: '0', since: 's1' });
    assert.ok(Object.isFrozen(put));
  });

  test('ordered faults meet the next requests that match, then all is as before', async (context) => {
    const { server, alice } = await withAlice(context);
    const isSync = ({ path }: { path: string }) => path.endsWith('/sync');
    server.wire.fail(isSync, { type: 'status', status: 503 }, 2);
    assert.equal((await alice.call('GET', '/account/whoami')).status, 200);
    assert.equal((await alice.call('GET', '/sync')).status, 503);
    assert.equal((await alice.call('GET', '/sync')).status, 503);
    assert.equal((await alice.call('GET', '/sync')).status, 200);
    server.wire.fail(isSync, { type: 'html' });
    await assert.rejects(alice.call('GET', '/sync'), SyntaxError);
    server.wire.fail(isSync, { type: 'reset' });
    await assert.rejects(alice.call('GET', '/sync'), TypeError);
    const remove = server.wire.fail(() => true, { type: 'reset' });
    remove();
    assert.equal((await alice.call('GET', '/sync')).status, 200);
  });

  test('a lost answer took effect, a reset did not', async (context) => {
    const { server, alice } = await withAlice(context);
    const room = await roomOf(alice);
    const isSend = ({ path }: { path: string }) => path.includes('/send/');
    for (const type of ['reset', 'lost-answer'] as const) {
      server.wire.fail(isSend, { type });
      await assert.rejects(say(alice, room, `with ${type}`), TypeError);
    }
    const text = await server.storedText();
    assert.ok(text.includes('with lost-answer'));
    assert.ok(!text.includes('with reset'));
  });

  test('a slow answer comes when its time has come', async (context) => {
    const clock = createManualClock();
    const server = await startFakeHomeserver({ context, clock });
    const alice = await person(server, 'alice');
    server.wire.fail(() => true, { type: 'slow', ms: 5_000 });
    let done = false;
    const asked = alice.call('GET', '/account/whoami').then((answer) => {
      done = true;
      return answer;
    });
    while (clock.slept.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(4_999);
    assert.equal(done, false);
    await clock.advance(1);
    assert.equal((await asked).status, 200);
  });

  test('the rate limit says how long to wait, in both places', async (context) => {
    const { server, alice } = await withAlice(context);
    const lift = server.wire.limitRate(1_500);
    const refused = await alice.call('GET', '/sync');
    assert.equal(codeOf(refused), '429 M_LIMIT_EXCEEDED');
    assert.equal(refused.body.retry_after_ms, 1_500);
    assert.equal(refused.headers.get('retry-after'), '2');
    lift();
    assert.equal((await alice.call('GET', '/sync')).status, 200);
  });

  test('down refuses connections, up is the same server at the same address', async (context) => {
    const { server, alice } = await withAlice(context);
    await server.wire.down();
    await assert.rejects(alice.call('GET', '/sync'), TypeError);
    await server.wire.up();
    assert.equal((await alice.call('GET', '/account/whoami')).body.user_id, alice.userId);
  });

  test('stopping ends waiting requests, slow ones and every socket, and may be done twice', async () => {
    const server = await startFakeHomeserver();
    const alice = await person(server, 'alice');
    const since = (await alice.sync()).next_batch;
    server.wire.fail(({ path }) => path.endsWith('whoami'), { type: 'slow', ms: 60_000 });
    const hanging = [
      alice.call('GET', `/sync?timeout=60000&since=${since}`),
      callerOf(server, alice)('GET', '/account/whoami'),
    ].map((call) => assert.rejects(call, TypeError));
    while (server.wire.requests().length < 5) await new Promise((resolve) => setImmediate(resolve));
    await server.stop();
    await Promise.all(hanging);
    assert.equal(server.wire.openSockets, 0);
    await server.stop();
  });
});
