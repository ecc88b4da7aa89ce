/** Agents with keys on disk over a whole homeserver: what they read of each other, and how they go on when a key store is lost or old. */

import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { createFetchHttp } from '#extensions/hive/matrix/matrix-http.ts';
import { freshFilter, PEER_FILTER, readSync } from '#extensions/hive/matrix/sync.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { Agent, type KeyServer, never, room } from '../../extensions/hive/key-stage.ts';
import { realClock } from '../../ground.ts';
import type { HiveRawClient } from './hive-raw-client.ts';
import { type HomeserverStart, testsWithAgents } from './hive-raw-client.ts';
import type { TestHomeserver } from './hive-stage.ts';

interface Place {
  readonly server: TestHomeserver;
  readonly client: HiveRawClient;
  readonly folder: string;
  readonly members: readonly string[];
}

export function cryptoContract(name: string, start: HomeserverStart): void {
  type Body = (alice: Place, bob: Place, roomId: string) => Promise<void>;
  const onPair = testsWithAgents(start).verifies;
  const verifies = (ids: string | readonly string[], title: string, body: Body) =>
    onPair(ids, title, async ({ server, alice, bob, carol, room: roomId }) => {
      using home = createTempHome();
      await bob.join(roomId);
      const members = [alice.userId, bob.userId, carol.userId];
      const place = (client: HiveRawClient, folder: string) => ({
        server,
        client,
        members,
        folder: join(home.path, folder),
      });
      await body(place(alice, 'alice'), place(bob, 'bob'), roomId);
    });

  describe(`encryption on a homeserver: ${name}`, () => {
    verifies(['R4.36', 'R4.37', 'R4.75'], 'both sides and a second process read', async (at, to, roomId) => {
      const [alice, bob] = [await open(at), await open(to)];
      await alice.sync();
      const target = room(roomId, ...at.members);
      const said = await alice.say(target, 'one');
      const second = await open(to);
      await bob.sync();
      assert.deepEqual([await bob.read(said), await second.read(said)], ['one', 'one']);
      const answer = await second.say(target, 'two');
      await alice.sync();
      assert.equal(await alice.read(answer), 'two');
      await Promise.all([bob.crypto.close(), second.crypto.close()]);
      const again = await open(to);
      assert.equal(await again.read(said), 'one');
      assert.deepEqual([...alice.warnings, ...bob.warnings, ...again.warnings], []);
      await Promise.all([alice.crypto.close(), again.crypto.close()]);
    });

    verifies('R4.75', 'a lost key store: the sign-in goes on, the next messages are read', async (at, to, roomId) => {
      const [alice, bob] = [await open(at), await open(to)];
      const target = room(roomId, ...at.members);
      await alice.sync();
      const old = await alice.say(target, 'old');
      await bob.sync();
      assert.equal(await bob.read(old), 'old');
      await bob.crypto.close();
      rmSync(to.folder, { recursive: true });
      const again = await open(to);
      assert.match(again.warnings.join('\n'), /keys of this device were lost/);
      assert.equal(await again.read(old), undefined);
      await alice.sync();
      const fresh = await alice.say(target, 'new');
      await again.sync();
      assert.equal(await again.read(fresh), 'new');
      const answer = await again.say(target, 'answer');
      await alice.sync();
      assert.equal(await alice.read(answer), 'answer');
      await Promise.all([alice.crypto.close(), again.crypto.close()]);
    });

    verifies('R4.75', 'a key store put back from a copy: what it misses is asked for', async (at, to, roomId) => {
      const [alice, bob] = [await open(at), await open(to)];
      const target = room(roomId, ...at.members);
      await bob.crypto.close();
      cpSync(to.folder, `${to.folder}-copy`, { recursive: true });
      const later = await open(to);
      await alice.sync();
      const missed = await alice.say(target, 'missed');
      await later.sync();
      assert.equal(await later.read(missed), 'missed');
      await later.say(target, 'said after the copy');
      await later.sync();
      await later.crypto.close();
      rmSync(to.folder, { recursive: true });
      cpSync(`${to.folder}-copy`, to.folder, { recursive: true });
      const stale = await open(to);
      assert.match(stale.warnings.join('\n'), /was put back from a copy/);
      assert.equal(await stale.read(missed), undefined);
      await stale.sync();
      await alice.sync();
      const next = await alice.say(target, 'next');
      await stale.sync();
      assert.equal(await stale.read(next), 'next');
      const answer = await stale.say(target, 'answer');
      await alice.sync();
      assert.equal(await alice.read(answer), 'answer');
      await Promise.all([alice.crypto.close(), stale.crypto.close()]);
    });
  });
}

async function open({ server, client, folder }: Place): Promise<Agent> {
  const { userId, deviceId, accessToken } = client.account;
  const http = createFetchHttp({ homeserver: server.url, accessToken }, realClock);
  const keyServer: KeyServer = {
    http: () => http,
    changes: async (_user, _device, since) => {
      const filter = JSON.stringify(since === undefined ? freshFilter() : PEER_FILTER);
      const query = { timeout: '0', filter, ...(since === undefined ? {} : { since }) };
      const { keys } = readSync(await http({ method: 'GET', path: ['v3', 'sync'], query }, never()));
      return since === undefined ? { ...keys, isInitial: true } : keys;
    },
  };
  const agent = await Agent.open({ server: keyServer, userId, deviceId, folder });
  agent.since = undefined; // a process begins at no position, for it has to know everything
  await agent.sync();
  return agent;
}
