// A scaffold run whose process is killed with SIGKILL: another process goes on with it, asks only what had no answer, and ends alike.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, type TestContext } from 'node:test';
import { runEngine } from '#extensions/rlm/engine.ts';
import { replayRun } from '#extensions/rlm/trace/replay.ts';
import { openTraceStore, type TraceStore } from '#extensions/rlm/trace/trace-store.ts';
import { verifyRun } from '#extensions/rlm/trace/verify-run.ts';
import type { JsonObject } from '#public/talaria.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { go, harbour, recordOf, requestOver, scripted } from '../../extensions/rlm/run/run-ground.ts';
import { verifies } from '../../verifies.ts';

const CHILD = join(import.meta.dirname, 'run-child.ts');
const limits = { max_depth: 5, max_iterations: 100, max_in_flight: 2, max_retries: 1 };
const signal = new AbortController().signal;

/** Killed when so many calls were begun to be answered; undefined: it may end. */
function runInProcess(home: string, killAfter?: number): Promise<string> {
  const child = spawn(process.execPath, [CHILD, home, ...(killAfter === undefined ? [] : [String(killAfter)])], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (piece: Buffer) => {
    output += piece.toString();
    if (killAfter !== undefined && output.split('\n').length > killAfter) child.kill('SIGKILL');
  });
  child.stderr.on('data', (piece: Buffer) => {
    errors += piece.toString();
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve(errors));
  });
}

function opened(t: TestContext, home: string): TraceStore {
  const store = openTraceStore(home);
  t.after(() => store.close());
  return store;
}

describe('a run that is killed', () => {
  verifies(
    'rlm:run:resume',
    'right after its row was written, it goes on with nothing answered, and ends alike',
    async (context) => {
      const t = context as TestContext;
      const { request, texts } = requestOver(harbour(6), { limits });
      const plain = request as unknown as JsonObject;
      const home = createTempHome(t).path;
      const dying = openTraceStore(home);
      dying.begin({ run_id: 'run_test', kind: 'run', request: plain, root: '', sources: [] }, texts);
      dying.close();
      const store = opened(t, home);
      assert.deepEqual(store.events('run_test'), []);
      const again = store.reopen('run_test');
      assert.ok(again.ok, again.ok ? '' : again.detail);
      const outcome = await go(request, again.value, { inner: scripted() });
      assert.equal(outcome.verdict, 'accepted');
      assert.deepEqual(verifyRun(recordOf({ store })), []);
    },
  );

  verifies(
    'rlm:run:resume',
    'goes on in another process, pays for no answer twice, and ends alike',
    async (context) => {
      const t = context as TestContext;
      const first = createTempHome(t).path;
      assert.equal(await runInProcess(first), '');
      const whole = recordOf({ store: opened(t, first) });
      assert.deepEqual(verifyRun(whole), []);
      for (const killAfter of [1, 3, 6]) {
        const home = createTempHome(t).path;
        await runInProcess(home, killAfter);
        const store = opened(t, home);
        const cut = recordOf({ store });
        assert.equal(cut.row.ended_at, null);
        assert.deepEqual(verifyRun(cut), []);
        const replay = await replayRun(cut, { run: runEngine }, signal);
        assert.ok('result' in replay && replay.result === 'cut', JSON.stringify(replay));
        const again = store.reopen('run_test');
        assert.ok(again.ok, again.ok ? '' : again.detail);
        const inner = scripted();
        await go(requestOver(harbour(6), { limits }).request, again.value, { inner });
        assert.equal(inner.requests.length, whole.calls.length - cut.calls.length);
        const done = recordOf({ store });
        assert.equal(done.row.state_hash, whole.row.state_hash);
        assert.deepEqual(verifyRun(done), []);
      }
    },
  );
});
