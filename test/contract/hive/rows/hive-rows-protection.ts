/** What is meant for one peer reaches that one alone, in the form that was promised (R4.32, R4.36, R4.74 to R4.76). */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../../../verifies.ts';
import { infoOf, namesOf, send, talkOf } from '../agent/hive-answers.ts';
import {
  acquainted,
  allIntroduced,
  bobIntroduced,
  ENCRYPTED,
  NEVER,
  OF_BOB,
  OF_CAROL,
  opaque,
  timeline,
} from '../agent/hive-scenes.ts';
import { hasty, type Rows } from '../agent/hive-stage.ts';
import { roomPath } from '../hive-raw-client.ts';

export function rowsOfProtection(rows: Rows): void {
  describe(`protection: ${rows.title}`, () => {
    ofListeners(rows);
    if (rows.ground.isFake) ofBrokenIntroductions(rows);
    ofDowngrades(rows);
    if (rows.mode.e2ee) ofDevices(rows);
  });
}

function ofListeners({ stage }: Rows): void {
  verifies(
    ['R4.32', 'R4.71'],
    'B9: once a third one is in the room, nothing more is said there that was meant for one',
    stage(async (on) => {
      const { alice, bob, carol, room } = await bobIntroduced(on);
      await bob.prefetch();
      await send(bob, opaque(carol), 'for Carol alone');
      const mallory = await on.raw('hermes-of-mallory');
      await alice.invite(room, mallory.userId);
      await mallory.join(room);
      await bob.prefetch();
      const answer = await bob.call('hivemind_send_to_peer', {
        peer: opaque(carol),
        message: 'nobody else may read this',
      });
      const heard = (await timeline(mallory, room)).filter(
        ({ sender, type }) => sender === bob.userId && type !== 'm.room.member',
      );
      const texts = heard.map(({ content }) => content.body);
      assert.ok(!texts.includes('nobody else may read this'), `Mallory reads it; the tool said ${answer.text}`);
      assert.ok(!(await namesOf(bob)).some((name) => name.includes('mallory')));
    }),
  );

  verifies(
    ['R4.32', 'R4.35'],
    'in a room of two, a third one that comes later hears nothing, and is no peer',
    stage(async (on) => {
      const dave = await on.raw('hermes-of-dave');
      const bob = await on.agent('hermes-of-bob');
      const room = await dave.createRoom({ preset: 'private_chat', invite: [bob.userId] });
      await bob.prefetch();
      const mallory = await on.raw('hermes-of-mallory');
      await dave.invite(room, mallory.userId);
      await mallory.join(room);
      await bob.prefetch();
      await bob.call('hivemind_send_to_peer', { peer: opaque(dave), message: 'for Dave alone' });
      assert.ok(!(await mallory.texts(room)).includes('for Dave alone'));
      await bob.call('hivemind_send_to_peer', { peer: opaque(mallory), message: 'for Mallory' });
      assert.ok(!(await dave.texts(room)).includes('for Mallory'));
    }),
  );
}

function ofBrokenIntroductions({ stage }: Rows): void {
  const faults = { 'lost-answer': [1, 3, 5], reset: [2, 4] } as const;
  for (const type of ['lost-answer', 'reset'] as const)
    for (const nth of faults[type])
      verifies(
        ['R4.41', 'R4.72', 'R4.42'],
        `an introduction whose request ${nth} breaks (${type}), said again: both know each other in the right words, no line stands twice`,
        stage(async (on) => {
          const account = await on.server.register('hermes-of-alice');
          const alice = await on.open(account, { clock: hasty(10) });
          const { bob, carol } = await acquainted(on, alice, { bob: OF_BOB, carol: OF_CAROL });
          let count = 0;
          const heal = on.wire.fail(
            ({ method, headers }) =>
              method !== 'GET' &&
              headers.authorization === `Bearer ${account.accessToken}` &&
              ++count >= nth &&
              count < nth + 6,
            { type },
            Number.POSITIVE_INFINITY,
          );
          const args = { peer_a: bob.name, peer_b: carol.name, reason: 'they get on' };
          await alice.call('hivemind_introduce_peers', args);
          heal();
          const again = await alice.call('hivemind_introduce_peers', args);
          assert.equal(again.isError, false, again.text);
          for (const agent of [bob, carol, bob, carol, alice, bob, carol]) await agent.prefetch();
          for (const [agent, other, context] of [
            [bob, carol, OF_CAROL],
            [carol, bob, OF_BOB],
          ] as const) {
            assert.equal((await infoOf(agent, other.name)).context, context);
            const said = (await agent.transport.messages(other.id, { limit: 50 }, NEVER)).map(({ text }) => text);
            assert.equal(new Set(said).size, said.length, said.join(' | '));
          }
          await send(bob, carol.name, 'hello');
          await carol.prefetch();
          assert.equal((await talkOf(carol, bob.name))[0], 'hello');
        }),
      );
}

function ofDowngrades({ stage, mode, ground }: Rows): void {
  verifies(
    ['R4.74', 'R4.36'],
    'a room that becomes encrypted gets nothing in clear any more',
    stage(async (on) => {
      const { alice, bob, carol, room } = await bobIntroduced(on);
      await bob.prefetch();
      await alice.call('PUT', `${roomPath(room)}/state/m.room.encryption/`, ENCRYPTED.content);
      await bob.prefetch();
      const answer = await bob.call('hivemind_send_to_peer', { peer: opaque(carol), message: 'in clear?' });
      assert.equal(answer.isError, !mode.e2ee, answer.text);
      assert.ok(!(await carol.texts(room)).includes('in clear?'));
    }),
  );

  if (ground.isFake)
    verifies(
      ['R4.74', 'R4.72'],
      'a text that did not get through before its room was encrypted does not go in clear when it is said again',
      stage(async (on) => {
        const { alice, bob: first, carol, room } = await bobIntroduced(on);
        const bob = await on.restart(first, { clock: hasty(10) });
        await bob.prefetch();
        const heal = on.wire.fail(
          ({ path }) => path.includes('/send/m.room.message/'),
          { type: 'reset' },
          Number.POSITIVE_INFINITY,
        );
        assert.equal(
          (await bob.call('hivemind_send_to_peer', { peer: opaque(carol), message: 'again' })).isError,
          true,
        );
        heal();
        await alice.call('PUT', `${roomPath(room)}/state/m.room.encryption/`, ENCRYPTED.content);
        await bob.prefetch();
        const answer = await bob.call('hivemind_send_to_peer', { peer: opaque(carol), message: 'again' });
        assert.ok(!(await carol.texts(room)).includes('again'), answer.text);
      }),
    );

  for (const content of [{}, { algorithm: 'org.example.clear' }, { algorithm: 7 }])
    verifies(
      ['R4.74', 'R4.72'],
      `once encrypted, always: a later setting ${JSON.stringify(content)} does not make it clear, after a restart neither`,
      stage(async (on) => {
        const { alice, bob, carol, room } = await bobIntroduced(on, { encrypted: true });
        await bob.prefetch();
        await alice.call('PUT', `${roomPath(room)}/state/m.room.encryption/`, content);
        await bob.prefetch();
        await bob.call('hivemind_send_to_peer', { peer: opaque(carol), message: 'in clear?' });
        const again = await on.restart(bob);
        await again.prefetch();
        await again.call('hivemind_send_to_peer', { peer: opaque(carol), message: 'in clear?' });
        assert.ok(!(await carol.texts(room)).includes('in clear?'));
      }),
    );
}

function ofDevices({ stage, ground }: Rows): void {
  verifies(
    ['R4.75', 'R4.36'],
    'after many restarts somebody new can still write to the same device, and is read',
    stage(async (on) => {
      const alice = await on.agent('hermes-of-alice');
      const friends = await acquainted(on, alice, { bob: OF_BOB, carol: OF_CAROL });
      let { bob } = friends;
      for (let i = 0; i < 4; i++) {
        if (i % 2 === 0) await bob.close();
        bob = await on.restart(bob);
        await bob.prefetch();
      }
      await alice.call('hivemind_introduce_peers', { peer_a: bob.name, peer_b: friends.carol.name });
      for (const agent of [bob, friends.carol, bob]) await agent.prefetch();
      await send(friends.carol, bob.name, 'to the old device');
      await bob.prefetch();
      assert.deepEqual(await talkOf(bob, friends.carol.name), ['to the old device']);
    }),
  );

  verifies(
    ['R4.76', 'R4.75', 'R4.36'],
    'a second device of a peer reads what is said from its sign-in on; the first goes on reading',
    stage(async (on) => {
      const { bob, carol } = await allIntroduced(on);
      await send(bob, carol.name, 'before');
      const second = await on.open(await on.server.signIn(carol.account));
      await second.prefetch();
      await bob.prefetch();
      await send(bob, carol.name, 'to both');
      for (const device of [carol, second]) {
        await device.prefetch();
        assert.equal((await talkOf(device, bob.name))[0], 'to both');
      }
      const old = await second.transport.messages(bob.id, {}, NEVER);
      assert.ok(old.some(({ state }) => state === 'unreadable'));
    }),
  );

  if (!ground.isFake) return;
  verifies(
    ['R4.74', 'R4.36'],
    'a device list that cannot be read holds the message back; it is not sent for some and lost for others',
    stage(async (on) => {
      const { bob, carol } = await allIntroduced(on);
      const second = await on.open(await on.server.signIn(carol.account));
      await second.prefetch();
      const heal = on.wire.fail(
        ({ path, headers }) =>
          path.endsWith('/keys/query') && headers.authorization === `Bearer ${bob.account.accessToken}`,
        { type: 'status', status: 403, body: '{"errcode":"M_FORBIDDEN","error":"no"}' },
        Number.POSITIVE_INFINITY,
      );
      await bob.prefetch().catch(() => '');
      await bob.call('hivemind_send_to_peer', { peer: carol.name, message: 'first try' });
      heal();
      await bob.prefetch();
      await send(bob, carol.name, 'second try');
      for (const device of [carol, second]) {
        await device.prefetch();
        assert.equal((await talkOf(device, bob.name))[0], 'second try');
      }
    }),
  );
}
