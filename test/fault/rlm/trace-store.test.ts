// Runs under kill -9, under other processes, and cut in the middle.
import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { describe, test } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { runEngine } from '#extensions/rlm/engine.ts';
import { replayRun } from '#extensions/rlm/trace/replay.ts';
import { openTraceStore, traceStorePath } from '#extensions/rlm/trace/trace-store.ts';
import { verifyRun } from '#extensions/rlm/trace/verify-run.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { go, harbour, recordOf, requestOver, run, scripted } from '../../extensions/rlm/run/run-ground.ts';
import { many } from '../../property-runs.ts';
import { assertKept, writeInProcess } from './writing.ts';

const prepared = requestOver(harbour(3));

describe('trace store under faults', () => {
  test('kill -9 at any moment: what was promised is there, and every run is a beginning of itself', async (t) => {
    for (const killAfter of [0, 1, 7, 20]) {
      const home = createTempHome(t).path;
      openTraceStore(home).close();
      const { promises, exit, errors } = await writeInProcess({ home, name: 'k', runs: 6, calls: 8, killAfter });
      assert.ok(exit === null || promises.length >= killAfter, errors);
      assertKept(home, promises);
    }
  });

  test('runs of two processes at once (a hundred in a deep run) are all there', async (t) => {
    const home = createTempHome(t).path;
    openTraceStore(home).close();
    const both = await Promise.all(
      ['a', 'b'].map((name) => writeInProcess({ home, name, runs: many(50, 12), calls: 2 })),
    );
    for (const { exit, errors } of both) assert.equal(exit, 0, errors);
    const promises = both.flatMap((one) => one.promises);
    assert.equal(promises.length, 6 * many(50, 12));
    assertKept(home, promises);
  });

  test('a run of a process that lives is left alone by others', async (t) => {
    const home = createTempHome(t).path;
    const store = openTraceStore(home);
    t.after(() => store.close());
    const { database } = openDatabase(traceStorePath(home), { rooms: [] });
    t.after(() => database.close());
    await run(prepared, { store });
    database.run(`UPDATE rlm_runs SET ended_at = NULL, owner = '${process.ppid} ' || ?`, hostname());
    const reopened = store.reopen('run_test');
    assert.equal(reopened.ok ? '' : reopened.reason, 'run-alive');
  });

  test('events cut off the end of a killed run: it verifies, replays to the cut, and goes on to the same end', async (t) => {
    const home = createTempHome(t).path;
    const store = openTraceStore(home);
    t.after(() => store.close());
    await run(prepared, { store });
    const whole = recordOf({ store });
    const { database } = openDatabase(traceStorePath(home), { rooms: [] });
    t.after(() => database.close());
    for (let kept = whole.events.length - 1; kept >= 0; kept -= 3) {
      database.run('DELETE FROM rlm_events WHERE seq > ?', kept);
      database.run(
        "UPDATE rlm_runs SET ended_at = NULL, state = 'running', outcome = NULL, state_hash = NULL, owner = NULL",
      );
      const cut = recordOf({ store });
      assert.deepEqual(verifyRun(cut), []);
      const replay = await replayRun(cut, { run: runEngine }, new AbortController().signal);
      assert.ok('result' in replay && replay.result === 'cut');
      const again = store.reopen('run_test');
      assert.ok(again.ok);
      const inner = scripted(() => assert.fail('every call is recorded'));
      await go(prepared.request, again.value, { inner });
      assert.equal(recordOf({ store }).row.state_hash, whole.row.state_hash);
    }
  });
});
