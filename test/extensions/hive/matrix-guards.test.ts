/** What is said to one reaches that one alone, in the form that was promised: several rooms, rooms that take a talk over, servers that lie. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { MatrixHttp } from '#extensions/hive/matrix/matrix-http.ts';
import { PeerError, type PeerTransport } from '#public/peers.ts';
import type { JsonObject, JsonValue } from '#public/talaria.ts';
import { httpFor, type MatrixScene, NEVER, type RecordedCrypto, testsOf } from './matrix-stage.ts';

const ALICE = '@alice:localhost';

const BOB = '@bob:localhost';

const MALLORY = '@mallory:localhost';

const BOB_ID = 'bob@localhost';

const { verifies } = testsOf('alice', 'bob', 'mallory', 'dave', 'eve');

const sealed = { code: 'peers-encryption' };

const wordsOf = (name: string) => [`About ${BOB}: in the words of ${name}`];

/** Somebody introduced Alice and Bob, who are both there. */
const roomBy = ({ server }: MatrixScene, name: string, encrypted = false) =>
  server.doors.addRoom({ creator: `@${name}:localhost`, join: [ALICE, BOB], messages: wordsOf(name), encrypted });

describe('a peer in several rooms', () => {
  verifies(['R4.52', 'R4.37'], 'what it says in any is read; what we say goes to the oldest', async (scene) => {
    const alice = scene.open();
    const [one, two] = [roomBy(scene, 'dave'), roomBy(scene, 'eve')];
    await alice.refresh(NEVER);
    assert.deepEqual(
      alice.peers().map(({ peer }) => [peer.id, peer.introduced_by, peer.context]),
      [[BOB_ID, 'dave', 'in the words of dave']],
    );
    scene.say(one, BOB, 'here');
    scene.say(two, BOB, 'and there');
    await alice.refresh(NEVER);
    assert.equal(alice.peers()[0]?.traffic.unread, 2);
    const texts = (await alice.messages(BOB_ID, {}, NEVER)).filter(({ fromId }) => fromId === BOB_ID);
    assert.deepEqual(new Set(texts.map(({ text }) => text)), new Set(['here', 'and there']));
    await alice.markRead(BOB_ID, texts[0]?.id ?? '', NEVER);
    assert.equal(alice.peers()[0]?.traffic.unread, 0);
    await alice.send(BOB_ID, 'answer', NEVER);
    assert.deepEqual([scene.said(one), scene.said(two)], [['answer'], []]);
  });

  verifies(['R4.52', 'R4.74'], 'a room that it left, or that we cannot write to, comes last', async (scene) => {
    const alice = scene.open();
    const [encrypted, first, second] = [roomBy(scene, 'mallory', true), roomBy(scene, 'dave'), roomBy(scene, 'eve')];
    await alice.refresh(NEVER);
    await alice.send(BOB_ID, 'one', NEVER);
    scene.member(first, BOB, 'leave');
    await alice.refresh(NEVER);
    assert.equal(alice.peers()[0]?.peer.status, 'active');
    await alice.send(BOB_ID, 'two', NEVER);
    assert.deepEqual([scene.said(first), scene.said(second), scene.said(encrypted)], [['one'], ['two'], []]);
  });

  verifies('R4.32', 'when somebody else comes in, nothing more is said there; in another it is', async (scene) => {
    const alice = scene.open();
    const one = roomBy(scene, 'dave');
    await alice.refresh(NEVER);
    scene.member(one, '@eve:localhost', 'invite', BOB);
    await alice.refresh(NEVER);
    await assert.rejects(alice.send(BOB_ID, 'secret', NEVER), { code: 'peers-forbidden' });
    const { checks } = await alice.examine(NEVER);
    assert.ok(checks.some(({ detail }) => detail.includes(one) && detail.includes(BOB_ID)));
    const two = roomBy(scene, 'mallory');
    await alice.refresh(NEVER);
    await alice.send(BOB_ID, 'for you', NEVER);
    assert.deepEqual([scene.said(one), scene.said(two)], [[], ['for you']]);
  });
});

describe('a message whose fate is unknown', () => {
  verifies(['R4.36', 'R4.72'], 'the same text again is the same message, after an answer a new one', async (scene) => {
    const alice = scene.open();
    const room = roomBy(scene, 'dave');
    const hello = () => alice.send(BOB_ID, 'hello', NEVER);
    await alice.refresh(NEVER);
    scene.server.wire.fail(({ path }) => path.includes('/send/'), { type: 'lost-answer' }, 3);
    await assert.rejects(hello(), { code: 'peers-unreachable' });
    await hello();
    assert.deepEqual(scene.said(room), ['hello']);
    await Promise.all([hello(), hello()]);
    assert.equal(scene.said(room).length, 3);
  });

  verifies('R4.36', 'what is too large is refused before it is sent, by its bytes', async (scene) => {
    const alice = scene.open();
    const room = roomBy(scene, 'dave');
    await alice.refresh(NEVER);
    for (const text of ['x'.repeat(70_000), '🦊'.repeat(15_000), '\n'.repeat(31_000)])
      await assert.rejects(alice.send(BOB_ID, text, NEVER), { code: 'peers-too-large' });
    await alice.send(BOB_ID, 'x'.repeat(59_000), NEVER);
    assert.equal(scene.said(room).length, 1);
    assert.equal((await alice.messages(BOB_ID, { limit: 1 }, NEVER))[0]?.text.length, 16_000);
  });
});

const shown = (transport: PeerTransport) =>
  transport
    .peers()
    .filter(({ peer }) => peer.id === BOB_ID)
    .map(({ peer, introducedById, isProtected }) => [peer.context, introducedById, isProtected]);

/** The one room that Alice made. */
async function contactRoom({ server }: MatrixScene, alice: PeerTransport): Promise<string> {
  await alice.refresh(NEVER);
  await alice.contact({ id: BOB_ID, context: 'my bank', about: 'Alice' }, NEVER);
  const path = server.wire.requests().findLast((request) => request.path.includes('/send/'))?.path ?? '';
  return decodeURIComponent(path.split('/')[5] ?? '');
}

/** Mallory introduces Bob, in a room that was made `age` milliseconds ago as her server says. */
function trap(scene: MatrixScene, { age = 0, encrypted = false } = {}): string {
  scene.shift = -age;
  const messages = wordsOf('mallory');
  const room = scene.server.doors.addRoom({ creator: MALLORY, invite: [ALICE], join: [BOB], messages, encrypted });
  scene.shift = 0;
  return room;
}

describe('a talk that somebody wants to take over', () => {
  for (const isThere of [true, false])
    verifies(
      ['R4.52', 'R4.34', 'R4.74'],
      `attack: an old date, the peer ${isThere ? '' : 'not '}there`,
      async (scene) => {
        const alice = scene.openEncrypting();
        const real = await contactRoom(scene, alice);
        if (isThere) scene.member(real, BOB, 'join');
        await alice.refresh(NEVER);
        const room = trap(scene, { age: 900_000_000_000 });
        for (const transport of [alice, alice, scene.openEncrypting()]) {
          await transport.refresh(NEVER);
          assert.deepEqual(shown(transport), [['my bank', 'alice@localhost', true]]);
          await transport.send(BOB_ID, 'my PIN is 4711', NEVER);
        }
        assert.deepEqual([scene.said(room), new Set(scene.sent())], [[], new Set(['m.room.encrypted'])]);
      },
    );

  verifies('R4.52', 'attack: of introductions the one noted first stays, whatever others claim', async (scene) => {
    const alice = scene.openEncrypting();
    const creator = '@dave:localhost';
    const real = scene.server.doors.addRoom({ creator, invite: [ALICE, BOB], messages: wordsOf('dave') });
    await alice.refresh(NEVER);
    const traps = [trap(scene, { age: 900_000_000_000, encrypted: true }), trap(scene, { age: 1_000_000_000_000 })];
    for (const transport of [alice, scene.openEncrypting()]) {
      await transport.refresh(NEVER);
      assert.deepEqual(shown(transport), [['in the words of dave', 'dave@localhost', false]]);
      await transport.send(BOB_ID, 'hello', NEVER);
    }
    assert.deepEqual([scene.said(real).length, ...traps.flatMap((room) => scene.said(room))], [2]);
  });

  verifies(
    ['R4.74', 'R4.52'],
    'attack: after the peer left the sealed room, a clear one gets nothing',
    async (scene) => {
      const alice = scene.openEncrypting();
      const real = await contactRoom(scene, alice);
      scene.member(real, BOB, 'join');
      await alice.refresh(NEVER);
      await alice.send(BOB_ID, 'sealed', NEVER);
      const room = trap(scene);
      await alice.refresh(NEVER);
      scene.member(real, BOB, 'leave');
      assert.match((await alice.refresh(NEVER)).join(), /Nothing is sent to bob@localhost .* encrypted/);
      assert.deepEqual(await alice.refresh(NEVER), [], 'said once');
      const off = scene.open();
      await off.refresh(NEVER);
      for (const transport of [alice, off]) await assert.rejects(transport.send(BOB_ID, '4711', NEVER), sealed);
      assert.deepEqual(scene.said(room), []);
      // What the owner is told to do helps.
      await alice.contact({ id: BOB_ID, context: 'again', about: 'Alice' }, NEVER);
      await alice.send(BOB_ID, 'sealed again', NEVER);
      assert.deepEqual(shown(alice), [['again', 'alice@localhost', true]]);
      assert.deepEqual([scene.said(room), scene.said(real).length], [[], 2]);
    },
  );

  verifies('R4.74', 'with encryption off again an encrypted talk does not go on in a clear room', async (scene) => {
    const alice = scene.openEncrypting();
    const real = await contactRoom(scene, alice);
    scene.member(real, BOB, 'join');
    await alice.send(BOB_ID, 'sealed', NEVER);
    const room = trap(scene);
    const off = scene.open();
    await off.refresh(NEVER);
    await assert.rejects(off.send(BOB_ID, '4711', NEVER), sealed);
    assert.deepEqual(scene.said(room), []);
  });
});

describe('somebody who comes in between', () => {
  for (const encrypted of [false, true])
    verifies(['R4.32', 'R4.36'], `a third who joined after the refresh reads nothing: ${encrypted}`, async (scene) => {
      const room = scene.server.doors.addRoom({ creator: BOB, join: [ALICE], encrypted, messages: ['hi'] });
      const alice = encrypted ? scene.openEncrypting() : scene.open();
      await alice.refresh(NEVER);
      await alice.send(BOB_ID, 'for Bob', NEVER);
      scene.member(room, '@dave:localhost', 'invite', BOB);
      await assert.rejects(alice.send(BOB_ID, 'for Bob alone', NEVER), { code: 'peers-forbidden' });
      assert.equal(scene.said(room).length, 1);
    });

  verifies('R4.43', 'what a message saw on its way is not lost for the next turn', async (scene) => {
    const alice = scene.openEncrypting();
    const room = scene.server.doors.addRoom({ creator: MALLORY, join: [ALICE, BOB], messages: [] });
    await alice.refresh(NEVER);
    assert.deepEqual(shown(alice)[0]?.[0], '');
    scene.say(room, MALLORY, `About ${BOB}: late words`);
    await alice.send(BOB_ID, 'hello', NEVER);
    await alice.refresh(NEVER);
    assert.deepEqual(shown(alice)[0]?.[0], 'late words');
  });
});

/** What the server does from now on. */
interface Lie {
  strips: boolean;
  forgets: boolean;
}

function lying(http: MatrixHttp, lie: Lie): MatrixHttp {
  return async (call, signal) => {
    if (lie.forgets && call.query?.since !== undefined) {
      lie.forgets = false;
      throw new PeerError('?', { code: 'peers-forbidden', status: 400, errcode: 'M_UNKNOWN_POS' });
    }
    const answer = await http(call, signal);
    return lie.strips ? (stripped(answer) as JsonObject) : answer;
  };
}

function stripped(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value))
    return value.filter((item) => item?.type !== 'm.room.encryption').map((item) => stripped(item) ?? null);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, stripped(item)]));
}

/** An encrypted room of Alice and Bob on a server that will lie; Alice has seen it. */
async function liar(scene: MatrixScene) {
  const lie: Lie = { strips: false, forgets: false };
  const room = scene.server.doors.addRoom({ creator: BOB, invite: [ALICE], encrypted: true, messages: [] });
  const http = lying(httpFor(scene.server, scene.account), lie);
  const open = (crypto: () => Promise<RecordedCrypto> = async () => scene.crypto) => scene.open({ http, crypto });
  const alice = open();
  for (let turn = 0; turn < 2; turn += 1) await alice.refresh(NEVER);
  return { lie, room, open, alice };
}

describe('encryption that a server takes back', () => {
  verifies(['R4.74', 'R4.57'], 'attack: a whole sync without it changes nothing', async (scene) => {
    const { alice, lie, room, open } = await liar(scene);
    Object.assign(lie, { strips: true, forgets: true });
    await alice.refresh(NEVER);
    assert.equal(lie.forgets, false);
    for (const transport of [alice, open()]) {
      await transport.refresh(NEVER);
      assert.equal(transport.peers()[0]?.isProtected, true);
      await transport.send(BOB_ID, '4711', NEVER);
      scene.say(room, BOB, 'forged');
      await transport.refresh(NEVER);
      assert.equal((await transport.messages(BOB_ID, { limit: 1 }, NEVER))[0]?.state, 'clear');
    }
    assert.deepEqual(scene.sent(), ['m.room.encrypted', 'm.room.encrypted']);
  });

  verifies('R4.74', 'attack: a room that is left and entered again without it is encrypted still', async (scene) => {
    const { alice, lie, room } = await liar(scene);
    lie.strips = true;
    for (const membership of ['leave', 'invite']) {
      scene.member(room, ALICE, membership, BOB);
      await alice.refresh(NEVER);
    }
    await alice.send(BOB_ID, '4711', NEVER);
    assert.deepEqual(scene.sent(), ['m.room.encrypted']);
  });

  verifies('R4.74', 'it is remembered; where the memory cannot be opened nothing is sent', async (scene) => {
    const { alice, lie, room, open } = await liar(scene);
    const remembered = scene.crypto.received.flatMap(({ encrypted }) => encrypted ?? []);
    assert.deepEqual(
      remembered.map(({ roomId }) => roomId),
      [room],
    );
    await alice.refresh(NEVER);
    assert.deepEqual(scene.crypto.received.at(-1)?.encrypted, []);
    lie.strips = true;
    const broken = open(() => Promise.reject(new PeerError('damaged', { code: 'peers-encryption' })));
    await broken.refresh(NEVER);
    await assert.rejects(broken.send(BOB_ID, '4711', NEVER), sealed);
    assert.deepEqual(scene.sent(), []);
  });
});
