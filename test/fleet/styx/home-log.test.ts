/** The log of a home: its contract, what it keeps, and what other processes leave in it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openHomeLog } from '#fleet/styx/home-log.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { styxContract } from '../../contract/styx.contract.ts';
import { until } from '../../ends.ts';
import { runs } from '../../property-runs.ts';

styxContract('the log of a home', (t) => {
  const path = join(createTempHome(t).path, 'styx.db');
  return () => {
    const log = openHomeLog({ path });
    t.after(() => log.close());
    return log;
  };
});

describe('the log of a home', () => {
  test('of each golem the newest 10,000 rows stay; what a reader has not passed stays a week', async (t) => {
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
