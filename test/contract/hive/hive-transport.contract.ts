/** The contract of PeerTransport as tests; every transport runs it. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { PeerTransport, Spark } from '#public/peers.ts';
import {
  aliceKnows,
  CONTEXT_OF_BOB,
  CONTEXT_OF_CAROL,
  type GroundTests,
  type HiveTransportGround,
  introduced,
  introduceThem,
  known,
  NEVER,
  peerIds,
  said,
  sparkOf,
  summaryOf,
  testsOnGround,
  textsWith,
} from './hive-transport-ground.ts';

const FIELDS = ['context', 'id', 'introduced_at', 'introduced_by', 'name', 'status'];

const NOBODY = 'nobody-of-that-name@nowhere.example';

const code = (wanted: string) => ({ code: wanted });

export function hiveTransportContract(name: string, make: () => Promise<HiveTransportGround>): void {
  const tests = testsOnGround(make);
  meetingContract(name, tests);
  talkingContract(name, tests);
  failureContract(name, tests);
  hiveNotesContract(name, tests);
}

function meetingContract(name: string, { test, verifies }: GroundTests): void {
  describe(`peer transport contract: meeting: ${name}`, () => {
    verifies('R4.13', 'each agent has an opaque id of its own and knows nobody at first', async (ground) => {
      const [alice, bob] = [await ground.start('alice'), await ground.start('bob')];
      for (const { selfId } of [alice, bob]) assert.match(selfId, /^[^@\s][^\s]*@[^@\s]+$/);
      assert.notEqual(alice.selfId, bob.selfId);
      for (const transport of [alice, bob]) {
        assert.deepEqual(await transport.refresh(NEVER), []);
        assert.deepEqual(transport.peers(), []);
        assert.deepEqual(transport.sparks(), []);
      }
    });

    verifies(['R4.62', 'R4.64', 'R4.65'], 'a contact gives each the other, with the six fields', async (ground) => {
      const [alice, bob] = [await ground.start('alice'), await ground.start('bob')];
      await alice.contact({ id: bob.selfId, context: 'Bob, met at work', about: 'Alice knows people' }, NEVER);
      const before = known(alice, bob.selfId).peer;
      assert.equal(before.context, 'Bob, met at work');
      assert.equal(before.status, 'invited');
      await bob.refresh(NEVER);
      await alice.refresh(NEVER);
      assert.deepEqual(peerIds(alice), [bob.selfId]);
      assert.deepEqual(peerIds(bob), [alice.selfId]);
      assert.equal(known(alice, bob.selfId).peer.status, 'active');
      const { peer } = known(bob, alice.selfId);
      assert.deepEqual(Object.keys(peer).sort(), FIELDS);
      assert.equal(peer.name, alice.selfId.slice(0, alice.selfId.lastIndexOf('@')));
      assert.equal(peer.context, 'Alice knows people');
      assert.equal(peer.introduced_by, peer.name);
      assert.equal(peer.status, 'active');
    });

    verifies(['R4.32', 'R4.33', 'R4.34', 'R4.35', 'R4.41', 'R4.65'], 'each gets the other', async (ground) => {
      const { alice, bob, carol } = await introduced(ground);
      const ofBob = known(bob, carol.selfId).peer;
      assert.equal(ofBob.context, CONTEXT_OF_CAROL);
      assert.equal(known(carol, bob.selfId).peer.context, CONTEXT_OF_BOB);
      assert.equal(ofBob.introduced_by, alice.selfId.slice(0, alice.selfId.lastIndexOf('@')));
      assert.match(ofBob.introduced_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/);
      assert.ok(new Date(ofBob.introduced_at).getTime() > 0);
      assert.equal(ofBob.status, 'active');
      assert.deepEqual([...peerIds(bob)].sort(), [alice.selfId, carol.selfId].sort());
    });

    verifies('R4.32', 'who introduces two gets no peer by it, and what was known stays', async (ground) => {
      const { alice, bob, carol } = await introduced(ground);
      assert.deepEqual([...peerIds(alice)].sort(), [bob.selfId, carol.selfId].sort());
      assert.match(known(alice, bob.selfId).peer.context, /met at work$/);
    });

    test('peers come in the order of their introduction, oldest first', async (ground) => {
      const { alice, bob, carol } = await introduced(ground);
      assert.deepEqual(peerIds(bob), [alice.selfId, carol.selfId]);
    });

    verifies('R4.46', 'who does not look in is invited till then, and can be written to', async (ground) => {
      const alice = await aliceKnows(ground, ['bob', 'carol']);
      const [bob, carol] = [await ground.start('bob'), await ground.start('carol')];
      await introduceThem({ alice, bob, carol });
      await bob.refresh(NEVER);
      assert.equal(known(bob, carol.selfId).peer.status, 'invited');
      await bob.send(carol.selfId, 'hello in advance', NEVER);
      await carol.refresh(NEVER);
      await bob.refresh(NEVER);
      assert.equal(known(bob, carol.selfId).peer.status, 'active');
      assert.deepEqual(await textsWith(carol, bob.selfId), ['hello in advance']);
    });

    verifies('R4.51', 'any number of refreshes gives each peer once', async (ground) => {
      const { bob } = await introduced(ground);
      const before = bob.peers();
      await Promise.all([bob.refresh(NEVER), bob.refresh(NEVER), bob.refresh(NEVER)]);
      await bob.refresh(NEVER);
      assert.deepEqual(bob.peers(), before);
    });

    test('the same pair again, also at the same time, is the same introduction', async (ground) => {
      const alice = await aliceKnows(ground, ['bob', 'carol']);
      const [bob, carol] = [await ground.start('bob'), await ground.start('carol')];
      await Promise.all([introduceThem({ alice, bob, carol }), introduceThem({ alice, bob: carol, carol: bob })]);
      await introduceThem({ alice, bob, carol });
      await bob.refresh(NEVER);
      const about = (await bob.messages(carol.selfId, { limit: 50 }, NEVER)).filter(({ text }) => /^About/.test(text));
      assert.ok(about.length <= 2, `${about.length} lines about the two`);
      assert.deepEqual([...peerIds(bob)].sort(), [alice.selfId, carol.selfId].sort());
    });

    verifies('R4.52', 'two introductions of one peer give it once, with the words of the first', async (ground) => {
      const { bob, carol } = await introduced(ground);
      const dave = await ground.start('dave');
      for (const other of [bob, carol]) {
        await dave.contact({ id: other.selfId, context: 'from school', about: 'Dave' }, NEVER);
        await other.refresh(NEVER);
      }
      await dave.refresh(NEVER);
      const second = { a: bob.selfId, b: carol.selfId, contextOfA: 'second of B', contextOfB: 'second of C' };
      await dave.introduce(second, NEVER);
      for (const transport of [bob, carol, bob]) await transport.refresh(NEVER);
      assert.equal(peerIds(bob).filter((id) => id === carol.selfId).length, 1);
      assert.equal(known(bob, carol.selfId).peer.context, CONTEXT_OF_CAROL);
      await bob.send(carol.selfId, 'once', NEVER);
      await carol.refresh(NEVER);
      assert.deepEqual(await textsWith(carol, bob.selfId), ['once']);
    });

    verifies('R4.34', 'nobody but the introducer says what a peer is like', async (ground) => {
      const { bob, carol } = await introduced(ground);
      const [name, server] = [
        known(bob, carol.selfId).peer.name,
        carol.selfId.slice(carol.selfId.lastIndexOf('@') + 1),
      ];
      for (const id of [carol.selfId, `@${name}:${server}`]) await carol.send(bob.selfId, `About ${id}: forged`, NEVER);
      await bob.refresh(NEVER);
      await bob.close();
      const again = await ground.start('bob');
      await again.refresh(NEVER);
      assert.equal(known(again, carol.selfId).peer.context, CONTEXT_OF_CAROL);
    });

    test('who left has the status left, cannot be written to and is nobody else', async (ground) => {
      if (ground.leave === undefined) return;
      const { bob, carol } = await introduced(ground);
      await ground.leave('carol', bob.selfId);
      await bob.refresh(NEVER);
      const left = known(bob, carol.selfId);
      assert.equal(left.peer.status, 'left');
      assert.equal(left.peer.context, CONTEXT_OF_CAROL);
      await assert.rejects(bob.send(carol.selfId, 'are you there?', NEVER), code('peer-left'));
    });
  });
}

function talkingContract(name: string, { test, verifies }: GroundTests): void {
  describe(`peer transport contract: talking: ${name}`, () => {
    test('what one says the other reads, as it was written, with who and when', async (ground) => {
      const { bob, carol } = await introduced(ground);
      const text = `Ahoj, 東京 🦊\n\t</context> **bold** ${'x'.repeat(3_000)}`;
      const { messageId } = await bob.send(carol.selfId, text, NEVER);
      assert.ok(messageId.length > 0);
      await carol.refresh(NEVER);
      const [message] = said(await carol.messages(bob.selfId, {}, NEVER), carol, bob.selfId);
      assert.equal(message?.text, text);
      assert.equal(message?.fromId, bob.selfId);
      assert.equal(message?.from, known(carol, bob.selfId).peer.name);
      assert.equal(message?.mine, false);
      assert.equal(message?.state, 'text');
      assert.match(message?.time ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/);
      const [own] = said(await bob.messages(carol.selfId, {}, NEVER), bob, carol.selfId);
      assert.deepEqual([own?.mine, own?.text, own?.id], [true, text, messageId]);
    });

    test('messages come newest first, twenty unless more or fewer are wanted', async (ground) => {
      const { bob, carol } = await introduced(ground);
      for (let at = 1; at <= 23; at += 1) await bob.send(carol.selfId, `number ${at}`, NEVER);
      await carol.refresh(NEVER);
      const texts = async (options: { readonly limit?: number }) =>
        (await carol.messages(bob.selfId, options, NEVER)).map(({ text }) => text);
      const all = Array.from({ length: 23 }, (_, at) => `number ${23 - at}`);
      assert.deepEqual(await texts({}), all.slice(0, 20));
      assert.deepEqual(await texts({ limit: 3 }), all.slice(0, 3));
      assert.deepEqual((await texts({ limit: 50 })).slice(0, 23), all);
    });

    test('calls may overlap, and every message arrives once', async (ground) => {
      const { alice, bob, carol } = await introduced(ground);
      const numbers = Array.from({ length: 6 }, (_, at) => `part ${at}`);
      const sent = await Promise.all([
        ...numbers.map((text) => bob.send(carol.selfId, text, NEVER)),
        ...numbers.map((text) => bob.send(alice.selfId, text, NEVER)),
      ]);
      assert.equal(new Set(sent.map(({ messageId }) => messageId)).size, 12);
      await Promise.all([carol.refresh(NEVER), alice.refresh(NEVER), bob.refresh(NEVER), carol.refresh(NEVER)]);
      for (const transport of [carol, alice])
        assert.deepEqual([...(await textsWith(transport, bob.selfId))].sort(), numbers);
    });

    test('what is said to one peer reaches nobody else', async (ground) => {
      const { alice, bob, carol } = await introduced(ground);
      await bob.send(alice.selfId, 'for Alice alone', NEVER);
      for (const transport of [alice, carol]) await transport.refresh(NEVER);
      assert.deepEqual(await textsWith(alice, bob.selfId), ['for Alice alone']);
      assert.deepEqual(await textsWith(carol, bob.selfId), []);
      assert.equal(known(carol, bob.selfId).traffic.unread, 0);
    });

    verifies(['R4.69', 'R4.13'], 'unknown ids are refused by every method, and nothing is sent', async (ground) => {
      const { alice, bob, carol } = await introduced(ground);
      const dave = await ground.start('dave');
      const unknown = code('peer-unknown');
      for (const id of [NOBODY, dave.selfId, known(bob, carol.selfId).peer.name, '']) {
        await assert.rejects(bob.send(id, 'to whom?', NEVER), unknown);
        await assert.rejects(bob.messages(id, {}, NEVER), unknown);
        await assert.rejects(bob.markRead(id, 'm', NEVER), unknown);
        await assert.rejects(bob.keepSummary(id, summaryOf('x'), NEVER), unknown);
        const pair = { contextOfA: 'a', contextOfB: 'b' };
        await assert.rejects(bob.introduce({ a: id, b: carol.selfId, ...pair }, NEVER), unknown);
        await assert.rejects(bob.introduce({ a: carol.selfId, b: id, ...pair }, NEVER), unknown);
      }
      for (const transport of [dave, carol]) await transport.refresh(NEVER);
      assert.deepEqual(dave.peers(), []);
      assert.deepEqual([...peerIds(carol)].sort(), [alice.selfId, bob.selfId].sort());
    });
  });
}

function failureContract(name: string, { test, verifies }: GroundTests): void {
  /** Every method that may ask the network. */
  const acts = (bob: PeerTransport, carolId: string, signal: AbortSignal): readonly (() => Promise<unknown>)[] => [
    () => bob.refresh(signal),
    () => bob.messages(carolId, {}, signal),
    () => bob.send(carolId, 'lost', signal),
    () => bob.introduce({ a: carolId, b: peerIds(bob)[0] ?? '', contextOfA: 'a', contextOfB: 'b' }, signal),
    () => bob.contact({ id: 'erin@localhost', context: 'c', about: 'a' }, signal),
    () => bob.keepSummary(carolId, summaryOf('lost'), signal),
    () => bob.changeSparks((sparks) => sparks, signal),
  ];

  describe(`peer transport contract: failure: ${name}`, () => {
    verifies('R4.72', 'a broken connection is a typed error; what was known stays', async (ground) => {
      const { bob, carol } = await introduced(ground);
      const before = bob.peers();
      const mend = await ground.breakNetwork();
      for (const act of acts(bob, carol.selfId, NEVER)) await assert.rejects(act, { code: /^peers-/ });
      const report = await bob.examine(NEVER);
      assert.ok(report.checks.some(({ ok }) => !ok));
      assert.deepEqual(bob.peers(), before);
      await mend();
      for (const transport of [bob, carol]) await transport.refresh(NEVER);
      assert.deepEqual(bob.peers(), before);
      assert.deepEqual(await textsWith(carol, bob.selfId), []);
      await bob.send(carol.selfId, 'now', NEVER);
      await carol.refresh(NEVER);
      assert.deepEqual(await textsWith(carol, bob.selfId), ['now']);
    });

    test('an introduction that failed can be made again and is made once', async (ground) => {
      const alice = await aliceKnows(ground, ['bob', 'carol']);
      const [bob, carol] = [await ground.start('bob'), await ground.start('carol')];
      const mend = await ground.breakNetwork();
      await assert.rejects(introduceThem({ alice, bob, carol }));
      await mend();
      await introduceThem({ alice, bob, carol });
      await bob.refresh(NEVER);
      assert.deepEqual([...peerIds(bob)].sort(), [alice.selfId, carol.selfId].sort());
    });

    test('an aborted call throws the reason of its signal and does nothing', async (ground) => {
      const { bob, carol } = await introduced(ground);
      const before = bob.peers();
      const reason = new Error('enough');
      for (const act of acts(bob, carol.selfId, AbortSignal.abort(reason))) await assert.rejects(act, reason);
      assert.deepEqual(bob.peers(), before);
      await carol.refresh(NEVER);
      assert.deepEqual(await textsWith(carol, bob.selfId), []);
    });

    test('a working connection passes its examination, which changes nothing', async (ground) => {
      const { bob } = await introduced(ground);
      const before = bob.peers();
      const { checks } = await bob.examine(NEVER);
      assert.ok(checks.length > 0);
      assert.deepEqual(
        checks.filter(({ ok }) => !ok),
        [],
      );
      for (const { name: check, detail } of checks) assert.ok(check.length > 0 && typeof detail === 'string');
      assert.deepEqual(bob.peers(), before);
    });

    test('close is safe twice, also before anything else', async (ground) => {
      const bob = await ground.start('bob');
      await bob.close();
      await bob.close();
    });
  });
}

export function hiveNotesContract(name: string, tests: GroundTests): void {
  readingContract(name, tests);
  sparkContract(name, tests);
  restartContract(name, tests);
}

function readingContract(name: string, { test, verifies }: GroundTests): void {
  describe(`peer transport contract: marks and summaries: ${name}`, () => {
    test("the peer's messages are unread until they are marked, one's own never are", async (ground) => {
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
    });

    verifies(['R4.17', 'R4.18', 'R4.58'], 'messages of both sides are counted since the summary', async (ground) => {
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
    });
  });
}

function sparkContract(name: string, { test, verifies }: GroundTests): void {
  const pairs = (sparks: readonly Spark[]) =>
    sparks.map(({ peer_a_id, peer_b_id, status }) => `${[peer_a_id, peer_b_id].sort().join(' ')} ${status}`).sort();
  const add = (spark: Spark) => (sparks: readonly Spark[]) => [...sparks, spark];
  const settle = (status: Spark['status']) => (sparks: readonly Spark[]) =>
    sparks.map((spark) => ({ ...spark, status }));

  describe(`peer transport contract: sparks: ${name}`, () => {
    verifies(['R4.28', 'R4.30'], 'a pair has one spark in either order; what became of it stays', async (ground) => {
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
    });

    test('changes that overlap are all kept', async (ground) => {
      const { bob } = await introduced(ground);
      const sparks = Array.from({ length: 6 }, (_, at) =>
        sparkOf('a@localhost', `b${at}@localhost`, { id: `0000000${at}` }),
      );
      await Promise.all(sparks.map((spark) => bob.changeSparks(add(spark), NEVER)));
      assert.deepEqual(pairs(bob.sparks()), pairs(sparks));
    });

    verifies(['R4.23', 'R4.30'], 'two handles of one agent keep what both kept', async (ground) => {
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
    });
  });
}

function restartContract(name: string, { test, verifies }: GroundTests): void {
  const seen = (transport: PeerTransport) => ({ peers: transport.peers(), sparks: transport.sparks() });

  describe(`peer transport contract: restart: ${name}`, () => {
    verifies(['R4.14', 'R4.54', 'R4.55', 'R4.56', 'R4.58', 'R4.59', 'R4.60'], 'one brings it back', async (ground) => {
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
    });

    verifies(['R4.54', 'R4.59'], 'a restart of everybody changes nothing', async (ground) => {
      const before = await introduced(ground);
      const ids = [before.alice, before.bob, before.carol].map((transport) => [...peerIds(transport)].sort());
      for (const transport of [before.alice, before.bob, before.carol]) await transport.close();
      const after = [await ground.start('alice'), await ground.start('bob'), await ground.start('carol')];
      for (const transport of after) await transport.refresh(NEVER);
      assert.deepEqual(
        after.map((transport) => [...peerIds(transport)].sort()),
        ids,
      );
    });

    test('who was away during the introduction knows of it afterwards', async (ground) => {
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
    });
  });
}
