/** Introductions and contacts whose steps fail: one room, every line once, whatever breaks where; with encryption, whom they reach later. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { PeerError, type PeerTransport } from '#public/peers.ts';
import type { WireFault } from '../../contract/hive/hive-stage.ts';
import { realClock } from '../../ground.ts';
import { verifies } from '../../verifies.ts';
import { httpFor, MatrixScene, NEVER, transportFor } from './matrix-stage.ts';

const BOB = '@bob:localhost';

const CAROL = '@carol:localhost';

const CONTEXTS = { contextOfA: 'of bob', contextOfB: 'of carol' };

const LINES = [`About ${BOB}: of bob`, `About ${CAROL}: of carol`, 'Why: so'];

const forbidden: WireFault = { type: 'status', status: 403, body: '{"errcode":"M_FORBIDDEN","error":"no"}' };

const broken: WireFault = { type: 'status', status: 500, body: '{}' };

/** Alice knows Bob and Carol. */
function inScene(body: (scene: MatrixScene, alice: PeerTransport) => Promise<void>, isEncrypting = false) {
  return MatrixScene.run(['alice', 'bob', 'carol'], async (scene) => {
    const alice = isEncrypting ? scene.openEncrypting() : scene.open();
    for (const creator of [BOB, CAROL])
      scene.server.doors.addRoom({ creator, join: [scene.account.userId], messages: [`About ${creator}: x`] });
    await alice.refresh(NEVER);
    assert.equal(alice.peers().length, 2);
    await body(scene, alice);
  });
}

const introduce = (alice: PeerTransport, b = 'carol@localhost') =>
  alice.introduce({ a: 'bob@localhost', b, ...CONTEXTS, reason: 'so' }, NEVER);

/** What Alice said in each of the rooms that she made. */
async function roomsOf(scene: MatrixScene): Promise<readonly (readonly unknown[])[]> {
  const { server, account } = scene;
  const { joined_rooms: rooms } = await httpFor(server, account)(
    { method: 'GET', path: ['v3', 'joined_rooms'] },
    NEVER,
  );
  const isHers = (room: string) =>
    server.doors.timeline(room).some(({ type, sender }) => type === 'm.room.create' && sender === account.userId);
  return (rooms as readonly string[]).filter(isHers).map((room) => scene.said(room));
}

/** The request of that number that changes something fails, and every later one of that number again. */
function failNth({ server }: MatrixScene, nth: number, fault: WireFault) {
  let number = -1;
  return server.wire.fail(({ method }) => method !== 'GET' && ++number === nth, fault, 100);
}

describe('introductions that fail on the way', () => {
  for (const fault of [{ type: 'lost-answer' }, broken, { type: 'reset' }] as const)
    verifies(['R4.41', 'R4.72'], `a room whose creation was not confirmed is found again: ${fault.type}`, () =>
      inScene(async (scene, alice) => {
        scene.server.wire.fail(({ path }) => path.endsWith('/createRoom'), fault);
        await assert.rejects(introduce(alice));
        await introduce(alice);
        await introduce(alice);
        assert.deepEqual(await roomsOf(scene), [LINES]);
      }),
    );

  verifies(['R4.41', 'R4.72'], 'a room that the server is still making after a time-out is waited for', () =>
    inScene(async (scene) => {
      const direct = httpFor(scene.server, scene.account);
      let isSlow = true;
      const alice = scene.open({
        http: async (call, signal) => {
          if (!isSlow || !call.path.includes('createRoom')) return direct(call, signal);
          isSlow = false;
          void realClock.sleep(40).then(() => direct(call, signal));
          throw new PeerError('no answer in time', { code: 'peers-timeout' });
        },
      });
      await alice.refresh(NEVER);
      await assert.rejects(introduce(alice));
      await introduce(alice);
      assert.deepEqual(await roomsOf(scene), [LINES]);
    }),
  );

  for (const fault of [forbidden, { type: 'lost-answer' }] as const)
    verifies(['R4.41', 'R4.72'], `each single request may fail (${fault.type}): the same words finish it`, async () => {
      for (let failing = 0; failing < 4; failing += 1)
        await inScene(async (scene, alice) => {
          const heal = failNth(scene, failing, fault);
          await introduce(alice).catch(() => introduce(alice));
          heal();
          assert.deepEqual(await roomsOf(scene), [LINES], `at ${failing}`);
        });
    });

  verifies('R4.41', 'both ways round and at the same time it is one introduction', () =>
    inScene(async (scene, alice) => {
      const turned = alice.introduce({ a: 'carol@localhost', b: 'bob@localhost', ...CONTEXTS }, NEVER);
      await Promise.all([introduce(alice), turned, introduce(alice)]);
      assert.equal((await roomsOf(scene)).length, 1);
      await assert.rejects(introduce(alice, 'bob@localhost'));
      assert.equal((await roomsOf(scene)).length, 1);
    }),
  );

  verifies(['R4.41', 'R4.56'], 'a contact that fails on the way is finished too, with what we keep of it', async () => {
    for (let failing = 0; failing < 3; failing += 1)
      await inScene(async (scene, alice) => {
        const dave = await scene.server.register('dave');
        const heal = failNth(scene, failing, failing === 0 ? { type: 'lost-answer' } : forbidden);
        const contact = () => alice.contact({ id: 'dave@localhost', context: 'of dave', about: 'me' }, NEVER);
        await assert.rejects(contact());
        heal();
        await contact();
        await contact();
        assert.deepEqual(await roomsOf(scene), [['About @alice:localhost: me']], String(failing));
        const again = scene.open();
        await again.refresh(NEVER);
        assert.equal(again.peers().find(({ peer }) => peer.id === 'dave@localhost')?.peer.context, 'of dave');
        const other = transportFor(scene.server, dave);
        await other.refresh(NEVER);
        assert.deepEqual(
          other.peers().map(({ peer }) => [peer.id, peer.context]),
          [['alice@localhost', 'me']],
        );
      });
  });
});

describe('introductions with encryption', () => {
  const isReached = ({ crypto }: MatrixScene) => [...crypto.reached].some((key) => key.endsWith('CAROL1'));
  const brokenStore = () => new PeerError('the key store is damaged', { code: 'peers-encryption', fix: 'mend it' });
  const refusal = { code: 'peers-encryption' };

  verifies(['R4.36', 'R4.76', 'R4.41'], 'all invited get the key, later devices are written to again', () =>
    inScene(async (scene, alice) => {
      const { crypto, server } = scene;
      crypto.devices.set(BOB, ['BOB1']);
      await alice.introduce({ a: 'bob@localhost', b: 'carol@localhost', ...CONTEXTS }, NEVER);
      assert.deepEqual(crypto.targets, [['@alice:localhost', BOB, CAROL]]);
      assert.deepEqual(scene.sent(), ['m.room.encrypted', 'm.room.encrypted']);
      await alice.refresh(NEVER);
      assert.equal(scene.sent().length, 2, 'nobody is late');
      crypto.devices.set(CAROL, ['CAROL1']);
      const again = scene.openEncrypting();
      server.wire.fail(({ path }) => path.includes('/send/'), forbidden);
      await again.refresh(NEVER);
      assert.ok(!isReached(scene), 'what was not sent was not reached');
      await again.refresh(NEVER);
      await again.refresh(NEVER);
      assert.equal(scene.sent().length, 2 + 1 + 2, 'one attempt failed, then both lines');
      assert.ok(isReached(scene));
    }, true),
  );

  verifies('R4.76', 'a room that cannot be encrypted for does not starve the others of their introductions', () =>
    inScene(async (scene, alice) => {
      const { crypto, server, account } = scene;
      const names = Array.from({ length: 12 }, (_, at) => `peer-${at}`);
      for (const name of names) {
        const { userId } = server.doors.addAccount(name);
        server.doors.addRoom({ creator: userId, join: [account.userId], messages: [] });
      }
      await alice.refresh(NEVER);
      for (const name of [...names, 'carol']) await introduce(alice, `${name}@localhost`);
      const lateDevices = crypto.lateDevices.bind(crypto);
      crypto.lateDevices = async (target) => {
        if (target.members.some((userId) => userId.includes('peer-'))) throw brokenStore();
        return lateDevices(target);
      };
      crypto.devices.set(CAROL, ['CAROL1']);
      const again = scene.openEncrypting();
      for (let turn = 0; turn < 2; turn += 1) await again.refresh(NEVER);
      assert.ok(isReached(scene));
    }, true),
  );

  verifies(['R4.74', 'R4.36'], 'a broken store sends nothing, neither clear nor at all, and acknowledges nothing', () =>
    inScene(async (scene, alice) => {
      const { crypto, server } = scene;
      await introduce(alice);
      server.wire.clear();
      crypto.fault = 'the key store is damaged';
      await assert.rejects(alice.refresh(NEVER), refusal);
      const failing = scene.open({ crypto: () => Promise.reject(brokenStore()) });
      assert.match((await failing.refresh(NEVER)).join(), /damaged/);
      assert.deepEqual(await failing.refresh(NEVER), [], 'said once');
      assert.equal(failing.peers().length, 2, 'peers are known all the same');
      const since = scene.asked('/sync').map(({ query }) => query.since);
      assert.deepEqual(since.slice(-2), [undefined, undefined]);
      const contact = failing.contact({ id: 'dave@localhost', context: 'c', about: 'a' }, NEVER);
      await assert.rejects(contact, refusal);
      assert.deepEqual([scene.asked('/send'), scene.asked('/createRoom')], [[], []], 'nobody is even invited');
      const report = await failing.examine(NEVER);
      assert.ok(report.checks.some(({ ok, name }) => !ok && name === 'encryption'));
      await failing.close();
    }, true),
  );

  verifies(['R4.45', 'R4.57'], 'the position moves on only after keys were stored', () =>
    inScene(async (scene, alice) => {
      const { crypto, server } = scene;
      const sinceOf = () => scene.asked('/sync').at(-1)?.query.since;
      await alice.refresh(NEVER);
      const before = sinceOf();
      server.doors.addRoom({ creator: BOB, join: ['@alice:localhost'] });
      crypto.fault = 'no space left';
      await assert.rejects(alice.refresh(NEVER), refusal);
      const failed = sinceOf();
      assert.notEqual(failed, before);
      crypto.fault = undefined;
      await alice.refresh(NEVER);
      assert.equal(sinceOf(), failed);
      assert.equal(crypto.received.at(0)?.isInitial, true);
      assert.equal(crypto.received.at(-1)?.isInitial, undefined);
    }, true),
  );
});
