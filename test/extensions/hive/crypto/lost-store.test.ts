// What an agent does whose key store is gone, old, damaged or of another sign-in: it goes on, says so once, and new messages can be read.
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext } from 'node:test';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../../verifies.ts';
import { Agent, never, room } from './hive-crypto-bench.ts';
import { HiveKeyServer } from './hive-key-server.ts';

const PAIR = room('!pair:x', '@alice:x', '@bob:x');

describe('a key store that is not what it was', () => {
  verifies(
    'R4.75',
    'lost: the device goes on under its name, later messages of both sides are read, older ones are not',
    async (t) => {
      const { server, alice, bob, folder } = await pair(t);
      const old = await alice.say(PAIR, 'before');
      await bob.sync();
      assert.equal(await bob.read(old), 'before');
      await alice.crypto.noteReached(PAIR.roomId, [{ userId: '@bob:x', deviceId: 'BOB' }]);
      await bob.crypto.close();
      rmSync(folder, { recursive: true });

      const again = await reopen(server, folder);
      assert.equal(again.crypto.position(), undefined);
      await again.sync();
      assert.match(again.warnings.join('\n'), /keys of this device were lost/);
      assert.equal(server.oneTimeKeys('@bob:x', 'BOB').length, 50);
      assert.equal(await again.read(old), undefined);

      await alice.sync();
      assert.match(alice.warnings.join('\n'), /@bob:x has new keys on the same sign-in \(BOB\)/);
      assert.deepEqual(await alice.crypto.lateDevices(PAIR, never()), [{ userId: '@bob:x', deviceId: 'BOB' }]);
      const fresh = await alice.say(PAIR, 'after');
      await again.sync();
      assert.equal(await again.read(fresh), 'after');
      const answer = await again.say(PAIR, 'heard');
      await alice.sync();
      assert.equal(await alice.read(answer), 'heard');
      assert.equal(again.warnings.length, 1);
      await Promise.all([alice.crypto.close(), again.crypto.close()]);
    },
  );

  verifies(
    'R4.75',
    'put back from a copy: keys that it misses are asked for, and the next message can be read',
    async (t) => {
      const { server, alice, bob, folder } = await pair(t);
      const first = await alice.say(PAIR, 'first');
      await bob.sync();
      await bob.crypto.close();
      const copy = join(folder, '..', 'copy');
      cpSync(folder, copy, { recursive: true });

      const later = await reopen(server, folder);
      const other = room('!other:x', '@alice:x', '@bob:x');
      const missed = await alice.say(other, 'missed');
      await later.sync();
      assert.equal(await later.read(missed), 'missed');
      await later.say(PAIR, 'from a time that the copy does not know');
      await later.sync();
      await later.crypto.close();
      rmSync(folder, { recursive: true });
      cpSync(copy, folder, { recursive: true });

      const stale = await reopen(server, folder);
      await stale.sync();
      assert.match(stale.warnings.join('\n'), /was put back from a copy/);
      assert.equal(await stale.read(first), 'first');
      assert.equal(await stale.read(missed), undefined);
      await stale.sync();
      assert.equal(server.waiting('@alice:x', 'ALICE').at(-1)?.type, 'm.room_key_request');
      await alice.sync();
      const next = await alice.say(other, 'next');
      await stale.sync();
      assert.equal(await stale.read(next), 'next');
      const answer = await stale.say(PAIR, 'answer');
      await alice.sync();
      assert.equal(await alice.read(answer), 'answer');
      await Promise.all([alice.crypto.close(), stale.crypto.close()]);
    },
  );

  verifies(
    'R4.75',
    'an old copy in the same file: keys that the server knows otherwise are replaced, nothing stands still',
    async (t) => {
      const { server, alice, bob, folder } = await pair(t);
      await bob.crypto.close();
      const copy = join(folder, '..', 'copy');
      cpSync(folder, copy, { recursive: true });
      const later = await reopen(server, folder);
      for (let count = 0; count < 8; count += 1) server.claimFor('@bob:x', 'BOB');
      await later.sync();
      await later.crypto.close();
      // The database alone: a key file that is written again would tell.
      writeFileSync(join(folder, 'crypto.sqlite'), readFileSync(join(copy, 'crypto.sqlite')));

      const stale = await reopen(server, folder);
      for (let count = 0; count < 8; count += 1) server.claimFor('@bob:x', 'BOB');
      await stale.sync();
      assert.match(stale.warnings.join('\n'), /The server keeps newer keys of this device/);
      const said = await alice.say(PAIR, 'still here');
      await stale.sync();
      assert.equal(await stale.read(said), 'still here');
      await Promise.all([alice.crypto.close(), stale.crypto.close()]);
    },
  );

  verifies('R4.75', 'damaged: the file is kept aside and a new one begins', async (t) => {
    const { server, alice, bob, folder } = await pair(t);
    await bob.crypto.close();
    writeFileSync(
      join(folder, 'crypto.sqlite'),
      'this is no database, but it is long enough to be read as one'.repeat(200),
    );
    const again = await reopen(server, folder);
    await again.sync();
    assert.match(again.warnings.join('\n'), /was damaged; it was kept as .*crypto\.sqlite\.corrupt-/);
    assert.equal(readdirSync(folder).filter((name) => name.startsWith('crypto.sqlite.corrupt-')).length, 1);
    await alice.sync();
    const said = await alice.say(PAIR, 'after');
    await again.sync();
    assert.equal(await again.read(said), 'after');
    await Promise.all([alice.crypto.close(), again.crypto.close()]);
  });

  verifies(
    'R4.75',
    'without its key, or of another sign-in: kept aside with one sentence, a new one begins',
    async (t) => {
      const { server, alice, bob, folder } = await pair(t);
      await bob.crypto.close();
      rmSync(join(folder, 'store.key'));
      const keyless = await reopen(server, folder);
      assert.match(keyless.warnings.join('\n'), /are unreadable .*were kept as/);
      await keyless.sync();
      await keyless.crypto.close();
      const other = await Agent.open({ server, userId: '@bob:x', deviceId: 'BOB2', folder });
      assert.match(other.warnings.join('\n'), /are of another sign-in; they were kept as/);
      assert.equal(other.crypto.position(), undefined);
      await other.sync();
      await alice.sync();
      const said = await alice.say(PAIR, 'to the new device');
      await other.sync();
      assert.equal(await other.read(said), 'to the new device');
      await Promise.all([alice.crypto.close(), other.crypto.close()]);
    },
  );

  verifies('R4.75', 'taken away while it is open: a new one begins, nothing is written into the old one', async (t) => {
    const { alice, bob, folder } = await pair(t);
    rmSync(folder, { recursive: true });
    await bob.sync();
    await bob.sync();
    assert.equal(readdirSync(folder).includes('crypto.sqlite'), true);
    await alice.sync();
    const said = await alice.say(PAIR, 'after');
    await bob.sync();
    assert.equal(await bob.read(said), 'after');
    await Promise.all([alice.crypto.close(), bob.crypto.close()]);
  });
});

async function pair(t: TestContext) {
  const server = new HiveKeyServer();
  const folder = join(createTempHome(t).path, 'peers');
  const aliceFolder = join(createTempHome(t).path, 'peers');
  const alice = await Agent.open({ server, userId: '@alice:x', deviceId: 'ALICE', folder: aliceFolder });
  const bob = await reopen(server, folder);
  await alice.sync();
  await bob.sync();
  return { server, alice, bob, folder };
}

function reopen(server: HiveKeyServer, folder: string): Promise<Agent> {
  return Agent.open({ server, userId: '@bob:x', deviceId: 'BOB', folder });
}
