/** What `/sync` tells, in which section, and when. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startFakeHomeserver } from '#testing/homeserver/start-fake-homeserver.ts';
import { codeOf, type Loose, type Person, person, roomOf, say, textsOf } from './matrix-caller.ts';

describe('fake homeserver: sync', () => {
  const pair = async (context: { after(run: () => unknown): void }, options = {}) => {
    const server = await startFakeHomeserver({ context, ...options });
    const alice = await person(server, 'alice');
    const bob = await person(server, 'bob');
    return { server, alice, bob };
  };
  const sections = (body: Loose) =>
    Object.fromEntries(
      Object.entries(body.rooms ?? {}).map(([name, rooms]) => [name, Object.keys(rooms as object).length]),
    );
  const only = (body: Loose, section: string): Loose => Object.values(body.rooms[section])[0];

  test('an invitation shows stripped state once; joining shows the whole room', async (context) => {
    const { alice, bob } = await pair(context);
    await bob.sync();
    const room = await roomOf(alice, { name: 'Introduction', invite: [bob.userId] });
    await say(alice, room, 'About you');
    const invited = await bob.sync();
    assert.deepEqual(sections(invited), { invite: 1 });
    const stripped: Loose[] = only(invited, 'invite').invite_state.events;
    assert.ok(stripped.every((event) => event.event_id === undefined && event.origin_server_ts === undefined));
    const kinds = stripped.map(({ type, state_key }) => `${type} ${state_key}`);
    assert.ok(kinds.includes('m.room.create ') && kinds.includes(`m.room.member ${bob.userId}`));
    assert.ok(kinds.includes(`m.room.member ${alice.userId}`));
    assert.deepEqual(sections(await bob.sync()), {});
    await bob.call('POST', `/join/${room}`, {});
    const joined = only(await bob.sync(), 'join');
    assert.equal(joined.timeline.limited, true);
    assert.deepEqual(textsOf(joined.timeline.events), ['About you']);
    assert.equal(joined.state.events.length + joined.timeline.events.length, 10);
    assert.ok(joined.timeline.events.every((event: Loose) => event.room_id === undefined));
    assert.deepEqual(sections(await bob.sync()), {});
  });

  test('a gap is limited, and prev_batch leads to what is missing', async (context) => {
    const { alice, bob } = await pair(context);
    const room = await roomOf(alice, { invite: [bob.userId] });
    await bob.call('POST', `/join/${room}`, {});
    const filter = { room: { timeline: { limit: 2 } } };
    await bob.sync(filter);
    for (const text of ['1', '2', '3', '4']) await say(alice, room, text);
    const { timeline } = only(await bob.sync(filter), 'join');
    assert.equal(timeline.limited, true);
    assert.deepEqual(textsOf(timeline.events), ['3', '4']);
    const page = await bob.call('GET', `/rooms/${room}/messages?dir=b&limit=2&from=${timeline.prev_batch}`);
    assert.deepEqual(textsOf(page.body.chunk), ['2', '1']);
    await say(alice, room, '5');
    assert.equal(only(await bob.sync(filter), 'join').timeline.limited, false);
  });

  test('a timeline filter without memberships hides who came and went, as on Synapse', async (context) => {
    const { server, alice, bob } = await pair(context);
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
    const { alice, bob } = await pair(context);
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
    const { alice, bob } = await pair(context);
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
    const { alice, bob } = await pair(context);
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

  test('private data: own ones only, global and of a room, each once', async (context) => {
    const { alice, bob } = await pair(context);
    const room = await roomOf(bob);
    await bob.sync();
    const user = `/user/${encodeURIComponent(bob.userId)}`;
    assert.equal(codeOf(await bob.call('GET', `${user}/account_data/x.sparks`)), '404 M_NOT_FOUND');
    await bob.call('PUT', `${user}/account_data/x.sparks`, { sparks: [] });
    await bob.call('PUT', `${user}/rooms/${room}/account_data/x.peer`, { a: 1 });
    assert.equal(codeOf(await alice.call('GET', `${user}/account_data/x.sparks`)), '403 M_FORBIDDEN');
    assert.equal(codeOf(await alice.call('PUT', `${user}/account_data/x.sparks`, {})), '403 M_FORBIDDEN');
    const told = await bob.sync();
    assert.deepEqual(told.account_data.events, [{ type: 'x.sparks', content: { sparks: [] } }]);
    assert.deepEqual(only(told, 'join').account_data.events, [{ type: 'x.peer', content: { a: 1 } }]);
    assert.deepEqual(only(told, 'join').timeline.events, []);
    assert.equal((await bob.sync()).account_data, undefined);
    const initial = (await bob.call('GET', '/sync')).body;
    assert.deepEqual(only(initial, 'join').account_data.events, [{ type: 'x.peer', content: { a: 1 } }]);
    assert.deepEqual(
      initial.account_data.events.map(({ type }: Loose) => type),
      ['m.push_rules', 'x.sparks'],
    );
    assert.deepEqual((await bob.call('GET', `${user}/rooms/${room}/account_data/x.peer`)).body, { a: 1 });
  });

  test('filters: inline, stored, unknown, broken', async (context) => {
    const { bob } = await pair(context);
    await roomOf(bob, { name: 'x' });
    const stored = await bob.call('POST', `/user/${encodeURIComponent(bob.userId)}/filter`, {
      room: { timeline: { types: [] }, state: { types: ['m.room.name'] } },
    });
    const { state, timeline } = only((await bob.call('GET', `/sync?filter=${stored.body.filter_id}`)).body, 'join');
    assert.deepEqual(
      state.events.map(({ type }: Loose) => type),
      ['m.room.name'],
    );
    assert.deepEqual(timeline.events, []);
    assert.equal(codeOf(await bob.call('GET', '/sync?filter=77')), '400 M_INVALID_PARAM');
    assert.equal(codeOf(await bob.call('GET', '/sync?filter=%7Bbad')), '400 M_NOT_JSON');
    assert.equal(codeOf(await bob.call('GET', '/sync?since=nonsense')), '400 M_UNKNOWN');
    const none = encodeURIComponent(JSON.stringify({ room: { rooms: [] } }));
    assert.deepEqual(sections((await bob.call('GET', `/sync?filter=${none}`)).body), {});
  });

  test('waiting ends with the next event, or with its time', async (context) => {
    const { alice, bob } = await pair(context);
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
    const { alice, bob } = await pair(context, { cachesSync: true });
    assert.deepEqual(sections((await bob.call('GET', '/sync?timeout=0')).body), {});
    await roomOf(alice, { invite: [bob.userId] });
    assert.deepEqual(sections((await bob.call('GET', '/sync?timeout=0')).body), {});
    assert.deepEqual(sections((await bob.call('GET', '/sync?timeout=0&filter=%7B%22x%22%3A1%7D')).body), { invite: 1 });
  });
});
