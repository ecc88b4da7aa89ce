/** Carrying rows where nothing else does, and how that is seen. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { openHomeLog } from '#fleet/styx/home-log.ts';
import { until } from '../../ends.ts';
import { slow } from '../../slow.ts';
import { homeOf } from './home-stage.ts';

const URL = 'nats://127.0.0.1:1';

slow(
  'status says where both ends are, what waits, and the last error with its fix; serve, why it cannot',
  async (t) => {
    const home = homeOf(t);
    assert.equal((await home.run('serve')).failure?.code, 'not-linked');
    await home.run('link', { url: URL, tokenFrom: 'CLADE' });
    const refused = await home.run('serve');
    assert.match(
      `${refused.failure?.code} ${refused.failure?.message} ${refused.failure?.fix}`,
      /^cannot-link CLADE is not set.*\.env/,
    );
    await home.run('link', { url: URL, plain: true });
    const log = openHomeLog({ path: join(home.root, 'styx.db') });
    t.after(() => log.close());
    for (let n = 0; n < 3; n += 1) await log.append('presence', n);
    const end = new AbortController();
    const serving = home.run('serve', {}, { signal: end.signal });
    const status = () => home.run('status');
    await until(async () => /connection refused/.test((await status()).text));
    const { text, data } = await status();
    assert.match(text, /up to row 0 here, 3 rows to go up; down to message 0 of the stream/);
    assert.match(
      text,
      /^waits since .*\nlast error nats:\/\/127\.0\.0\.1:1: connection refused.*; it is tried again at .*\nfix See that the server runs/m,
    );
    assert.deepEqual([Object(data).waits, Object(data).state], [3, 'waits']);
    end.abort();
    assert.match((await serving).text, /^link connecting nats:.*\nlink waits nats:.*connection refused/);
    const { text: off } = await status();
    assert.match(off, /No process carries rows now.*\nlast error .*\nfix See that the server runs/);
    assert.doesNotMatch(off, /tried again/);
  },
);
