/** The link between the logs of two homes: each row once at both ends, whatever the server does. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openHomeLog } from '#fleet/styx/home-log.ts';
import { waitAfter } from '#fleet/styx/link.ts';
import { ownerOf } from '#fleet/styx/owner-key.ts';
import { sendParcel, wholeParcels } from '#fleet/styx/parcels.ts';
import { heed, sendWord } from '#fleet/styx/words.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { styxContract } from '../../contract/styx.contract.ts';
import { until } from '../../ends.ts';
import { verifies } from '../../verifies.ts';
import { FakeStream, linkHome, namesIn, same } from './styx-link-stage.ts';

styxContract('two homes over a stream in memory', (t) => {
  const stream = new FakeStream();
  const homes = [linkHome(t, stream), linkHome(t, stream)];
  const open = (process: number) => {
    const log = openHomeLog({ path: homes[process % 2]?.path ?? '' });
    t.after(() => log.close());
    return log;
  };
  return { open, settled: () => same(...homes.map(({ log }) => log)) };
});

verifies(
  ['RX.1', 'RX.2'],
  'rows go up and down once each, in their order, with what they say, and nobody’s come back',
  async (t) => {
    const stream = new FakeStream();
    const [one, other] = [linkHome(t, stream), linkHome(t, stream)];
    for (let n = 0; n < 300; n += 1)
      await (n % 3 ? one : other).log.append(`golem.g${n % 2}.event`, { n, text: 'ä\u{1F98A}\n' });
    await same(one.log, other.log);
    const bodies = (log: typeof one.log, origin: string) =>
      log.read(['>'], 0, 999).flatMap((row) => (row.origin === origin ? [row.body] : []));
    for (const { origin } of [one.log, other.log]) assert.deepEqual(bodies(one.log, origin), bodies(other.log, origin));
    assert.equal(namesIn(one.log).length, 300);
    assert.equal(stream.letters.length, 300);
    await same(one.log, linkHome(t, stream).log);
    assert.equal(one.states.at(-1)?.state, 'linked');
  },
);

verifies.slow(
  ['R1.71', 'R1.85', 'RX.3'],
  'a testament, a bundle and a word are at the other end at once, whole, and nobody looks for them',
  async (t) => {
    const stream = new FakeStream();
    // Its time stands still: no poll and no timer runs.
    const [one, other] = [linkHome(t, stream), linkHome(t, stream, { clock: createManualClock() })];
    await until(() => other.states.some(({ state }) => state === 'linked'));
    const text = 'x'.repeat(1_500_000);
    const owner = ownerOf(createTempHome(t).path);
    for (const kind of ['testament', 'bundle'])
      await sendParcel(one.log, `golem.ada.${kind}`, text, { golem: 'ada-gen1' });
    await sendWord(one.log, owner, { kind: 'steer', golem: 'bea-gen1', signer: '0xb', text: 'at once' });
    const words = () => other.log.read(['golem.bea.steer'], 0, 9);
    await until(() => words().length === 1);
    const parcels = wholeParcels(other.log.read(['golem.*.testament', 'golem.*.bundle'], 0, 999));
    assert.deepEqual(
      parcels.map((parcel) => [parcel.topic, parcel.text === text, parcel.origin]),
      [
        ['golem.ada.testament', true, one.log.origin],
        ['golem.ada.bundle', true, one.log.origin],
      ],
    );
    const meant = { golem: 'bea-gen1', signer: '0xB', known: {} };
    assert.deepEqual(
      heed(words(), () => ({ ...meant, owners: [owner.key] })).words.map((word) => word.text),
      ['at once'],
    );
    assert.deepEqual(
      heed(words(), () => ({ ...meant, owners: [] })).refused.map(({ refused }) => refused),
      ['unknown-owner'],
    );
  },
);

test('a cut, an emptied store, an older copy, a new stream: what the logs hold stands in both once', async (t) => {
  const stream = new FakeStream();
  const [one, other] = [linkHome(t, stream), linkHome(t, stream)];
  let count = 0;
  const say = async () => {
    for (const { log } of [one, other]) {
      count += 1;
      await log.append('golem.a.event', count);
    }
  };
  const check = async () => {
    await say();
    await same(one.log, other.log);
    assert.equal(namesIn(one.log).length, count);
  };
  await check();
  const older = [...stream.letters];
  for (const fault of [
    () => stream.cut(),
    () => stream.become([], 'second'),
    () => stream.become([]),
    () => stream.become(older),
    () => stream.become(older, 'third'),
    () => stream.become(stream.letters.slice(0, -1)),
    () => stream.become(stream.letters.slice(2)),
  ]) {
    await say();
    fault();
    await check();
  }
});

test('a copy of before that goes on writing while it is away loses nothing either way', async (t) => {
  const stream = new FakeStream();
  const other = linkHome(t, stream);
  const one = linkHome(t, stream);
  for (let n = 1; n <= 5; n += 1) await one.log.append('golem.a.event', n);
  await same(one.log, other.log);
  await until(() => one.log.waiting('link', 9) === 0);
  const copy = join(createTempHome(t).path, 'styx.db');
  const database = new DatabaseSync(one.path);
  await backup(database, copy);
  database.close();
  for (let n = 6; n <= 10; n += 1) await one.log.append('golem.a.event', n);
  await same(one.log, other.log);
  await one.stop();
  const offline = openHomeLog({ path: copy });
  for (const text of ['x', 'y', 'z']) await offline.append('golem.a.steer', text);
  offline.close();
  const restored = linkHome(t, stream, { path: copy });
  await until(() => namesIn(other.log).length === 13);
  await same(restored.log, other.log);
  const steers = other.log.read(['golem.a.steer'], 0, 9).map(({ body }) => body);
  const events = restored.log.read(['golem.a.event'], 0, 99).map(({ body }) => body);
  assert.deepEqual(
    [steers, events],
    [
      ['x', 'y', 'z'],
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    ],
  );
});

test('what was asked while there was no link is not answered when it comes; then one question after another', async (t) => {
  const stream = new FakeStream();
  const asked: string[] = [];
  let atOnce = 0;
  const golems = {
    ask: async (_: string, { what, query = '' }: { readonly what: string; readonly query?: string }) => {
      if (what === 'state') return { ok: true, value: { value: { signer: '0xada' } } };
      asked.push(query);
      atOnce += 1;
      await Promise.resolve();
      assert.equal(atOnce, 1);
      atOnce -= 1;
      return { ok: true, value: query };
    },
  };
  const asker = linkHome(t, stream);
  const body = (query: string) => ({ what: 'grimoire', to: '0xada', query });
  for (let n = 0; n < 20; n += 1) await asker.log.append('golem.ada.ask', body('old'));
  await until(() => stream.letters.length === 20);
  const home = linkHome(t, stream, { door: (async () => golems) as never });
  await until(() => namesIn(home.log).length === 20);
  const ask = (query: string) => asker.log.ask('golem.ada.ask', body(query), { timeoutMs: 20_000 });
  const answers = await Promise.all(['a', 'b', 'c'].map(ask));
  assert.deepEqual(
    answers,
    ['a', 'b', 'c'].map((value) => ({ ok: true, value })),
  );
  assert.deepEqual(asked, ['a', 'b', 'c']);
});

test('a row twice, a thousand times, out of order, too large, of another clade, torn or nameless does no harm', async (t) => {
  const stream = new FakeStream();
  const one = linkHome(t, stream);
  const row = { subject: 'styx.c1ade.far.golem.a.event', id: 'far:1', text: '"x"' };
  for (let n = 0; n < 1_000; n += 1) stream.put(row);
  for (const n of [5, 3, 4]) stream.put({ ...row, id: `far:${n}` });
  for (const odd of [
    ...[{ subject: 'styx.other.far.golem.a.event' }, { subject: 'styx.c1ade.far' }, { subject: 'x' }, { id: '' }],
    ...[{ id: 'near:9' }, { id: 'far:x' }, { text: '{' }, { text: JSON.stringify('x'.repeat(2 * 1024 ** 2)) }],
  ])
    stream.put({ ...row, id: `far:${stream.letters.length}`, ...odd });
  stream.put({ ...row, id: 'far:6' });
  await until(() => namesIn(one.log).includes('far:6'));
  assert.deepEqual(namesIn(one.log), ['far:1', 'far:5', 'far:3', 'far:4', 'far:6']);
  stream.garble = (batch) => [...batch.toReversed(), ...batch];
  for (let n = 7; n < 12; n += 1) stream.put({ ...row, id: `far:${n}` });
  await until(() => namesIn(one.log).length === 10);
  assert.equal(new Set(namesIn(one.log)).size, 10);
});

test('what no message of the server takes stays here and is told of with its fix; all else goes on', async (t) => {
  const stream = new FakeStream();
  stream.most = 1_000;
  const [one, other] = [linkHome(t, stream), linkHome(t, stream)];
  await one.log.append('golem.a.event', 'x'.repeat(2_000));
  await one.log.append('golem.a.event', 'small');
  await until(() => other.log.read(['>'], 0, 9).some(({ body }) => body === 'small'));
  const told = one.states.findLast(({ error }) => error);
  assert.match(
    `${told?.error} ${told?.fix}`,
    /^row .*:1 \(styx\.c1ade\..*\) has 2514 bytes, and the server takes 1000.*max_payload: 2MB/,
  );
});

test('a server that is down is tried after 1, 2, then 60 seconds, and what waited goes up when it comes', async (t) => {
  assert.deepEqual([1, 2, 3, 4, 5, 6, 7].map(waitAfter), [1_000, 2_000, 60_000, 8_000, 16_000, 60_000, 60_000]);
  const stream = new FakeStream();
  stream.isDown = true;
  const [one, other] = [linkHome(t, stream), linkHome(t, stream)];
  await one.log.append('presence', 'waited');
  await until(() => one.states.filter(({ state }) => state === 'waits').length === 2);
  const { error, at, next = 0 } = one.states.findLast(({ state }) => state === 'waits') ?? { at: 0 };
  assert.equal(error, 'connection refused');
  assert.equal(next - at, 2_000);
  stream.isDown = false;
  await same(one.log, other.log);
  assert.equal(namesIn(other.log).length, 1);
});

test('golems of this home are asked from elsewhere, by their key alone; what cannot be answered says why', async (t) => {
  const stream = new FakeStream();
  const value = { golem: 'ada-gen1', lines: [], value: { signer: '0xada' } };
  const golems = {
    ask: async (name: string, { what }: { readonly what: string }) => {
      if (what === 'tick') throw new Error('torn');
      return what === 'skills'
        ? { ok: true, value: 'x'.repeat(2 * 1024 ** 2) }
        : { ok: true, value: { ...value, name } };
    },
  };
  linkHome(t, stream, { door: (async () => golems) as never });
  const asker = linkHome(t, stream);
  const ask = (body: object, timeoutMs = 20_000) => asker.log.ask('golem.ada.ask', { ...body }, { timeoutMs });
  assert.deepEqual(await ask({ what: 'state', to: '0xada' }), { ok: true, value: { ...value, name: 'ada' } });
  assert.match(
    JSON.stringify(await ask({ what: 'skills', to: '0xada' })),
    /^\{"ok":false,"reason":"answer-too-large",/,
  );
  assert.deepEqual(await ask({ what: 'tick', to: '0xada' }), { ok: false, reason: 'failed', detail: 'torn' });
  await assert.rejects(ask({ what: 'state', to: '0xb' }, 300), { code: 'no-answer' });
  await assert.rejects(ask({ kind: 'seed-kit' }, 300), { code: 'no-answer' });
  const bare = new FakeStream();
  linkHome(t, bare);
  const other = linkHome(t, bare);
  const none = await other.log.ask('golem.ada.ask', { what: 'state', to: '0xada' }, { timeoutMs: 20_000 });
  assert.deepEqual(none, { ok: false, reason: 'failed', detail: 'no such door' });
});
