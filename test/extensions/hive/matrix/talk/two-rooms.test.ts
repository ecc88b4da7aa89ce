/** A peer that is met in several rooms, and rooms in which others come to read along. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { errorCode } from '#base/errors.ts';
import type { PeerTransport } from '#extensions/hive/peers/peer-transport.ts';
import { type FakeServer, startFake } from '../../../../contract/hive/hive-fake-server.ts';
import type { TestAccount } from '../../../../contract/hive/hive-homeserver.ts';
import { verifies } from '../../../../verifies.ts';
import { hastyClock } from '../hive-hasty-clock.ts';
import { transportFor } from '../hive-matrix-ground.ts';

const NEVER = new AbortController().signal;
const CAROL = 'carol@localhost';

interface Scene {
  readonly server: FakeServer;
  readonly bob: PeerTransport;
  readonly account: TestAccount;
  readonly room: (creator: string, encrypted?: boolean) => string;
}

async function inScene(body: (scene: Scene) => Promise<void>): Promise<void> {
  let now = systemClock.now();
  // No two rooms are of the same millisecond.
  const server = await startFake({ clock: { ...systemClock, now: () => ++now } });
  try {
    const [account, carol] = [await server.register('bob'), await server.register('carol')];
    for (const name of ['alice', 'dave', 'eve']) await server.register(name);
    const room = (name: string, encrypted = false) => {
      const creator = `@${name}:localhost`;
      const messages = [`About ${carol.userId}: in the words of ${name}`];
      return server.doors.addRoom({ creator, join: [account.userId, carol.userId], messages, encrypted });
    };
    await body({ server, account, room, bob: transportFor(server, account, { clock: hastyClock }) });
  } finally {
    await server.stop();
  }
}

const said = (server: FakeServer, room: string, sender: string) =>
  (server.doors.timeline(room) as readonly Record<string, unknown>[])
    .filter((event) => event.type === 'm.room.message' && event.sender === sender)
    .map(({ content }) => (content as { body?: unknown }).body);

const carolSays = ({ server }: Scene, room: string, body: string) =>
  server.doors.inject(room, {
    type: 'm.room.message',
    sender: '@carol:localhost',
    content: { msgtype: 'm.text', body },
  });

describe('a peer in several rooms', () => {
  verifies(['R4.52', 'R4.37'], 'what it says in any of them is read and counted; what we say goes to the oldest', () =>
    inScene(async (scene) => {
      const [one, two] = [scene.room('alice'), scene.room('dave')];
      await scene.bob.refresh(NEVER);
      assert.deepEqual(
        scene.bob.peers().map(({ peer }) => [peer.id, peer.introduced_by, peer.context]),
        [[CAROL, 'alice', 'in the words of alice']],
      );
      carolSays(scene, one, 'here');
      carolSays(scene, two, 'and there');
      await scene.bob.refresh(NEVER);
      assert.equal(scene.bob.peers()[0]?.traffic.unread, 2);
      const texts = (await scene.bob.messages(CAROL, {}, NEVER)).filter(({ fromId }) => fromId === CAROL);
      assert.deepEqual(new Set(texts.map(({ text }) => text)), new Set(['here', 'and there']));
      await scene.bob.markRead(CAROL, texts[0]?.id ?? '', NEVER);
      assert.equal(scene.bob.peers()[0]?.traffic.unread, 0);
      await scene.bob.send(CAROL, 'answer', NEVER);
      assert.deepEqual(said(scene.server, one, '@bob:localhost'), ['answer']);
      assert.deepEqual(said(scene.server, two, '@bob:localhost'), []);
    }),
  );

  verifies(['R4.52', 'R4.74'], 'a room that it left, or that we cannot write to, comes after one that we can', () =>
    inScene(async (scene) => {
      const [sealed, first, second] = [scene.room('alice', true), scene.room('dave'), scene.room('eve')];
      await scene.bob.refresh(NEVER);
      await scene.bob.send(CAROL, 'one', NEVER);
      assert.deepEqual(said(scene.server, first, '@bob:localhost'), ['one']);
      scene.server.doors.inject(first, {
        type: 'm.room.member',
        stateKey: '@carol:localhost',
        sender: '@carol:localhost',
        content: { membership: 'leave' },
      });
      await scene.bob.refresh(NEVER);
      assert.equal(scene.bob.peers()[0]?.peer.status, 'active');
      await scene.bob.send(CAROL, 'two', NEVER);
      assert.deepEqual(said(scene.server, second, '@bob:localhost'), ['two']);
      assert.deepEqual(said(scene.server, sealed, '@bob:localhost'), []);
    }),
  );

  verifies('R4.32', 'when somebody else comes in, nothing more is said there; with another room it goes on', () =>
    inScene(async (scene) => {
      const one = scene.room('alice');
      await scene.bob.refresh(NEVER);
      scene.server.doors.inject(one, {
        type: 'm.room.member',
        stateKey: '@eve:localhost',
        sender: '@carol:localhost',
        content: { membership: 'invite' },
      });
      await scene.bob.refresh(NEVER);
      await assert.rejects(scene.bob.send(CAROL, 'secret', NEVER), (error) => errorCode(error) === 'peers-forbidden');
      assert.deepEqual(said(scene.server, one, '@bob:localhost'), []);
      const { checks } = await scene.bob.examine(NEVER);
      assert.ok(checks.some(({ detail }) => detail.includes(one) && detail.includes(CAROL)));
      const two = scene.room('dave');
      await scene.bob.refresh(NEVER);
      await scene.bob.send(CAROL, 'for you', NEVER);
      assert.deepEqual(said(scene.server, two, '@bob:localhost'), ['for you']);
    }),
  );
});

describe('a message whose fate is unknown', () => {
  verifies(['R4.36', 'R4.72'], 'the same text again is the same message, and after an answer it is a new one', () =>
    inScene(async (scene) => {
      const room = scene.room('alice');
      await scene.bob.refresh(NEVER);
      scene.server.wire.fail(({ path }) => path.includes('/send/'), { type: 'lost-answer' }, 3);
      await assert.rejects(scene.bob.send(CAROL, 'hello', NEVER), (error) => errorCode(error) === 'peers-unreachable');
      await scene.bob.send(CAROL, 'hello', NEVER);
      assert.deepEqual(said(scene.server, room, '@bob:localhost'), ['hello']);
      await Promise.all([scene.bob.send(CAROL, 'hello', NEVER), scene.bob.send(CAROL, 'hello', NEVER)]);
      assert.equal(said(scene.server, room, '@bob:localhost').length, 3);
    }),
  );

  verifies('R4.36', 'what is too large is refused before it is sent, by its bytes', () =>
    inScene(async (scene) => {
      const room = scene.room('alice');
      await scene.bob.refresh(NEVER);
      for (const text of ['x'.repeat(70_000), '🦊'.repeat(15_000), '\n'.repeat(31_000)])
        await assert.rejects(scene.bob.send(CAROL, text, NEVER), (error) => errorCode(error) === 'peers-too-large');
      await scene.bob.send(CAROL, 'x'.repeat(59_000), NEVER);
      assert.equal(said(scene.server, room, '@bob:localhost').length, 1);
      assert.equal((await scene.bob.messages(CAROL, { limit: 1 }, NEVER))[0]?.text.length, 16_000);
    }),
  );
});
