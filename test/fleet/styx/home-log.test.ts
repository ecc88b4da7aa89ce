/** The log of a home: its contract, what it keeps, and what other processes leave in it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openHomeLog } from '#fleet/styx/home-log.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { styxContract } from '../../contract/styx.contract.ts';
import { ends, until } from '../../ends.ts';
import { runs } from '../../property-runs.ts';
import { slow } from '../../slow.ts';

styxContract('the log of a home', (t) => {
  const path = join(createTempHome(t).path, 'styx.db');
  const open = () => {
    const log = openHomeLog({ path });
    t.after(() => log.close());
    return log;
  };
  return { open, settled: async () => undefined };
});

describe('the log of a home', () => {
  slow('of each golem the newest 10,000 rows stay; what a reader has not passed stays a week', async (t) => {
    const path = join(createTempHome(t).path, 'styx.db');
    const clock = createManualClock();
    const log = openHomeLog({ path, clock });
    t.after(() => log.close());
    const many = async (golem: string, count: number) => {
      for (let n = 0; n < count; n += 1) await log.append(`golem.${golem}.event`, n);
    };
    const count = (golem: string) => log.read([`golem.${golem}.*`], 0, 99_999).length;
    await log.commit('meta', 100);
    await many('quiet', 3);
    await many('busy', 11_997);
    assert.equal(count('busy'), 11_997 - 97, 'what meta has passed went, the rest waits for it');
    await clock.advance(8 * 86_400_000);
    await many('busy', 1_000);
    assert.deepEqual([count('busy'), count('quiet')], [10_000, 3]);
  });

  slow(
    'what one golem was asked, and its answer, stay an hour; a question to nobody longer; and bytes count as rows do',
    async (t) => {
      const path = join(createTempHome(t).path, 'styx.db');
      const clock = createManualClock();
      const log = openHomeLog({ path, clock });
      t.after(() => log.close());
      const talk = { 'golem.a.ask': { to: '0xa' }, 'golem.a.answer': { to: 'far:1', value: 'x' } };
      await log.append('golem.b.ask', { kind: 'seed-kit' });
      await log.commit('meta', 1);
      for (const [topic, body] of Object.entries(talk)) await log.append(topic, body);
      const large = 'x'.repeat(1024 ** 2 - 2);
      const row = { origin: 'far', topic: 'golem.a.bundle', body: large };
      const grow = async (batches: number, from: number) => {
        for (let at = from; at < from + batches; at += 1)
          await log.take(Array.from({ length: 16 }, (_, n) => ({ ...row, originSeq: at * 16 + n })));
      };
      const count = (name: string) => log.read([`golem.*.${name}`], 0, 999).length;
      await grow(1, 0);
      assert.deepEqual(['ask', 'answer'].map(count), [2, 1]);
      await clock.advance(3_600_001);
      await grow(1, 1);
      assert.deepEqual(['ask', 'answer'].map(count), [1, 0]);
      await log.commit('meta', 999);
      await grow(8, 2);
      assert.equal(count('bundle'), 128);
    },
  );

  slow('a look for what is new reads none of what was there, however long the log is', async (t) => {
    const path = join(createTempHome(t).path, 'styx.db');
    const log = openHomeLog({ path });
    t.after(() => log.close());
    const rows = (from: number) => Array.from({ length: 10_000 }, (_, n) => ({ ...row, originSeq: from + n }));
    const row = { origin: 'far', topic: 'golem.busy.tick', body: null };
    await log.append('golem.quiet.heard', 1);
    for (let n = 0; n < 20_000; n += 10_000) await log.take(rows(n));
    const patterns = ['golem.*.heard', 'golem.*.steer'];
    ends('twenty thousand looks', () => {
      for (let n = 0; n < 20_000; n += 1) log.read(patterns, 1, 1_000);
    });
    assert.equal(log.read(patterns, 0, 9).length, 1);
  });

  test('an older copy keeps what it wrote since and nobody carried, under its other name; the rows of the log that it is a copy of are taken', async (t) => {
    const log = openHomeLog({ path: join(createTempHome(t).path, 'styx.db') });
    t.after(() => log.close());
    for (const body of ['a', 'b']) await log.append('golem.a.event', body);
    await log.commit('link', log.read(['>'], 0, 2).at(-1)?.seq ?? 0);
    const { origin } = log;
    for (const body of ['x', 'y', 'b']) await log.append('golem.a.steer', body);
    const row = (originSeq: number, topic = 'golem.a.event') => ({ origin, originSeq, topic, body: `${originSeq}` });
    const known = { origin, originSeq: 2, topic: 'golem.a.event', body: 'b' };
    assert.equal(await log.take([known, row(3), row(4), row(5, 'golem.a.steer'), row(6)]), 4);
    const rows = log.read(['golem.a.*'], 0, 99).map((one) => [one.origin === origin, one.originSeq, one.body]);
    assert.deepEqual(rows.slice(0, 5), [
      [true, 1, 'a'],
      [true, 2, 'b'],
      [false, 1, 'x'],
      [false, 2, 'y'],
      [false, 3, 'b'],
    ]);
    assert.deepEqual(
      rows.slice(5),
      [3, 4, 5, 6].map((n) => [true, n, `${n}`]),
    );
    assert.deepEqual(
      log.latest(['golem.a.steer']).map(({ body }) => body),
      ['b', '5'],
    );
    assert.equal(log.waiting('link', 9), 3);
    await log.append('golem.a.steer', 'next');
    assert.deepEqual([log.read(['golem.a.steer'], 0, 9).at(-1)?.originSeq, log.waiting('link', 2)], [4, 2]);
  });

  test('writers that are killed lose nothing that was acknowledged, and leave no gap', async (t) => {
    const path = join(createTempHome(t).path, 'styx.db');
    const log = openHomeLog({ path });
    t.after(() => log.close());
    const heard: string[] = [];
    log.follow(['golem.*.event'], ({ body }) => heard.push(String(body)));
    const acknowledged: string[] = [];
    for (let round = 0; round < Math.max(2, Math.round(runs(20) / 5)); round += 1) {
      const writers = Array.from({ length: 3 }, (_, n) => {
        const script = `const { openHomeLog } = await import(${JSON.stringify(import.meta.resolve('#fleet/styx/home-log.ts'))});
          const log = openHomeLog({ path: ${JSON.stringify(path)} });
          for (let i = 0; ; i += 1) { await log.append('golem.g${n}.event', '${round}-${n}-' + i); process.stdout.write('${round}-${n}-' + i + '\\n'); }`;
        const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        let text = '';
        child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
        return {
          child,
          ended,
          lines: () =>
            text
              .slice(0, text.lastIndexOf('\n') + 1)
              .split('\n')
              .filter(Boolean),
        };
      });
      await until(() => writers.every(({ lines }) => lines().length > 20 + 13 * round));
      for (const { child, ended } of writers) {
        child.kill('SIGKILL');
        await ended;
      }
      acknowledged.push(...writers.flatMap(({ lines }) => lines()));
    }
    const rows = log.read(['golem.*.event'], 0, 999_999);
    const bodies = rows.map(({ body }) => String(body));
    assert.deepEqual(
      acknowledged.filter((body) => !bodies.includes(body)),
      [],
    );
    assert.equal(new Set(bodies).size, bodies.length, 'none twice');
    assert.deepEqual(
      rows.map(({ originSeq }) => originSeq),
      rows.map((_, at) => at + 1),
    );
    await until(() => heard.length === bodies.length);
    assert.deepEqual(heard, bodies);
  });
});
