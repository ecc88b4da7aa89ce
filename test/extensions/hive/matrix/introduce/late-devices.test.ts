/** With encryption: who gets keys, whom an introduction reaches later, and what happens when the store is broken. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { errorCode } from '#base/errors.ts';
import { PeerError } from '#extensions/hive/peers/peer-error.ts';
import type { PeerTransport } from '#extensions/hive/peers/peer-transport.ts';
import { type FakeServer, startFake } from '../../../../contract/hive/hive-fake-server.ts';
import type { TestAccount } from '../../../../contract/hive/hive-homeserver.ts';
import { verifies } from '../../../../verifies.ts';
import { transportFor } from '../hive-matrix-ground.ts';
import { RecordedCrypto } from './hive-recorded-crypto.ts';

const NEVER = new AbortController().signal;

interface Scene {
  readonly server: FakeServer;
  readonly alice: PeerTransport;
  readonly account: TestAccount;
  readonly bob: TestAccount;
  readonly crypto: RecordedCrypto;
}

async function inScene(body: (scene: Scene) => Promise<void>): Promise<void> {
  const server = await startFake();
  try {
    const [account, bob, carol] = [
      await server.register('alice'),
      await server.register('bob'),
      await server.register('carol'),
    ];
    const crypto = new RecordedCrypto();
    const alice = transportFor(server, account, { parts: { crypto: async () => crypto } });
    for (const { userId } of [bob, carol])
      server.doors.addRoom({ creator: userId, join: [account.userId], messages: [`About ${userId}: x`] });
    await alice.refresh(NEVER);
    await body({ server, alice, account, bob, crypto });
  } finally {
    await server.stop();
  }
}

const introduce = (alice: PeerTransport) =>
  alice.introduce({ a: 'bob@localhost', b: 'carol@localhost', contextOfA: 'b', contextOfB: 'c' }, NEVER);

/** Types of what Alice sent, oldest first, attempts counted in. */
function sentBy({ server, account }: Scene): readonly string[] {
  const sends = server.wire
    .requests()
    .filter(({ path, userId }) => userId === account.userId && path.includes('/send/'));
  return sends.map(({ path }) => path.split('/').at(-2) ?? '');
}

describe('introductions with encryption', () => {
  verifies(
    ['R4.36', 'R4.76', 'R4.41'],
    'everybody invited gets the key, and only a device that came later is written to again',
    () =>
      inScene(async (scene) => {
        const { alice, crypto } = scene;
        crypto.devices.set('@bob:localhost', ['BOB1']);
        await introduce(alice);
        assert.deepEqual(crypto.targets, [['@alice:localhost', '@bob:localhost', '@carol:localhost']]);
        assert.deepEqual(sentBy(scene), ['m.room.encrypted', 'm.room.encrypted']);
        await alice.refresh(NEVER);
        assert.equal(sentBy(scene).length, 2, 'nobody is late');
        crypto.devices.set('@carol:localhost', ['CAROL1']);
        const again = transportFor(scene.server, scene.account, { parts: { crypto: async () => crypto } });
        scene.server.wire.fail(({ path }) => path.includes('/send/'), {
          type: 'status',
          status: 403,
          body: '{"errcode":"M_FORBIDDEN"}',
        });
        await again.refresh(NEVER);
        assert.ok(![...crypto.reached].some((key) => key.endsWith('CAROL1')), 'what was not sent was not reached');
        await again.refresh(NEVER);
        await again.refresh(NEVER);
        assert.equal(sentBy(scene).length, 2 + 1 + 2, 'one attempt failed, then both lines');
        assert.ok([...crypto.reached].some((key) => key.endsWith('CAROL1')));
      }),
  );

  verifies('R4.76', 'a room that cannot be encrypted for does not starve the others of their introductions', () =>
    inScene(async (scene) => {
      const { alice, crypto, server, account } = scene;
      const names = Array.from({ length: 12 }, (_, at) => `peer-${at}`);
      for (const name of names) {
        const { userId } = server.doors.addAccount(name);
        server.doors.addRoom({ creator: userId, join: [account.userId], messages: [] });
      }
      await alice.refresh(NEVER);
      for (const name of [...names, 'carol'])
        await alice.introduce({ a: 'bob@localhost', b: `${name}@localhost`, contextOfA: 'b', contextOfB: 'c' }, NEVER);
      const lateDevices = crypto.lateDevices.bind(crypto);
      crypto.lateDevices = async (target) => {
        if (target.members.some((userId) => userId.includes('peer-'))) throw brokenStore();
        return lateDevices(target);
      };
      crypto.devices.set('@carol:localhost', ['CAROL1']);
      const again = transportFor(server, account, { parts: { crypto: async () => crypto } });
      for (let turn = 0; turn < 2; turn += 1) await again.refresh(NEVER);
      assert.ok([...crypto.reached].some((key) => key.endsWith('CAROL1')));
    }),
  );

  verifies(['R4.74', 'R4.36'], 'a broken store sends nothing, neither clear nor at all, and acknowledges nothing', () =>
    inScene(async (scene) => {
      const { alice, crypto, server } = scene;
      await introduce(alice);
      server.wire.clear();
      crypto.fault = 'the key store is damaged';
      await assert.rejects(alice.refresh(NEVER), (error) => errorCode(error) === 'peers-encryption');
      const failing = transportFor(server, scene.account, {
        parts: { crypto: () => Promise.reject(brokenStore()) },
      });
      const notices = await failing.refresh(NEVER);
      assert.ok(
        notices.some((text) => text.includes('damaged')),
        notices.join(),
      );
      assert.deepEqual(await failing.refresh(NEVER), [], 'said once');
      assert.equal(failing.peers().length, 2, 'peers are known all the same');
      const syncs = server.wire.requests().filter(({ path }) => path.endsWith('/sync'));
      assert.deepEqual(
        syncs.slice(-2).map(({ query }) => query.since),
        [undefined, undefined],
      );
      const contact = failing.contact({ id: 'dave@localhost', context: 'c', about: 'a' }, NEVER);
      await assert.rejects(contact, (error) => errorCode(error) === 'peers-encryption');
      assert.ok(
        !server.wire.requests().some(({ path }) => /\/(?:send|createRoom)/.test(path)),
        'nobody is even invited',
      );
      const report = await failing.examine(NEVER);
      assert.ok(report.checks.some(({ ok, name }) => !ok && name === 'encryption'));
      await failing.close();
    }),
  );

  verifies(['R4.45', 'R4.57'], 'the position moves on only after keys were stored', () =>
    inScene(async ({ alice, crypto, server }) => {
      const sinceOf = () =>
        server.wire
          .requests()
          .filter(({ path }) => path.endsWith('/sync'))
          .at(-1)?.query.since;
      await alice.refresh(NEVER);
      const before = sinceOf();
      server.doors.addRoom({ creator: '@bob:localhost', join: ['@alice:localhost'] });
      crypto.fault = 'no space left';
      await assert.rejects(alice.refresh(NEVER), (error) => errorCode(error) === 'peers-encryption');
      const failed = sinceOf();
      assert.notEqual(failed, before);
      crypto.fault = undefined;
      await alice.refresh(NEVER);
      assert.equal(sinceOf(), failed);
      assert.equal(crypto.received.at(0)?.isInitial, true);
      assert.equal(crypto.received.at(-1)?.isInitial, undefined);
    }),
  );
});

function brokenStore(): Error {
  return new PeerError('the key store is damaged', { code: 'peers-encryption', fix: 'mend it' });
}
