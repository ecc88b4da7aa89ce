/** A server that takes encryption back: it says no more that a room is encrypted, in this process or after a restart. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { errorCode } from '#base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { createFetchHttp } from '#extensions/hive/matrix/http/fetch-http.ts';
import type { MatrixHttp } from '#extensions/hive/matrix/http/matrix-http.ts';
import { PeerError } from '#extensions/hive/peers/peer-error.ts';
import type { PeerTransport } from '#extensions/hive/peers/peer-transport.ts';
import { type FakeServer, startFake } from '../../../../contract/hive/hive-fake-server.ts';
import { verifies } from '../../../../verifies.ts';
import { transportFor } from '../hive-matrix-ground.ts';
import { RecordedCrypto } from '../introduce/hive-recorded-crypto.ts';

const NEVER = new AbortController().signal;
const BOB = '@bob:localhost';
const BOB_ID = 'bob@localhost';

interface Scene {
  readonly server: FakeServer;
  readonly crypto: RecordedCrypto;
  readonly room: string;
  /** What the server does from now on. */
  readonly lie: { strips: boolean; forgets: boolean };
  readonly open: (crypto?: () => Promise<RecordedCrypto>) => PeerTransport;
}

async function inScene(body: (scene: Scene) => Promise<void>): Promise<void> {
  const server = await startFake();
  try {
    const account = await server.register('alice');
    server.doors.addAccount('bob');
    const room = server.doors.addRoom({ creator: BOB, invite: [account.userId], encrypted: true, messages: [] });
    const lie = { strips: false, forgets: false };
    const { accessToken } = account;
    const http = lying(createFetchHttp({ homeserver: server.url, accessToken }, systemClock), lie);
    const crypto = new RecordedCrypto();
    const open = (make = async () => crypto) => transportFor(server, account, { parts: { http, crypto: make } });
    await body({ server, crypto, room, lie, open });
  } finally {
    await server.stop();
  }
}

function lying(http: MatrixHttp, lie: Scene['lie']): MatrixHttp {
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
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, stripped(item)]));
}

const sent = ({ server }: Scene) =>
  server.wire
    .requests()
    .filter(({ path }) => path.includes('/send/'))
    .map(({ path }) => path.split('/').at(-2));

describe('encryption that a server takes back', () => {
  verifies(
    ['R4.74', 'R4.57'],
    'a whole sync without it changes nothing: what is said is encrypted, clear words are none',
    () =>
      inScene(async (scene) => {
        const { server, lie, room } = scene;
        const alice = scene.open();
        await alice.refresh(NEVER);
        await alice.refresh(NEVER);
        Object.assign(lie, { strips: true, forgets: true });
        await alice.refresh(NEVER);
        assert.equal(lie.forgets, false);
        for (const transport of [alice, scene.open()]) {
          await transport.refresh(NEVER);
          assert.equal(transport.peers()[0]?.isProtected, true);
          await transport.send(BOB_ID, '4711', NEVER);
          const content = { msgtype: 'm.text', body: 'forged' };
          server.doors.inject(room, { type: 'm.room.message', sender: BOB, content });
          await transport.refresh(NEVER);
          assert.equal((await transport.messages(BOB_ID, { limit: 1 }, NEVER))[0]?.state, 'clear');
        }
        assert.deepEqual(sent(scene), ['m.room.encrypted', 'm.room.encrypted']);
      }),
  );

  verifies('R4.74', 'a room that is left and entered again without it is encrypted still', () =>
    inScene(async (scene) => {
      const { server, lie, room, open } = scene;
      const alice = open();
      await alice.refresh(NEVER);
      await alice.refresh(NEVER);
      lie.strips = true;
      for (const membership of ['leave', 'invite']) {
        const event = { type: 'm.room.member', sender: BOB, stateKey: '@alice:localhost', content: { membership } };
        server.doors.inject(room, event);
        await alice.refresh(NEVER);
      }
      await alice.send(BOB_ID, '4711', NEVER);
      assert.deepEqual(sent(scene), ['m.room.encrypted']);
    }),
  );

  verifies(
    'R4.74',
    'it is remembered by the answer that says it; where the memory cannot be opened nothing is sent',
    () =>
      inScene(async (scene) => {
        const { crypto, room, lie, open } = scene;
        const alice = open();
        await alice.refresh(NEVER);
        await alice.refresh(NEVER);
        assert.deepEqual(
          crypto.received.flatMap(({ encrypted }) => encrypted ?? []).map(({ roomId }) => roomId),
          [room],
        );
        await alice.refresh(NEVER);
        assert.deepEqual(crypto.received.at(-1)?.encrypted, []);
        lie.strips = true;
        const broken = open(() => Promise.reject(new PeerError('damaged', { code: 'peers-encryption' })));
        await broken.refresh(NEVER);
        await assert.rejects(broken.send(BOB_ID, '4711', NEVER), (error) => errorCode(error) === 'peers-encryption');
        assert.deepEqual(sent(scene), []);
      }),
  );
});
