/** Attempts to take a talk over: by a room that claims to be older, by one where the peer already is, by one that nobody encrypts. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { errorCode } from '#base/errors.ts';
import type { PeerTransport } from '#extensions/hive/peers/peer-transport.ts';
import { type FakeServer, startFake } from '../../../../contract/hive/hive-fake-server.ts';
import type { TestAccount } from '../../../../contract/hive/hive-homeserver.ts';
import { verifies } from '../../../../verifies.ts';
import { transportFor } from '../hive-matrix-ground.ts';
import { RecordedCrypto } from '../introduce/hive-recorded-crypto.ts';

const NEVER = new AbortController().signal;
const ALICE = '@alice:localhost';
const BOB = '@bob:localhost';
const MALLORY = '@mallory:localhost';
const BOB_ID = 'bob@localhost';

class Scene {
  readonly server: FakeServer;
  readonly account: TestAccount;
  readonly crypto = new RecordedCrypto();
  readonly alice: PeerTransport;
  readonly #shift: (ms: number) => void;

  constructor(server: FakeServer, account: TestAccount, shift: (ms: number) => void) {
    this.server = server;
    this.account = account;
    this.#shift = shift;
    this.alice = this.again();
  }

  /** A new handle of Alice: a restart. */
  again(isEncrypting = true): PeerTransport {
    const parts = isEncrypting ? { crypto: async () => this.crypto } : {};
    return transportFor(this.server, this.account, { parts });
  }

  /** Mallory introduces Bob, in a room that was made `age` milliseconds ago as her server says. */
  trap({ age = 0, encrypted = false } = {}): string {
    this.#shift(-age);
    const messages = [`About ${BOB}: in the words of mallory`];
    const room = this.server.doors.addRoom({ creator: MALLORY, invite: [ALICE], join: [BOB], messages, encrypted });
    this.#shift(0);
    return room;
  }

  member(room: string, userId: string, membership: string, sender = userId): void {
    this.server.doors.inject(room, { type: 'm.room.member', sender, stateKey: userId, content: { membership } });
  }

  /** Types of what Alice said there. */
  said(room: string): readonly unknown[] {
    return (this.server.doors.timeline(room) as readonly Record<string, unknown>[])
      .filter(({ type, sender }) => sender === ALICE && /^m\.room\.(?:message|encrypted)$/.test(String(type)))
      .map(({ type }) => type);
  }

  static async run(body: (scene: Scene) => Promise<void>): Promise<void> {
    let shift = 0;
    let now = systemClock.now();
    const server = await startFake({ clock: { ...systemClock, now: () => ++now + shift } });
    try {
      const account = await server.register('alice');
      for (const name of ['bob', 'mallory', 'dave']) await server.register(name);
      await body(
        new Scene(server, account, (ms) => {
          shift = ms;
        }),
      );
    } finally {
      await server.stop();
    }
  }
}

const shown = (transport: PeerTransport) =>
  transport
    .peers()
    .filter(({ peer }) => peer.id === BOB_ID)
    .map(({ peer, introducedById, isProtected }) => [peer.context, introducedById, isProtected]);
const refusal = (code: string) => (error: unknown) => errorCode(error) === code;

/** The one room that Alice made. */
async function contactRoom({ server, alice }: Scene): Promise<string> {
  await alice.refresh(NEVER);
  await alice.contact({ id: BOB_ID, context: 'my bank', about: 'Alice' }, NEVER);
  const path = server.wire.requests().findLast((request) => request.path.includes('/send/'))?.path ?? '';
  return decodeURIComponent(path.split('/')[5] ?? '');
}

describe('a talk that somebody wants to take over', () => {
  for (const isThere of [true, false])
    verifies(
      ['R4.52', 'R4.34', 'R4.74'],
      `a room of an old date, while the peer ${isThere ? 'is' : 'is not yet'} in the real one, gets neither messages nor a word in what is shown`,
      () =>
        Scene.run(async (scene) => {
          const real = await contactRoom(scene);
          if (isThere) scene.member(real, BOB, 'join');
          await scene.alice.refresh(NEVER);
          const trap = scene.trap({ age: 900_000_000_000 });
          for (const transport of [scene.alice, scene.alice, scene.again()]) {
            await transport.refresh(NEVER);
            assert.deepEqual(shown(transport), [['my bank', 'alice@localhost', true]]);
            await transport.send(BOB_ID, 'my PIN is 4711', NEVER);
          }
          assert.deepEqual(scene.said(trap), []);
          assert.deepEqual(new Set(scene.said(real)), new Set(['m.room.encrypted']));
        }),
    );

  verifies('R4.52', 'among introductions too the one that we noted first stays, whatever the later ones claim', () =>
    Scene.run(async (scene) => {
      const real = scene.server.doors.addRoom({
        creator: '@dave:localhost',
        invite: [ALICE, BOB],
        messages: [`About ${BOB}: in the words of dave`],
      });
      await scene.alice.refresh(NEVER);
      const traps = [scene.trap({ age: 900_000_000_000, encrypted: true }), scene.trap({ age: 1_000_000_000_000 })];
      for (const transport of [scene.alice, scene.again()]) {
        await transport.refresh(NEVER);
        assert.deepEqual(shown(transport), [['in the words of dave', 'dave@localhost', false]]);
        await transport.send(BOB_ID, 'hello', NEVER);
      }
      assert.deepEqual(
        [real, ...traps].map((room) => scene.said(room).length),
        [2, 0, 0],
      );
    }),
  );

  verifies(
    ['R4.74', 'R4.52'],
    'after the peer left the encrypted room, a clear one of somebody else gets nothing, and the owner hears why',
    () =>
      Scene.run(async (scene) => {
        const real = await contactRoom(scene);
        scene.member(real, BOB, 'join');
        await scene.alice.refresh(NEVER);
        await scene.alice.send(BOB_ID, 'sealed', NEVER);
        const trap = scene.trap();
        await scene.alice.refresh(NEVER);
        scene.member(real, BOB, 'leave');
        assert.match((await scene.alice.refresh(NEVER)).join(), /Nothing is sent to bob@localhost .* encrypted/);
        assert.deepEqual(await scene.alice.refresh(NEVER), [], 'said once');
        await assert.rejects(scene.alice.send(BOB_ID, '4711', NEVER), refusal('peers-encryption'));
        const off = scene.again(false);
        await off.refresh(NEVER);
        await assert.rejects(off.send(BOB_ID, '4711', NEVER), refusal('peers-encryption'));
        assert.deepEqual(scene.said(trap), []);
        // What the owner is told to do helps.
        await scene.alice.contact({ id: BOB_ID, context: 'again', about: 'Alice' }, NEVER);
        await scene.alice.send(BOB_ID, 'sealed again', NEVER);
        assert.deepEqual(shown(scene.alice), [['again', 'alice@localhost', true]]);
        assert.deepEqual([scene.said(trap), scene.said(real).length], [[], 2]);
      }),
  );

  verifies('R4.74', 'with encryption off again an encrypted talk does not go on in a clear room', () =>
    Scene.run(async (scene) => {
      const real = await contactRoom(scene);
      scene.member(real, BOB, 'join');
      await scene.alice.send(BOB_ID, 'sealed', NEVER);
      const trap = scene.trap();
      const off = scene.again(false);
      await off.refresh(NEVER);
      await assert.rejects(off.send(BOB_ID, '4711', NEVER), refusal('peers-encryption'));
      assert.deepEqual(scene.said(trap), []);
    }),
  );
});

describe('somebody who comes in between', () => {
  verifies(['R4.32', 'R4.36'], 'a third one who joined after the refresh does not read the next message', () =>
    Scene.run(async (scene) => {
      for (const isEncrypting of [false, true]) {
        const encrypted = isEncrypting;
        const room = scene.server.doors.addRoom({ creator: BOB, join: [ALICE], encrypted, messages: ['hi'] });
        const alice = scene.again(isEncrypting);
        await alice.refresh(NEVER);
        await alice.send(BOB_ID, 'for Bob', NEVER);
        scene.member(room, '@dave:localhost', 'invite', BOB);
        await assert.rejects(alice.send(BOB_ID, 'for Bob alone', NEVER), refusal('peers-forbidden'));
        assert.equal(scene.said(room).length, 1);
        scene.member(room, ALICE, 'leave');
      }
    }),
  );

  verifies('R4.43', 'what a message saw on its way is not lost for the next turn', () =>
    Scene.run(async (scene) => {
      const room = scene.server.doors.addRoom({ creator: MALLORY, join: [ALICE, BOB], messages: [] });
      await scene.alice.refresh(NEVER);
      assert.deepEqual(shown(scene.alice)[0]?.[0], '');
      const content = { msgtype: 'm.text', body: `About ${BOB}: late words` };
      scene.server.doors.inject(room, { type: 'm.room.message', sender: MALLORY, content });
      await scene.alice.send(BOB_ID, 'hello', NEVER);
      await scene.alice.refresh(NEVER);
      assert.deepEqual(shown(scene.alice)[0]?.[0], 'late words');
    }),
  );
});
