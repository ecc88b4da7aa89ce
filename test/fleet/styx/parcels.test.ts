/** Texts that are too large for one row. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openHomeLog } from '#fleet/styx/home-log.ts';
import { ownerOf } from '#fleet/styx/owner-key.ts';
import { sendParcel, wholeParcels } from '#fleet/styx/parcels.ts';
import { kitsFor, sendKit } from '#fleet/styx/words.ts';
import { createTempHome } from '#testing/temp-home.ts';

const TOPIC = 'golem.ada.testament';

function logOf(t: TestContext) {
  const log = openHomeLog({ path: join(createTempHome(t).path, 'styx.db') });
  t.after(() => log.close());
  return log;
}

test('a text of any size and letters goes in rows under half a megabyte and comes out once, whatever the order of its parts', async (t) => {
  const log = logOf(t);
  const large = `${'ä\u{1F98A}\u0000"\n'.repeat(60_000)}\ud83e`;
  for (const text of [large, '', large]) await sendParcel(log, TOPIC, text, { golem: 'ada-gen1' });
  const rows = log.read([TOPIC], 0, 99);
  assert.ok(rows.length > 5 && rows.every(({ body }) => Buffer.byteLength(JSON.stringify(body)) <= 512 * 1024));
  for (const order of [rows, rows.toReversed(), [...rows, ...rows]]) {
    const found = wholeParcels(order).toSorted((a, b) => b.text.length - a.text.length);
    assert.deepEqual(
      found.map(({ text, about, topic }) => [text === large || text, about, topic]),
      [
        [true, { golem: 'ada-gen1' }, TOPIC],
        ['', { golem: 'ada-gen1' }, TOPIC],
      ],
    );
  }
});

test('a part that is missing, altered or of another log leaves a parcel unopened, and other rows are none', async (t) => {
  const log = logOf(t);
  await sendParcel(log, TOPIC, 'x'.repeat(200_000), {});
  const rows = log.read([TOPIC], 0, 9);
  assert.equal(rows.length, 3);
  const altered = rows.map((row, at) => (at === 1 ? { ...row, body: { ...Object(row.body), text: 'y' } } : row));
  const foreign = rows.map((row, at) => (at === 1 ? { ...row, origin: 'other' } : row));
  const odd = rows.map((row) => ({ ...row, body: { ...Object(row.body), parts: 1e12 } }));
  const none = [null, 'text', { hash: 1 }, { hash: 'a', part: 0, parts: 0, text: '' }];
  const others = none.map((body) => ({ ...Object(rows[0]), body }));
  for (const list of [rows.slice(1), altered, foreign, odd, others]) assert.deepEqual(wholeParcels(list), []);
});

test('one text with other words is another parcel, and nobody else’s takes its place; a kit of parts that two looks see is taken', async (t) => {
  const log = logOf(t);
  const text = 'x'.repeat(200_000);
  const owner = ownerOf(createTempHome(t).path);
  const to = (golem: string) => ({ golem, signer: '0xa', owners: [owner.key], known: {} });
  await sendParcel(log, 'clade.kit', text, {});
  const names = ['ada-gen1', 'bea-gen1'];
  for (const golem of names) await sendKit(log, owner, { golem, signer: '0xa', text });
  assert.equal(wholeParcels(log.read(['clade.kit'], 0, 99)).length, 3);
  for (const golem of names) assert.deepEqual(kitsFor(log, 0, () => to(golem))?.texts, [text]);
  const rows = log.read(['clade.kit'], 0, 99);
  const half = openHomeLog({ path: join(createTempHome(t).path, 'styx.db') });
  t.after(() => half.close());
  await half.take(rows.slice(3, 5));
  const first = kitsFor(half, 0, () => to('ada-gen1'));
  await half.take(rows.slice(5));
  const next = kitsFor(half, first?.upTo ?? 0, () => to('ada-gen1'));
  assert.deepEqual([first?.texts, next?.texts], [[], [text]]);
  assert.equal(
    kitsFor(half, next?.upTo ?? 0, () => to('ada-gen1')),
    undefined,
  );
});
