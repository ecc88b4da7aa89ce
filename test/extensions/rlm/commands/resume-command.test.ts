import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { openTraceStore, traceStorePath } from '#extensions/rlm/trace/trace-store.ts';
import { createStage, groundOf } from '../../../surfaces/app/app-fixture.ts';
import { verifies } from '../../../verifies.ts';
import { ran, storeKilled, storeRun } from './stored-ground.ts';

/** The composed agent without a model: reflex answers by rule. */
async function stage(t: TestContext) {
  const made = createStage(t);
  const app = await made.open();
  t.after(() => app.shutdown());
  const ground = groundOf(t, { environment: made.environment, app: async () => app });
  const path = ground.places.home;
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return { ground, home: { path } as never, path };
}

describe('rlm resume', () => {
  verifies(
    'rlm:run:resume',
    'a killed run goes on: what was answered is not asked again, and the run holds together',
    async (t) => {
      const { ground, home, path } = await stage(t as TestContext);
      await storeKilled({ home }, 2);
      const { text, failure } = await ran(ground, 'resume', { run: 'run_k' });
      assert.equal(failure, undefined, failure?.message);
      assert.match(text, /^run_killed: 2 calls were answered before; going on\.\nrun run_killed\n/);
      assert.match(text, /verdict {3}accepted/);
      const store = openTraceStore(path, { readOnly: true });
      const calls = store.calls('run_killed');
      store.close();
      assert.deepEqual(
        calls.map(({ model }) => model === 'scripted/default'),
        [true, true, false, false],
      );
      assert.match((await ran(ground, 'verify', { run: 'run_k' })).text, /holds together/);
      assert.match((await ran(ground, 'replay', { run: 'run_k' })).text, /the same again/);
      assert.equal((await ran(ground, 'resume', { run: 'run_k' })).failure?.code, 'run-ended');
    },
  );

  test('a run that lives is left alone, unless it is known to be dead', async (t) => {
    const { ground, home, path } = await stage(t);
    await storeKilled({ home }, 1);
    await storeRun({ home }, { run_id: 'run_done' });
    const { database } = openDatabase(traceStorePath(path), { rooms: [] });
    database.run("UPDATE rlm_runs SET owner = '1 another-machine' WHERE run_id = 'run_killed'");
    database.close();
    const alive = (await ran(ground, 'resume', { run: 'run_killed' })).failure;
    assert.deepEqual([alive?.exitCode, alive?.code], [3, 'run-alive']);
    assert.match(alive?.fix ?? '', /--take-over/);
    assert.equal((await ran(ground, 'resume', { run: 'run_killed', takeOver: true })).failure, undefined);
    assert.equal((await ran(ground, 'resume', { run: 'run_done' })).failure?.code, 'run-ended');
    assert.equal((await ran(ground, 'resume', { run: 'nobody' })).failure?.exitCode, 3);
  });
});
