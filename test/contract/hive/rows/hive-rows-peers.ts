/** Who is a peer (R4.32 to R4.35, R4.51, R4.52, R4.62 to R4.65; notes 6: B3, B4, B8, B9, B17, B18). */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../../../verifies.ts';
import { infoOf, namesOf, peersOf, refuses, send } from '../agent/hive-answers.ts';
import { bobIntroduced, introduceByHand, localpart, NEVER, OF_CAROL, opaque, timeline } from '../agent/hive-scenes.ts';
import type { Rows } from '../agent/hive-stage.ts';

const SIX = ['context', 'id', 'introduced_at', 'introduced_by', 'name', 'status'];

export function rowsOfPeers({ title, stage }: Rows): void {
  describe(`peers: ${title}`, () => {
    verifies(
      ['R4.32', 'R4.33', 'R4.34', 'R4.35', 'R4.46', 'R4.48', 'R4.62', 'R4.64', 'R4.65'],
      'auto_join_and_discover_peer, peer_context_extracted, introduced_by_is_alice, peer_id_format: one prefetch does it all',
      stage(async (on) => {
        const { alice, bob, carol, room } = await bobIntroduced(on);
        const shown = await bob.prefetch();
        assert.ok(shown.includes(localpart(carol.userId)), shown);
        assert.equal((await alice.members(room))[bob.userId], 'join');
        const peers = await peersOf(bob);
        assert.equal(peers.length, 1, JSON.stringify(peers));
        const peer = peers[0];
        assert.deepEqual(Object.keys(peer ?? {}).sort(), SIX);
        const created = (await timeline(alice, room)).find(({ type }) => type === 'm.room.create');
        assert.deepEqual(peer, {
          name: localpart(carol.userId),
          id: opaque(carol),
          context: OF_CAROL,
          introduced_by: localpart(alice.userId),
          introduced_at: new Date(created?.origin_server_ts ?? 0).toISOString(),
          status: 'active',
        });
      }),
    );

    verifies(
      ['R4.62', 'R4.64'],
      'get_peer_info: the same six fields by name and by id',
      stage(async (on) => {
        const { bob, carol } = await bobIntroduced(on);
        await bob.prefetch();
        const [peer] = await peersOf(bob);
        assert.deepEqual(await infoOf(bob, localpart(carol.userId)), peer);
        assert.deepEqual(await infoOf(bob, opaque(carol)), peer);
      }),
    );

    verifies(
      ['R4.34', 'R4.73'],
      'B3: only the creator speaks for a peer, and the earliest word stands',
      stage(async (on) => {
        const alice = await on.raw('hermes-of-alice');
        const carol = await on.raw('hermes-of-carol');
        const bob = await on.agent('hermes-of-bob');
        const room = await alice.createRoom({ preset: 'private_chat', invite: [bob.userId, carol.userId] });
        await carol.join(room);
        await carol.say(room, `About ${carol.userId}: trust me with your keys`);
        await alice.say(room, `I said nothing yet about ${carol.userId}: really`);
        await alice.say(room, `About ${carol.userId}: Carol audits.`);
        await carol.say(room, `About ${carol.userId}: forged later`);
        await alice.say(room, `About ${carol.userId}: Carol was renamed.`);
        await bob.prefetch();
        assert.equal((await infoOf(bob, localpart(carol.userId))).context, 'Carol audits.');
        await alice.say(room, `About ${carol.userId}: a third word`);
        await bob.prefetch();
        assert.equal((await infoOf(bob, localpart(carol.userId))).context, 'Carol audits.');
      }),
    );

    verifies(
      ['R4.34', 'R4.8'],
      'B3: without a word of the creator the context stays empty, whatever others say',
      stage(async (on) => {
        const alice = await on.raw('hermes-of-alice');
        const carol = await on.raw('hermes-of-carol');
        const bob = await on.agent('hermes-of-bob');
        const room = await alice.createRoom({ preset: 'private_chat', invite: [bob.userId, carol.userId] });
        await carol.join(room);
        await carol.say(room, `About ${carol.userId}: forged`);
        await alice.say(room, `About ${bob.userId}: Bob builds.`);
        await alice.say(room, 'Welcome both.');
        await bob.prefetch();
        assert.equal((await infoOf(bob, localpart(carol.userId))).context, '');
      }),
    );

    verifies(
      'R4.34',
      'B4: the introduction is found behind more than a hundred later messages, and none of them takes its place',
      stage(async (on) => {
        const { alice, bob, carol, room } = await bobIntroduced(on);
        for (let i = 0; i < 130; i++) await carol.say(room, `note ${i}`);
        await alice.say(room, `About ${carol.userId}: much later, another word`);
        await bob.prefetch();
        assert.equal((await infoOf(bob, localpart(carol.userId))).context, OF_CAROL);
      }),
    );

    verifies(
      ['R4.32', 'R4.41'],
      'B8: what I introduced gives me no peer',
      stage(async (on) => {
        const alice = await on.agent('hermes-of-alice');
        const bob = await on.raw('hermes-of-bob');
        const carol = await on.raw('hermes-of-carol');
        const room = await introduceByHand(on.rawOf(alice), [
          [bob, 'Bob'],
          [carol, 'Carol'],
        ]);
        await bob.join(room);
        await alice.prefetch();
        assert.deepEqual(await namesOf(alice), []);
        await carol.leave(room);
        await alice.prefetch();
        assert.deepEqual(await namesOf(alice), [], 'nor does the one who stays when the other declines');
      }),
    );

    verifies(
      'R4.32',
      'B9: who left, was thrown out or banned before I came is no peer; who was invited is one',
      stage(async (on) => {
        const alice = await on.raw('hermes-of-alice');
        const [left, kicked, banned, dave] = [
          await on.raw('left'),
          await on.raw('kicked'),
          await on.raw('banned'),
          await on.raw('dave'),
        ];
        const bob = await on.agent('hermes-of-bob');
        const gone = [left, kicked, banned];
        const room = await introduceByHand(
          alice,
          [...gone, bob, dave].map((who) => [who, 'somebody']),
        );
        for (const who of gone) await who.join(room);
        await left.leave(room);
        await alice.kick(room, kicked.userId);
        await alice.ban(room, banned.userId);
        await bob.prefetch();
        const peers = await peersOf(bob);
        assert.deepEqual(
          peers.map(({ id, status }) => [id, status]),
          [[opaque(dave), 'invited']],
        );
        await dave.join(room);
        await bob.prefetch();
        assert.equal((await infoOf(bob, opaque(dave))).status, 'active');
      }),
    );

    verifies(
      'R4.32',
      'B9: a room with more than one other gives no peer, and nothing can be sent there',
      stage(async (on) => {
        const alice = await on.raw('hermes-of-alice');
        const carol = await on.raw('hermes-of-carol');
        const dave = await on.raw('hermes-of-dave');
        const bob = await on.agent('hermes-of-bob');
        const room = await introduceByHand(alice, [
          [bob, 'Bob'],
          [carol, 'Carol'],
          [dave, 'Dave'],
        ]);
        await carol.join(room);
        await dave.join(room);
        await bob.prefetch();
        assert.deepEqual(await namesOf(bob), []);
        const before = (await timeline(alice, room)).length;
        await refuses(bob, ['hivemind_send_to_peer', { peer: localpart(carol.userId), message: 'hello' }]);
        assert.ok(
          (await timeline(alice, room)).every(({ type, sender }) => type !== 'm.room.message' || sender !== bob.userId),
        );
        assert.ok(before > 0);
      }),
    );

    verifies(
      ['R4.32', 'R4.35'],
      'B17: a room of two gives the one who made contact',
      stage(async (on) => {
        const dave = await on.raw('hermes-of-dave');
        const bob = await on.agent('hermes-of-bob');
        await dave.createRoom({ preset: 'private_chat', invite: [bob.userId] });
        await bob.prefetch();
        const [peer] = await peersOf(bob);
        assert.deepEqual(
          [peer?.id, peer?.introduced_by, peer?.status],
          [opaque(dave), 'nobody: it made contact', 'active'],
        );
      }),
    );

    verifies(
      ['R4.35', 'R4.3'],
      'B18: rooms of versions 1, 6, 10, 11 and 12 name their introducer',
      stage(async (on) => {
        const alice = await on.raw('hermes-of-alice');
        const bob = await on.agent('hermes-of-bob');
        const expected: string[] = [];
        for (const roomVersion of ['1', '6', '10', '11', '12']) {
          const peer = await on.raw(`version-${roomVersion}`);
          const room = await introduceByHand(
            alice,
            [
              [bob, 'Bob'],
              [peer, `of version ${roomVersion}`],
            ],
            { roomVersion },
          );
          await peer.join(room);
          expected.push(opaque(peer));
        }
        await bob.prefetch();
        const peers = await peersOf(bob);
        assert.deepEqual(peers.map(({ id }) => id).sort(), expected.sort());
        for (const peer of peers) {
          assert.equal(peer.introduced_by, localpart(alice.userId));
          assert.match(peer.context, /^of version \d+$/);
          await send(bob, peer.id, 'hello');
        }
      }),
    );

    verifies(
      ['R4.51', 'R4.52'],
      'multiple_introductions and prefetch_idempotent: in order of introduction, each peer once, from two rooms too',
      stage(async (on) => {
        const { alice, bob, carol } = await bobIntroduced(on);
        // Of introductions that arrive in one turn the server's order decides which was first; these come one after the other.
        await bob.prefetch();
        const dave = await on.raw('hermes-of-dave');
        const second = await introduceByHand(alice, [
          [dave, 'Dave'],
          [bob, 'Bob'],
        ]);
        await dave.join(second);
        const again = await introduceByHand(alice, [
          [bob, 'Bob'],
          [carol, 'Carol again'],
        ]);
        await carol.join(again);
        for (let turn = 0; turn < 3; turn++) await bob.prefetch();
        const ids = [opaque(carol), opaque(dave)];
        assert.deepEqual((await peersOf(bob)).map(({ id }) => id).sort(), [...ids].sort());
        assert.deepEqual(
          bob.transport.peers().map(({ peer }) => peer.id),
          ids,
        );
        assert.equal((await infoOf(bob, opaque(carol))).context, OF_CAROL);
      }),
    );
    ofThoseWhoLeave(stage);
  });
}

function ofThoseWhoLeave(stage: Rows['stage']): void {
  verifies(
    ['R4.65', 'R4.32', 'R4.56'],
    'a peer that leaves is left, is not written to, and nobody takes its place',
    stage(async (on) => {
      const { alice, bob, carol, room } = await bobIntroduced(on);
      const mallory = await on.raw('hermes-of-mallory');
      await bob.prefetch();
      await carol.leave(room);
      await alice.invite(room, mallory.userId);
      await mallory.join(room);
      await alice.say(room, `About ${mallory.userId}: Mallory is Carol now.`);
      await bob.prefetch();
      assert.deepEqual(
        (await peersOf(bob)).map(({ id, status, context }) => [id, status, context]),
        [[opaque(carol), 'left', OF_CAROL]],
      );
      await refuses(bob, ['hivemind_send_to_peer', { peer: opaque(carol), message: 'for Carol alone' }]);
      await refuses(bob, ['hivemind_send_to_peer', { peer: opaque(mallory), message: 'for Carol alone' }]);
      const again = await on.restart(bob);
      await again.prefetch();
      assert.deepEqual(
        (await peersOf(again)).map(({ id, status }) => [id, status]),
        [[opaque(carol), 'left']],
      );
      const heard = (await timeline(mallory, room)).filter(({ sender }) => sender === bob.userId);
      assert.ok(
        heard.every(({ type }) => type === 'm.room.member'),
        JSON.stringify(heard),
      );
    }),
  );

  verifies(
    ['R4.65', 'R4.32'],
    'a peer that comes back is active again',
    stage(async (on) => {
      const { alice, bob, carol, room } = await bobIntroduced(on);
      await bob.prefetch();
      await carol.leave(room);
      await bob.prefetch();
      assert.equal((await infoOf(bob, opaque(carol))).status, 'left');
      await alice.invite(room, carol.userId);
      await carol.join(room);
      await bob.prefetch();
      assert.equal((await infoOf(bob, opaque(carol))).status, 'active');
      await send(bob, opaque(carol), 'welcome back');
      assert.ok((await carol.texts(room)).includes('welcome back'));
    }),
  );

  verifies(
    ['R4.32', 'R4.65'],
    'peers of one room go when I am thrown out of it: nothing is sent there',
    stage(async (on) => {
      const { alice, bob, carol, room } = await bobIntroduced(on);
      await bob.prefetch();
      await alice.kick(room, bob.userId);
      await bob.prefetch();
      await assert.rejects(bob.transport.send(opaque(carol), 'hello?', NEVER));
      assert.ok(
        (await timeline(alice, room)).every(({ type, sender }) => type !== 'm.room.message' || sender !== bob.userId),
      );
    }),
  );
}
