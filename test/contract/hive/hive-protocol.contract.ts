/**
 * The fourteen protocol tests of the peers seed, over plain HTTP: what an introduction needs from a homeserver, and what becomes of it
 * when somebody declines, leaves, is thrown out or comes late. They hold on every standard server.
 */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../../verifies.ts';
import {
  ABOUT_BOB,
  ABOUT_CAROL,
  type Agents,
  about,
  barred,
  type HomeserverStart,
  introduce,
  joinBoth,
  joined,
  REASON,
  refused,
  users,
  withAgents,
} from './hive-introduction.ts';
import { HiveRawClient, RawError } from './hive-raw-client.ts';

export function protocolSuite(name: string, start: HomeserverStart): void {
  const agents = (body: (agents: Agents) => Promise<void>) => () => withAgents(start, body);

  describe(`introductions over plain HTTP: ${name}`, () => {
    verifies(
      ['R4.3', 'R4.66', 'R4.68'],
      'an introduction from beginning to end',
      agents(async ({ server, alice, bob, carol, room }) => {
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
        await bob.say(room, 'Hello Carol, can you look at my enclave?');
        await carol.say(room, 'Gladly, Bob.');
        for (const agent of [alice, bob, carol]) {
          assert.deepEqual((await agent.texts(room)).slice(0, 2), [
            'Gladly, Bob.',
            'Hello Carol, can you look at my enclave?',
          ]);
          assert.deepEqual(await joined(agent, room), users(alice, bob, carol));
        }
        const create = (await bob.state(room)).find(({ type }) => type === 'm.room.create');
        assert.equal(create?.sender, alice.userId);
      }),
    );

    verifies(
      'R4.68',
      'what was said before somebody joined is there when they join, and not before',
      agents(async ({ alice, bob, room }) => {
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
      }),
    );

    verifies(
      'R4.68',
      'an agent that declines without having joined leaves the others to themselves',
      agents(async ({ alice, bob, carol, room }) => {
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
      }),
    );

    verifies(
      'R4.68',
      'who has declined cannot join without another invitation',
      agents(async ({ alice, bob, room }) => {
        await bob.leave(room);
        await refused(bob.join(room));
        await refused(bob.say(room, 'let me in'));
        assert.equal((await alice.members(room))[bob.userId], 'leave');
      }),
    );

    verifies(
      'R4.68',
      'who has declined can be invited again, and then sees the introduction',
      agents(async ({ alice, bob, room }) => {
        await bob.leave(room);
        const { next_batch: since } = await bob.sync();
        await alice.invite(room, bob.userId);
        assert.ok((await bob.sync({ since })).rooms?.invite?.[room], 'a new invitation');
        await bob.join(room);
        assert.deepEqual(await joined(alice, room), users(alice, bob));
        assert.ok((await bob.texts(room)).includes(`Why: ${REASON}`));
      }),
    );

    verifies(
      ['R4.55', 'R4.68'],
      'an agent that leaves after joining leaves its messages behind and cannot come back alone',
      agents(async (all) => {
        const { alice, bob, carol, room } = all;
        await joinBoth(all);
        await bob.say(room, 'Goodbye.');
        await bob.leave(room);
        await carol.say(room, 'He is gone.');
        assert.deepEqual((await alice.texts(room)).slice(0, 2), ['He is gone.', 'Goodbye.']);
        assert.deepEqual(await joined(carol, room), users(alice, carol));
        await refused(bob.join(room));
        await refused(bob.say(room, 'one more thing'));
      }),
    );

    verifies(
      'R4.68',
      'when both decline, the introducer is alone in a room that still works',
      agents(async ({ alice, bob, carol, room }) => {
        await bob.leave(room);
        await carol.leave(room);
        assert.deepEqual(await joined(alice, room), users(alice));
        await alice.say(room, 'Nobody came.');
        assert.equal((await alice.texts(room))[0], 'Nobody came.');
        for (const agent of [bob, carol]) await refused(agent.join(room));
      }),
    );

    verifies(
      'R4.68',
      'when the introducer leaves, the two go on',
      agents(async (all) => {
        const { alice, bob, carol, room } = all;
        await joinBoth(all);
        await alice.leave(room);
        await bob.say(room, 'Just us now.');
        assert.equal((await carol.texts(room))[0], 'Just us now.');
        assert.deepEqual(await joined(bob, room), users(bob, carol));
        await refused(alice.say(room, 'still here'));
        const create = (await bob.state(room)).find(({ type }) => type === 'm.room.create');
        assert.equal(create?.sender, alice.userId, 'who introduced them stays on record');
      }),
    );

    verifies(
      'R4.68',
      'when all have left, nobody reaches the room any more',
      agents(async (all) => {
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
      }),
    );

    verifies(
      'R4.68',
      'who is removed is out until invited again, and only the introducer removes',
      agents(async (all) => {
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
      }),
    );

    verifies(
      'R4.68',
      'who is banned can neither join nor be invited, until the ban is lifted',
      agents(async (all) => {
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
      }),
    );

    verifies(
      'R4.68',
      'messages come newest first, page by page, and the other way round when asked',
      agents(async (all) => {
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
      }),
    );

    verifies(
      ['R4.55', 'R4.68'],
      'who joins late sees everything that was said',
      agents(async ({ alice, bob, carol, room }) => {
        await bob.join(room);
        for (let index = 0; index < 30; index += 1) await (index % 2 === 0 ? alice : bob).say(room, `talk ${index}`);
        await carol.join(room);
        const texts = await carol.texts(room);
        assert.equal(texts.length, 33);
        assert.deepEqual(texts, await alice.texts(room));
        assert.ok(texts.includes(about(carol, ABOUT_CAROL)));
      }),
    );

    verifies(
      'R4.68',
      'each introduction has its own room, and nothing crosses over',
      agents(async (all) => {
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
      }),
    );
  });
}
