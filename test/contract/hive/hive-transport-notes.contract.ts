/** The contract of PeerTransport, second part: what an agent keeps about its peers, and what survives a restart. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Spark } from '#extensions/hive/peers/peer.ts';
import type { PeerTransport } from '#extensions/hive/peers/peer-transport.ts';
import { verifies } from '../../verifies.ts';
import {
  introduced,
  known,
  NEVER,
  peerIds,
  said,
  sparkOf,
  summaryOf,
  textsWith,
  type Using,
} from './hive-transport-ground.ts';

export function hiveNotesContract(name: string, using: Using): void {
  readingContract(name, using);
  sparkContract(name, using);
  restartContract(name, using);
}

function readingContract(name: string, using: Using): void {
  describe(`peer transport contract: marks and summaries: ${name}`, () => {
    test("the peer's messages are unread until they are marked, one's own never are", () =>
      using(async (ground) => {
        const { bob, carol } = await introduced(ground);
        assert.deepEqual([known(carol, bob.selfId).traffic.unread, known(bob, carol.selfId).traffic.unread], [0, 0]);
        for (const text of ['one', 'two', 'three']) await bob.send(carol.selfId, text, NEVER);
        for (const transport of [bob, carol]) await transport.refresh(NEVER);
        assert.equal(known(bob, carol.selfId).traffic.unread, 0);
        const { unread, atLeast, lastAt } = known(carol, bob.selfId).traffic;
        assert.deepEqual([unread, atLeast], [3, false]);
        const [three, two, one] = said(await carol.messages(bob.selfId, {}, NEVER), carol, bob.selfId);
        assert.equal(new Date(lastAt).toISOString(), new Date(three?.time ?? '').toISOString());
        await carol.markRead(bob.selfId, two?.id ?? '', NEVER);
        assert.equal(known(carol, bob.selfId).traffic.unread, 1);
        await carol.markRead(bob.selfId, one?.id ?? '', NEVER);
        assert.equal(known(carol, bob.selfId).traffic.unread, 1);
        await carol.markRead(bob.selfId, three?.id ?? '', NEVER);
        assert.equal(known(carol, bob.selfId).traffic.unread, 0);
        await carol.send(bob.selfId, 'answer', NEVER);
        await carol.refresh(NEVER);
        assert.equal(known(carol, bob.selfId).traffic.unread, 0);
      }));

    verifies(
      ['R4.17', 'R4.18', 'R4.58'],
      'messages of both sides are counted since the summary, and a summary is kept',
      () =>
        using(async (ground) => {
          const { bob, carol } = await introduced(ground);
          assert.equal(known(bob, carol.selfId).summary, undefined);
          const sent = [];
          for (const text of ['one', 'two', 'three']) sent.push((await bob.send(carol.selfId, text, NEVER)).messageId);
          await carol.send(bob.selfId, 'four', NEVER);
          await bob.refresh(NEVER);
          assert.equal(known(bob, carol.selfId).traffic.sinceSummary, 4);
          const summary = summaryOf('hermes', { last_message_id: sent[2] ?? '', message_count_at_update: 3 });
          await bob.keepSummary(carol.selfId, summary, NEVER);
          assert.deepEqual(known(bob, carol.selfId).summary, summary);
          assert.equal(known(bob, carol.selfId).traffic.sinceSummary, 1);
          await carol.send(bob.selfId, 'five', NEVER);
          await bob.refresh(NEVER);
          assert.deepEqual(known(bob, carol.selfId).summary, summary);
          assert.equal(known(bob, carol.selfId).traffic.sinceSummary, 2);
          assert.equal(known(carol, bob.selfId).summary, undefined);
        }),
    );
  });
}

function sparkContract(name: string, using: Using): void {
  const pairs = (sparks: readonly Spark[]) =>
    sparks.map(({ peer_a_id, peer_b_id, status }) => `${[peer_a_id, peer_b_id].sort().join(' ')} ${status}`).sort();
  const add = (spark: Spark) => (sparks: readonly Spark[]) => [...sparks, spark];
  const settle = (status: Spark['status']) => (sparks: readonly Spark[]) =>
    sparks.map((spark) => ({ ...spark, status }));

  describe(`peer transport contract: sparks: ${name}`, () => {
    verifies(['R4.28', 'R4.30'], 'a pair has one spark in either order, and what became of it stays', () =>
      using(async (ground) => {
        const { bob, carol, alice } = await introduced(ground);
        const first = sparkOf(alice.selfId, carol.selfId, { id: '00000001' });
        assert.deepEqual(await bob.changeSparks(add(first), NEVER), [first]);
        const turned = sparkOf(carol.selfId, alice.selfId, { id: '00000002' });
        assert.deepEqual(await bob.changeSparks(add(turned), NEVER), [first]);
        const [dismissed] = await bob.changeSparks(settle('dismissed'), NEVER);
        assert.deepEqual(dismissed, { ...first, status: 'dismissed' });
        assert.deepEqual(await bob.changeSparks(settle('pending'), NEVER), [dismissed]);
        assert.deepEqual(await bob.changeSparks(() => [], NEVER), [dismissed]);
        assert.deepEqual(bob.sparks(), [dismissed]);
        assert.deepEqual(carol.sparks(), []);
      }),
    );

    test('changes that overlap are all kept', () =>
      using(async (ground) => {
        const { bob } = await introduced(ground);
        const sparks = Array.from({ length: 6 }, (_, at) =>
          sparkOf('a@localhost', `b${at}@localhost`, { id: `0000000${at}` }),
        );
        await Promise.all(sparks.map((spark) => bob.changeSparks(add(spark), NEVER)));
        assert.deepEqual(pairs(bob.sparks()), pairs(sparks));
      }));

    verifies(['R4.23', 'R4.30'], 'two handles of one agent keep what both kept', () =>
      using(async (ground) => {
        const { bob } = await introduced(ground);
        const twin = await ground.start('bob');
        await twin.refresh(NEVER);
        const [one, two] = [sparkOf('a@localhost', 'b@localhost'), sparkOf('a@localhost', 'c@localhost')];
        await bob.changeSparks(add(one), NEVER);
        assert.deepEqual(pairs(await twin.changeSparks(add(two), NEVER)), pairs([one, two]));
        await twin.changeSparks(settle('dismissed'), NEVER);
        await bob.changeSparks(settle('pending'), NEVER);
        await bob.refresh(NEVER);
        const dismissed = [one, two].map((spark) => ({ ...spark, status: 'dismissed' as const }));
        assert.deepEqual(pairs(bob.sparks()), pairs(dismissed));
        await Promise.all(
          [bob, twin].map((handle, at) => handle.changeSparks(add(sparkOf('a@localhost', `d${at}@localhost`)), NEVER)),
        );
        await bob.refresh(NEVER);
        assert.equal(bob.sparks().length, 4);
      }),
    );
  });
}

function restartContract(name: string, using: Using): void {
  const seen = (transport: PeerTransport) => ({ peers: transport.peers(), sparks: transport.sparks() });

  describe(`peer transport contract: restart: ${name}`, () => {
    verifies(
      ['R4.14', 'R4.54', 'R4.55', 'R4.56', 'R4.58', 'R4.59', 'R4.60'],
      'one refresh after a restart brings everything back',
      () =>
        using(async (ground) => {
          const { alice, bob, carol } = await introduced(ground);
          await carol.send(bob.selfId, 'read', NEVER);
          await carol.send(bob.selfId, 'unread', NEVER);
          await bob.refresh(NEVER);
          const messages = await bob.messages(carol.selfId, {}, NEVER);
          await bob.markRead(carol.selfId, messages.find(({ text }) => text === 'read')?.id ?? '', NEVER);
          await bob.keepSummary(carol.selfId, summaryOf('carol', { last_message_id: messages[0]?.id ?? '' }), NEVER);
          await bob.changeSparks(() => [sparkOf(alice.selfId, carol.selfId, { status: 'dismissed' })], NEVER);
          await bob.refresh(NEVER);
          const before = seen(bob);
          await bob.close();
          const again = await ground.start('bob');
          assert.equal(again.selfId, bob.selfId);
          await again.refresh(NEVER);
          assert.deepEqual(seen(again), before);
          assert.equal(known(again, carol.selfId).traffic.unread, 1);
          assert.deepEqual(await textsWith(again, carol.selfId), ['unread', 'read']);
          await again.send(carol.selfId, 'back again', NEVER);
          await carol.refresh(NEVER);
          assert.equal((await textsWith(carol, bob.selfId))[0], 'back again');
        }),
    );

    verifies(['R4.54', 'R4.59'], 'a restart of everybody changes nothing', () =>
      using(async (ground) => {
        const before = await introduced(ground);
        const ids = [before.alice, before.bob, before.carol].map((transport) => [...peerIds(transport)].sort());
        for (const transport of [before.alice, before.bob, before.carol]) await transport.close();
        const after = [await ground.start('alice'), await ground.start('bob'), await ground.start('carol')];
        for (const transport of after) await transport.refresh(NEVER);
        assert.deepEqual(
          after.map((transport) => [...peerIds(transport)].sort()),
          ids,
        );
      }),
    );

    test('who was away during the introduction knows of it afterwards', () =>
      using(async (ground) => {
        const { alice, bob, carol } = await introduced(ground);
        const dave = await ground.start('dave');
        await alice.contact({ id: dave.selfId, context: 'Dave', about: 'Alice' }, NEVER);
        await dave.refresh(NEVER);
        await dave.close();
        await alice.refresh(NEVER);
        await alice.introduce(
          { a: dave.selfId, b: carol.selfId, contextOfA: 'Dave digs', contextOfB: 'Carol audits' },
          NEVER,
        );
        const back = await ground.start('dave');
        await back.refresh(NEVER);
        assert.equal(known(back, carol.selfId).peer.context, 'Carol audits');
        assert.ok(!peerIds(back).includes(bob.selfId));
      }));
  });
}
