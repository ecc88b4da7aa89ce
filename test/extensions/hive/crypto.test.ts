/** Agents whose keys lie on disk: what the server sees, in which order things leave, and what becomes of a key store that is gone, old or damaged. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { messagePlace } from '#extensions/hive/crypto/key-batch.ts';
import { PeerError } from '#public/peers.ts';
import type { JsonObject } from '#public/talaria.ts';
import { cryptoContract } from '../../contract/hive/hive-crypto.contract.ts';
import { onFake } from '../../contract/hive/hive-stage.ts';
import { verifies } from '../../verifies.ts';
import { agentsOn, copyOf, eventOf, killStage, MEGOLM, never, PAIR, room, SAY, WAYS } from './key-stage.ts';

describe('messages of an encrypted room', () => {
  verifies.slow(['R4.36', 'R4.37', 'R4.74'], 'both sides read each other; the server sees no word of it', async (t) => {
    const { server, open } = agentsOn(t);
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

  verifies.slow(['R4.36', 'R4.41'], 'several messages leave with one sharing of keys, in their order', async (t) => {
    const { server, open } = agentsOn(t);
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
    const { server, open, folderOf } = agentsOn(t);
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
    const { open } = agentsOn(t);
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
  verifies.slow(['R4.36', 'R4.74'], 'keys leave only after they are stored; a failure sends nothing', async (t) => {
    const disk = { isFull: false };
    const { server, open } = agentsOn(t, {
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
  });

  verifies('R4.75', 'a position that could not be stored does not advance, and nothing is lost', async (t) => {
    const disk = { isFull: false };
    const { open } = agentsOn(t, { openDatabase: (path, options) => failing(openDatabase(path, options), disk) });
    const [alice, bob] = [await open('alice'), await open('bob')];
    const said = await alice.say(PAIR, 'kept');
    const position = bob.crypto.position();
    disk.isFull = true;
    await assert.rejects(bob.sync(), { code: 'peers-encryption' });
    assert.equal(bob.crypto.position(), position);
    disk.isFull = false;
    await bob.sync();
    assert.equal(await bob.read(said), 'kept');
  });

  verifies(['R4.36', 'R4.74'], 'the network fails at any request: nothing in clear, a next try is read', async (t) => {
    const { server, open } = agentsOn(t);
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
  });

  verifies('R4.74', 'an encryption that we do not know is refused before anything is asked', async (t) => {
    const { server, open } = agentsOn(t);
    const alice = await open('alice');
    server.calls.length = 0;
    const target = { ...PAIR, settings: { ...MEGOLM, algorithm: 'm.megolm.v9' } };
    await assert.rejects(alice.say(target, 'x'), { code: 'peers-encryption' });
    assert.deepEqual(server.calls, []);
  });

  verifies('R4.67', 'nothing is opened, made or loaded before the first agent with keys', async (t) => {
    const { folderOf } = agentsOn(t);
    assert.equal(existsSync(folderOf('nobody')), false);
    const source = readFileSync(new URL(import.meta.resolve('#extensions/hive/open-hive.ts')), 'utf8');
    assert.equal(
      /^import (?!type)[^;]*crypto\/machine-crypto/m.test(source),
      false,
      'what opens peers imports its types alone',
    );
  });
});

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

cryptoContract('fake', onFake());

describe('two processes of one home', () => {
  verifies.slow(['R4.75', 'R4.36', 'R4.37'], 'both read and write at once; no key is used twice or lost', async (t) => {
    const { alice, start } = await killStage(t);
    const both = await Promise.all([start(), start()]);
    await Promise.all(both.map((one) => one.run({ do: 'sync' })));

    const used = new Set<string>();
    for (let round = 0; round < 4; round += 1) {
      const said = await alice.say(room(`!round${round}:x`, '@alice:x', '@bob:x'), `round ${round}`);
      await Promise.all(both.map((one) => one.run({ do: 'sync' })));
      const read = await Promise.all(both.map((one) => one.run({ do: 'read', event: said })));
      assert.deepEqual(read, [`round ${round}`, `round ${round}`]);
      const texts = [0, 1, 2].flatMap((at) => both.map((_, which) => `${round} ${at} ${which}`));
      const events = await Promise.all(texts.map((text, at) => both[at % 2]?.run<JsonObject>({ ...SAY, text })));
      await alice.sync();
      assert.deepEqual(await Promise.all(events.map((event) => alice.read(event ?? {}))), texts);
      for (const event of events) used.add(messageKey(event ?? {}));
    }
    assert.equal(used.size, 24, 'each message has a key of its own');
    for (const one of both) assert.deepEqual(await one.run({ do: 'warnings' }), []);
  });
});

/** Session and index, which together are the key of a message: the index stands first in the ciphertext. */
function messageKey({ content }: JsonObject): string {
  const { session_id, ciphertext } = content as JsonObject;
  const bytes = Buffer.from(String(ciphertext), 'base64');
  assert.deepEqual([bytes[0], bytes[1]], [3, 8]);
  assert.ok((bytes[2] ?? 128) < 128);
  return `${session_id} ${bytes[2]}`;
}

describe('a key store that is not what it was', () => {
  verifies.slow(
    'R4.75',
    'an old copy in the same file: keys that the server knows otherwise are replaced',
    async (t) => {
      const { server, alice, bob, folder, reopen } = await pair(t);
      await bob.crypto.close();
      const copy = join(folder, '..', 'copy');
      cpSync(folder, copy, { recursive: true });
      const later = await reopen();
      for (let count = 0; count < 8; count += 1) server.claimFor('@bob:x', 'BOB');
      await later.sync();
      await later.crypto.close();
      // The database alone: a key file that is written again would tell.
      writeFileSync(join(folder, 'crypto.sqlite'), readFileSync(join(copy, 'crypto.sqlite')));

      const stale = await reopen();
      for (let count = 0; count < 8; count += 1) server.claimFor('@bob:x', 'BOB');
      await stale.sync();
      assert.match(stale.warnings.join('\n'), /The server keeps newer keys of this device/);
      const said = await alice.say(PAIR, 'still here');
      await stale.sync();
      assert.equal(await stale.read(said), 'still here');
    },
  );

  verifies('R4.75', 'damaged: the file is kept aside and a new one begins', async (t) => {
    const { alice, bob, folder, reopen } = await pair(t);
    await bob.crypto.close();
    writeFileSync(
      join(folder, 'crypto.sqlite'),
      'this is no database, but it is long enough to be read as one'.repeat(200),
    );
    const again = await reopen();
    await again.sync();
    assert.match(again.warnings.join('\n'), /was damaged; it was kept as .*crypto\.sqlite\.corrupt-/);
    assert.equal(readdirSync(folder).filter((name) => name.startsWith('crypto.sqlite.corrupt-')).length, 1);
    await alice.sync();
    const said = await alice.say(PAIR, 'after');
    await again.sync();
    assert.equal(await again.read(said), 'after');
  });

  verifies.slow('R4.75', 'without its key, or of another sign-in: kept aside, a new one begins', async (t) => {
    const { alice, bob, folder, reopen } = await pair(t);
    await bob.crypto.close();
    rmSync(join(folder, 'store.key'));
    const keyless = await reopen();
    assert.match(keyless.warnings.join('\n'), /are unreadable .*were kept as/);
    await keyless.sync();
    await keyless.crypto.close();
    const other = await reopen('BOB2');
    assert.match(other.warnings.join('\n'), /are of another sign-in; they were kept as/);
    assert.equal(other.crypto.position(), undefined);
    await other.sync();
    await alice.sync();
    const said = await alice.say(PAIR, 'to the new device');
    await other.sync();
    assert.equal(await other.read(said), 'to the new device');
  });

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
  });
});

async function pair(t: TestContext) {
  const { server, open, folderOf } = agentsOn(t);
  const [alice, bob] = [await open('alice'), await open('bob')];
  return {
    server,
    alice,
    bob,
    folder: folderOf('bob'),
    reopen: (deviceId = 'BOB') => open('bob', { sync: false, deviceId }),
  };
}

const QUIET = { toDevice: [], changed: [], left: [], oneTimeKeyCounts: {} };

describe('rooms that were seen encrypted', () => {
  verifies('R4.74', 'a room stays encrypted whatever later syncs leave out, after a restart too', async (t) => {
    const { open } = agentsOn(t);
    const alice = await open('alice', { sync: false });
    assert.deepEqual(alice.crypto.encryptedRooms(), []);
    const encrypted = [
      { roomId: '!a:x', settings: MEGOLM },
      { roomId: '!b:x', settings: { ...MEGOLM, rotation_period_msgs: 7 } },
    ];
    await alice.crypto.receive({ ...QUIET, next: '1', encrypted }, never());
    await alice.crypto.receive({ ...QUIET, next: '2', isInitial: true, encrypted: [] }, never());
    await alice.say(room('!c:x', '@alice:x'), 'a room of which no sync has told yet');
    const all = [
      { roomId: '!a:x', settings: MEGOLM },
      { roomId: '!b:x', settings: { ...MEGOLM, rotation_period_msgs: 7 } },
      { roomId: '!c:x', settings: MEGOLM },
    ];
    assert.deepEqual(alice.crypto.encryptedRooms(), all);
    await alice.crypto.close();
    assert.deepEqual((await open('alice', { sync: false })).crypto.encryptedRooms(), all);
  });

  verifies('R4.74', 'who signs in anew, or loses the key, still knows which rooms are encrypted', async (t) => {
    const { open, folderOf } = agentsOn(t);
    const openAs = (deviceId?: string) => open('alice', { sync: false, ...(deviceId ? { deviceId } : {}) });
    const alice = await openAs();
    await alice.crypto.receive({ ...QUIET, next: '1', encrypted: [{ roomId: '!a:x', settings: MEGOLM }] }, never());
    await alice.crypto.close();
    const anew = await openAs('ALICE2');
    assert.deepEqual(anew.crypto.encryptedRooms(), [{ roomId: '!a:x', settings: MEGOLM }]);
    await anew.crypto.close();
    rmSync(join(folderOf('alice'), 'store.key'));
    assert.deepEqual((await openAs('ALICE2')).crypto.encryptedRooms(), [{ roomId: '!a:x', settings: MEGOLM }]);
  });

  verifies('R4.74', 'settings nested deeper than anybody can write out are no way to stop the sync', async (t) => {
    const alice = await agentsOn(t).open('alice', { sync: false });
    let deep: JsonObject = {};
    for (let level = 0; level < 50_000; level += 1) deep = { deep };
    const settings = { ...MEGOLM, rotation_period_ms: 1, deep, algorithm: MEGOLM.algorithm };
    await alice.crypto.receive({ ...QUIET, next: '1', encrypted: [{ roomId: '!a:x', settings }] }, never());
    const kept = { ...MEGOLM, rotation_period_ms: 1 };
    assert.deepEqual(alice.crypto.encryptedRooms(), [{ roomId: '!a:x', settings: kept }]);
  });
});

describe('keys that were put back from a copy', () => {
  for (const [how, putBack] of Object.entries(WAYS)) {
    verifies(['R4.36', 'R4.75'], `put back ${how}: no message key is used twice, and all is read`, async (t) => {
      const { open, folderOf } = agentsOn(t);
      const bob = await open('bob');
      const folder = folderOf('alice');
      const first = await open('alice');
      const sent = [await first.say(PAIR, 'zero')];
      await first.crypto.close();
      const copy = copyOf(folder);
      const second = await open('alice');
      sent.push(await second.say(PAIR, 'one: the real plan'), await second.say(PAIR, 'two'));
      await second.crypto.close();
      await bob.sync();
      assert.deepEqual(await Promise.all(sent.map((event) => bob.read(event))), ['zero', 'one: the real plan', 'two']);
      putBack(folder, copy);
      const third = await open('alice');
      const after = [await third.say(PAIR, 'one: other words'), await third.say(PAIR, 'two again')];
      assert.equal(new Set([...sent, ...after].map(keyOf)).size, 5);
      if (how === 'without a trace') return;
      assert.match(third.warnings.join('\n'), /was put back from a copy/);
      await bob.sync();
      assert.deepEqual(await Promise.all(after.map((event) => bob.read(event))), ['one: other words', 'two again']);
    });
  }

  verifies('R4.36', 'a process goes on with its own session, also while another one writes to the store', async (t) => {
    const { open } = agentsOn(t);
    const [chat, command] = [await open('alice'), await open('alice')];
    const one = await chat.say(PAIR, 'one');
    await command.sync();
    const two = await chat.say(PAIR, 'two');
    assert.equal(sessionOf(two), sessionOf(one), 'the other one has only received');
    const three = await command.say(PAIR, 'three');
    assert.notEqual(sessionOf(three), sessionOf(one), 'nobody goes on with what another process began');
    const four = await chat.say(PAIR, 'four');
    assert.equal(new Set([one, two, three, four].map(keyOf)).size, 4);
  });
});

function sessionOf({ content }: JsonObject): unknown {
  return (content as JsonObject).session_id;
}

function keyOf({ content }: JsonObject): string {
  const place = messagePlace(content as JsonObject);
  assert.notEqual(place, undefined);
  return JSON.stringify(place);
}
