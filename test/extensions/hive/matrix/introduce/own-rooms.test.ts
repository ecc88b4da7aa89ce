/** Introductions and contacts whose steps fail: one room, every line once, whatever breaks where. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { createFetchHttp } from '#extensions/hive/matrix/http/fetch-http.ts';
import type { MatrixHttp } from '#extensions/hive/matrix/http/matrix-http.ts';
import { PeerError } from '#extensions/hive/peers/peer-error.ts';
import type { PeerTransport } from '#extensions/hive/peers/peer-transport.ts';
import { type FakeServer, startFake } from '../../../../contract/hive/hive-fake-server.ts';
import type { TestAccount, WireFault } from '../../../../contract/hive/hive-homeserver.ts';
import { verifies } from '../../../../verifies.ts';
import { hastyClock } from '../hive-hasty-clock.ts';
import { transportFor } from '../hive-matrix-ground.ts';

const NEVER = new AbortController().signal;

interface Scene {
  readonly server: FakeServer;
  readonly alice: PeerTransport;
  readonly account: TestAccount;
}

/** Alice knows Bob and Carol. */
async function inScene(body: (scene: Scene) => Promise<void>): Promise<void> {
  const server = await startFake();
  try {
    const account = await server.register('alice');
    const alice = transportFor(server, account, { clock: hastyClock });
    for (const name of ['bob', 'carol']) {
      const other = await server.register(name);
      server.doors.addRoom({
        creator: other.userId,
        join: [account.userId],
        messages: [`About ${other.userId}: ${name}`],
      });
    }
    await alice.refresh(NEVER);
    assert.equal(alice.peers().length, 2);
    await body({ server, alice, account });
  } finally {
    await server.stop();
  }
}

const introduce = (alice: PeerTransport) =>
  alice.introduce(
    { a: 'bob@localhost', b: 'carol@localhost', contextOfA: 'of bob', contextOfB: 'of carol', reason: 'so' },
    NEVER,
  );

/** Rooms that Alice made, with what she said there. */
async function roomsOf({ server, account }: Scene): Promise<readonly (readonly string[])[]> {
  const headers = { authorization: `Bearer ${account.accessToken}` };
  const answer = await fetch(`${server.url}/_matrix/client/v3/joined_rooms`, { headers });
  const { joined_rooms: rooms } = (await answer.json()) as { joined_rooms: readonly string[] };
  const timelines = rooms.map((room) => server.doors.timeline(room) as readonly Record<string, unknown>[]);
  return timelines
    .filter((events) => events.some(({ type, sender }) => type === 'm.room.create' && sender === account.userId))
    .map((events) =>
      events
        .filter(({ type, sender }) => type === 'm.room.message' && sender === account.userId)
        .map(({ content }) => String((content as { body?: unknown }).body)),
    );
}

const LINES = ['About @bob:localhost: of bob', 'About @carol:localhost: of carol', 'Why: so'];
const forbidden: WireFault = { type: 'status', status: 403, body: '{"errcode":"M_FORBIDDEN","error":"no"}' };
const broken: WireFault = { type: 'status', status: 500, body: '{}' };

describe('introductions that fail on the way', () => {
  verifies(
    ['R4.41', 'R4.72'],
    'a room whose creation was not confirmed is found again, no second one is made',
    async () => {
      for (const fault of [{ type: 'lost-answer' }, broken, { type: 'reset' }] as const)
        await inScene(async (scene) => {
          scene.server.wire.fail(({ path }) => path.endsWith('/createRoom'), fault);
          await assert.rejects(introduce(scene.alice));
          await introduce(scene.alice);
          await introduce(scene.alice);
          assert.deepEqual(await roomsOf(scene), [LINES], fault.type);
        });
    },
  );

  verifies(['R4.41', 'R4.72'], 'a room that the server is still making after a time-out is waited for', () =>
    inScene(async (scene) => {
      const direct = createFetchHttp(
        { homeserver: scene.server.url, accessToken: scene.account.accessToken },
        hastyClock,
      );
      let isSlow = true;
      const http: MatrixHttp = async (call, signal) => {
        if (!isSlow || !call.path.includes('createRoom')) return direct(call, signal);
        isSlow = false;
        void systemClock.sleep(40).then(() => direct(call, signal));
        throw new PeerError('no answer in time', { code: 'peers-timeout' });
      };
      const alice = transportFor(scene.server, scene.account, { clock: hastyClock, parts: { http } });
      await alice.refresh(NEVER);
      await assert.rejects(introduce(alice));
      await introduce(alice);
      assert.deepEqual(await roomsOf(scene), [LINES]);
    }),
  );

  verifies(['R4.41', 'R4.72'], 'each single request may fail: the same words again finish what was begun', async () => {
    for (const fault of [forbidden, { type: 'lost-answer' }] as const)
      for (let failing = 0; failing < 4; failing += 1)
        await inScene(async (scene) => {
          let number = -1;
          const isOne = ({ method }: { readonly method: string }) => method !== 'GET' && ++number === failing;
          const heal = scene.server.wire.fail(isOne, fault, 100);
          await introduce(scene.alice).catch(() => introduce(scene.alice));
          heal();
          assert.deepEqual(await roomsOf(scene), [LINES], `${fault.type} at ${failing}`);
        });
  });

  verifies('R4.41', 'both ways round and at the same time it is one introduction', () =>
    inScene(async (scene) => {
      const turned = scene.alice.introduce(
        { a: 'carol@localhost', b: 'bob@localhost', contextOfA: 'x', contextOfB: 'y' },
        NEVER,
      );
      await Promise.all([introduce(scene.alice), turned, introduce(scene.alice)]);
      assert.equal((await roomsOf(scene)).length, 1);
      await assert.rejects(
        scene.alice.introduce({ a: 'bob@localhost', b: 'bob@localhost', contextOfA: 'x', contextOfB: 'y' }, NEVER),
      );
      assert.equal((await roomsOf(scene)).length, 1);
    }),
  );

  verifies(
    ['R4.41', 'R4.56'],
    'a contact that fails on the way is finished too, with what we keep about the other',
    async () => {
      for (let failing = 0; failing < 3; failing += 1)
        await inScene(async (scene) => {
          const dave = await scene.server.register('dave');
          let number = -1;
          const isOne = ({ method }: { readonly method: string }) => method !== 'GET' && ++number === failing;
          const heal = scene.server.wire.fail(isOne, failing === 0 ? { type: 'lost-answer' } : forbidden, 100);
          const contact = () => scene.alice.contact({ id: 'dave@localhost', context: 'of dave', about: 'me' }, NEVER);
          await assert.rejects(contact());
          heal();
          await contact();
          await contact();
          assert.deepEqual(await roomsOf(scene), [['About @alice:localhost: me']], String(failing));
          const again = transportFor(scene.server, scene.account);
          await again.refresh(NEVER);
          assert.equal(again.peers().find(({ peer }) => peer.id === 'dave@localhost')?.peer.context, 'of dave');
          const other = transportFor(scene.server, dave);
          await other.refresh(NEVER);
          assert.deepEqual(
            other.peers().map(({ peer }) => [peer.id, peer.context]),
            [['alice@localhost', 'me']],
          );
        });
    },
  );
});
