// Messages between agents whose keys lie on disk: what the server sees, in which order things leave, what survives a restart.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { PeerError } from '#extensions/hive/peers/peer-error.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../../verifies.ts';
import { Agent, type AgentOptions, eventOf, MEGOLM, never, room } from './hive-crypto-bench.ts';
import { HiveKeyServer } from './hive-key-server.ts';

const PAIR = room('!pair:x', '@alice:x', '@bob:x');

describe('messages of an encrypted room', () => {
  verifies(['R4.36', 'R4.37', 'R4.74'], 'both sides read each other; the server sees no word of it', async (t) => {
    const { server, open } = bench(t);
    const [alice, bob] = [await open('alice'), await open('bob')];
    const said = await alice.say(PAIR, 'a secret plan');
    assert.equal(said.type, 'm.room.encrypted');
    await bob.sync();
    assert.equal(await bob.read(said), 'a secret plan');
    const answer = await bob.say(PAIR, 'a secret answer');
    await alice.sync();
    assert.equal(await alice.read(answer), 'a secret answer');
    assert.equal(await alice.read(said), 'a secret plan');
    assert.equal(JSON.stringify([server.calls, said, answer]).includes('secret'), false);
  });

  verifies(['R4.36', 'R4.41'], 'several messages leave with one sharing of keys, in their order', async (t) => {
    const { server, open } = bench(t);
    const [alice, bob, carol] = [await open('alice'), await open('bob'), await open('carol')];
    const all = room('!three:x', '@alice:x', '@bob:x', '@carol:x');
    const texts = ['About @bob:x: knows bees', 'About @carol:x: has a field', 'Why: honey'];
    const clear = texts.map((body) => ({ type: 'm.room.message', content: { msgtype: 'm.text', body } }));
    server.calls.length = 0;
    const contents = await alice.crypto.encrypt(all, clear, never());
    assert.deepEqual(server.paths(), [
      '@alice:x keys/query',
      '@alice:x keys/claim',
      '@alice:x sendToDevice/m.room.encrypted',
    ]);
    for (const reader of [bob, carol]) {
      await reader.sync();
      const read = await Promise.all(contents.map((content) => reader.read(eventOf('@alice:x', all.roomId, content))));
      assert.deepEqual(read, texts);
    }
  });

  verifies('R4.75', 'after a restart the device is the same, and reads and writes on', async (t) => {
    const { server, open, folderOf } = bench(t);
    const [alice, bob] = [await open('alice'), await open('bob')];
    const said = await alice.say(PAIR, 'one');
    await bob.sync();
    const position = bob.crypto.position();
    await bob.crypto.close();
    server.calls.length = 0;
    const again = await open('bob', { sync: false });
    assert.equal(again.crypto.position(), position);
    assert.equal(await again.read(said), 'one');
    await again.sync();
    assert.equal(
      server.calls.some(({ path, body }) => path[2] === 'upload' && body?.device_keys !== undefined),
      false,
    );
    const answer = await again.say(PAIR, 'two');
    await alice.sync();
    assert.equal(await alice.read(answer), 'two');
    const files = readdirSync(folderOf('bob')).map((name) => [
      name,
      statSync(join(folderOf('bob'), name)).mode & 0o777,
    ]);
    assert.deepEqual(
      files.filter(([, mode]) => mode !== 0o600),
      [],
    );
    assert.equal(statSync(folderOf('bob')).mode & 0o777, 0o700);
    assert.deepEqual(again.warnings, []);
  });

  verifies('R4.76', 'who signs in after the introduction is found, and reads what is said again', async (t) => {
    const { open } = bench(t);
    const alice = await open('alice');
    const first = await alice.say(PAIR, 'About @alice:x: your neighbour');
    assert.deepEqual(await alice.crypto.lateDevices(PAIR, never()), []);
    const bob = await open('bob');
    assert.equal(await bob.read(first), undefined);
    await alice.sync();
    const late = await alice.crypto.lateDevices(PAIR, never());
    assert.deepEqual(late, [{ userId: '@bob:x', deviceId: 'BOB' }]);
    const again = await alice.say(PAIR, 'About @alice:x: your neighbour');
    await alice.crypto.noteReached(PAIR.roomId, late);
    assert.deepEqual(await alice.crypto.lateDevices(PAIR, never()), []);
    await bob.sync();
    assert.equal(await bob.read(again), 'About @alice:x: your neighbour');
    await alice.crypto.close();
    const later = await open('alice');
    assert.deepEqual(await later.crypto.lateDevices(PAIR, never()), []);
  });
});

describe('the order of things', () => {
  verifies(
    ['R4.36', 'R4.74'],
    'keys leave only after they are stored; a failure before that sends nothing',
    async (t) => {
      const disk = { isFull: false };
      const { server, open } = bench(t, {
        openDatabase: (path, options) => failing(openDatabase(path, options), disk),
      });
      const [alice, bob] = [await open('alice'), await open('bob')];
      disk.isFull = true;
      server.calls.length = 0;
      await assert.rejects(alice.say(PAIR, 'lost'), { code: 'peers-encryption' });
      assert.deepEqual(
        server.paths().filter((path) => /sendToDevice/.test(path)),
        [],
      );
      disk.isFull = false;
      const said = await alice.say(PAIR, 'kept');
      await bob.sync();
      assert.equal(await bob.read(said), 'kept');
    },
  );

  verifies(
    'R4.75',
    'a position that could not be stored does not advance, and nothing is lost by asking again',
    async (t) => {
      const disk = { isFull: false };
      const { open } = bench(t, { openDatabase: (path, options) => failing(openDatabase(path, options), disk) });
      const [alice, bob] = [await open('alice'), await open('bob')];
      const said = await alice.say(PAIR, 'kept');
      const position = bob.crypto.position();
      disk.isFull = true;
      await assert.rejects(bob.sync(), { code: 'peers-encryption' });
      assert.equal(bob.crypto.position(), position);
      disk.isFull = false;
      await bob.sync();
      assert.equal(await bob.read(said), 'kept');
    },
  );

  verifies(
    ['R4.36', 'R4.74'],
    'the network fails at any of its requests: nothing in clear, and the next try is read',
    async (t) => {
      const { server, open } = bench(t);
      const [alice, bob] = [await open('alice'), await open('bob')];
      for (const which of ['query', 'claim', 'm.room.encrypted']) {
        for (const moment of ['before', 'after'] as const) {
          const target = room(`!${which}${moment}:x`, '@alice:x', '@bob:x', `@${which}${moment}:x`);
          await open(`${which}${moment}`);
          server[moment] = ({ path }) => {
            if (path[2] === which) throw new PeerError('no line', { code: 'peers-unreachable' });
          };
          await assert.rejects(alice.say(target, 'lost'), { code: 'peers-unreachable' }, `${which} ${moment}`);
          server[moment] = () => undefined;
          const said = await alice.say(target, `${which} ${moment}`);
          await bob.sync();
          assert.equal(await bob.read(said), `${which} ${moment}`);
        }
      }
    },
  );

  verifies('R4.74', 'an encryption that we do not know is refused before anything is asked', async (t) => {
    const { server, open } = bench(t);
    const alice = await open('alice');
    server.calls.length = 0;
    const target = { ...PAIR, settings: { ...MEGOLM, algorithm: 'm.megolm.v9' } };
    await assert.rejects(alice.say(target, 'x'), { code: 'peers-encryption' });
    assert.deepEqual(server.calls, []);
  });

  verifies('R4.67', 'nothing is opened, made or loaded before the first agent with keys', async (t) => {
    const { folderOf } = bench(t);
    assert.equal(existsSync(folderOf('nobody')), false);
    const source = readFileSync(
      new URL(import.meta.resolve('#extensions/hive/matrix/crypto/open-machine-crypto.ts')),
      'utf8',
    );
    assert.equal(/^import (?!type)/m.test(source), false, 'the door imports types alone');
  });
});

interface Bench {
  readonly server: HiveKeyServer;
  readonly folderOf: (name: string) => string;
  readonly open: (name: string, options?: { readonly sync?: boolean }) => Promise<Agent>;
}

function bench(t: TestContext, options: Partial<AgentOptions> = {}): Bench {
  const server = new HiveKeyServer();
  const home = createTempHome(t);
  const folderOf = (name: string) => join(home.path, name, 'peers');
  const open = async (name: string, { sync = true } = {}) => {
    const account = { userId: `@${name}:x`, deviceId: name.toUpperCase(), folder: folderOf(name) };
    const agent = await Agent.open({ server, ...account, ...options });
    t.after(() => agent.crypto.close());
    if (sync) await agent.sync();
    return agent;
  };
  return { server, folderOf, open };
}

type Opened = ReturnType<typeof openDatabase>;

/** Durable writes fail while the disk is full. */
function failing(opened: Opened, disk: { readonly isFull: boolean }): Opened {
  const { database } = opened;
  const write = database.transaction.bind(database);
  database.transaction = (work, signal) => {
    if (disk.isFull) return Promise.reject(Object.assign(new Error('no space left'), { code: 'ENOSPC' }));
    return write(work, signal);
  };
  return opened;
}
