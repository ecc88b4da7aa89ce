import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { openTraceStore, traceStorePath } from '#extensions/rlm/trace/trace-store.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { callRecord, endRun, newEvent, newRun, writeRun } from './trace-samples.ts';
import { traceStoreContract } from './trace-store.contract.ts';

traceStoreContract('file', (context) => {
  const clock = createManualClock();
  const store = openTraceStore(createTempHome(context).path, { clock });
  context.after(() => store.close());
  return { store, clock };
});

const code = (expected: string) => (error: Error & { code?: string }) => error.code === expected;

function homeWithRuns(context: TestContext, runs = 1): string {
  const home = createTempHome(context).path;
  const store = openTraceStore(home);
  for (let at = 1; at <= runs; at += 1) {
    const trace = store.begin(newRun(`rlm_${at}`));
    for (let call = 1; call <= 20; call += 1)
      trace.saveCall(callRecord(`c${call}`, { prompt: `${at} ${call} `.repeat(400) }));
    endRun(trace);
  }
  store.close();
  return home;
}

describe('trace store: the file', () => {
  test('is private, and survives being closed', (context) => {
    const home = homeWithRuns(context);
    const path = traceStorePath(home);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(statSync(join(home, 'rlm')).mode & 0o777, 0o700);
    const store = openTraceStore(home, { readOnly: true });
    assert.equal(store.calls('rlm_1').length, 20);
    assert.throws(() => store.begin(newRun('rlm_2')), code('database-read-only'));
    store.close();
    store.close();
  });

  test('reading makes no file: there are no runs', (context) => {
    const home = createTempHome(context).path;
    const store = openTraceStore(home, { readOnly: true });
    assert.deepEqual(store.list(), []);
    assert.equal(store.find('rlm').ok, false);
    store.close();
    assert.deepEqual(readdirSync(home), []);
  });

  test('a text that stands in many calls is kept once', (context) => {
    const home = createTempHome(context).path;
    const store = openTraceStore(home);
    const trace = store.begin(newRun());
    const prompt = 'the same long prompt '.repeat(5000);
    for (let at = 1; at <= 40; at += 1) trace.saveCall(callRecord(`c${at}`, { prompt }));
    endRun(trace);
    store.close();
    assert.ok(statSync(traceStorePath(home)).size < 400_000);
  });

  test('closing a store lets its runs go: the next one goes on with what was said', (context) => {
    const home = createTempHome(context).path;
    const store = openTraceStore(home);
    writeRun(store.begin(newRun()), 1);
    store.close();
    const next = openTraceStore(home);
    context.after(() => next.close());
    assert.equal(next.events('rlm_1').length, 4);
    const again = next.reopen('rlm_1');
    assert.ok(again.ok);
    writeRun(again.value, 2);
    endRun(again.value);
    assert.deepEqual(
      next.events('rlm_1').map(({ seq }) => seq),
      [1, 2, 3, 4, 5, 6, 7],
    );
  });

  test('a run that another process took over, or removed, is not written to any more', (context) => {
    const home = createTempHome(context).path;
    const store = openTraceStore(home);
    context.after(() => store.close());
    const trace = store.begin(newRun());
    const { database } = openDatabase(traceStorePath(home), { rooms: [] });
    database.run("UPDATE rlm_runs SET owner = '1 elsewhere'");
    assert.throws(() => trace.saveCall(callRecord('c1')), code('run-lost'));
    const other = store.reopen('rlm_1');
    assert.equal(other.ok ? '' : other.reason, 'run-alive');
    database.run('DELETE FROM rlm_runs');
    database.close();
    assert.throws(() => trace.saveCall(callRecord('c1')), code('run-lost'));
    assert.deepEqual(store.calls('rlm_1'), []);
    assert.throws(() => trace.emit(newEvent('rlm.run.started')), code('run-lost'));
    assert.throws(() => store.close(), code('run-lost'));
  });

  test('a newer file is not written, and still read', (context) => {
    const home = homeWithRuns(context);
    const { database } = openDatabase(traceStorePath(home), { rooms: [] });
    database.run("UPDATE schema_versions SET version = 99 WHERE room = 'rlm-trace'");
    database.close();
    assert.throws(() => openTraceStore(home), code('newer-schema'));
    const store = openTraceStore(home, { readOnly: true });
    assert.equal(store.list().length, 1);
    store.close();
  });

  test('a file without our tables is brought up before it is read', (context) => {
    const home = createTempHome(context).path;
    openDatabase(traceStorePath(home), { rooms: [] }).database.close();
    const store = openTraceStore(home, { readOnly: true });
    assert.deepEqual(store.list(), []);
    store.close();
  });

  test('a damaged file is kept aside by who writes, and named by who reads', (context) => {
    const home = createTempHome(context);
    const path = home.write(
      'rlm/runs.sqlite',
      'this is no database, and long enough to be looked at as one\n'.repeat(50),
    );
    assert.throws(() => openTraceStore(home.path, { readOnly: true }), code('database-corrupt'));
    const store = openTraceStore(home.path);
    assert.deepEqual(store.list(), []);
    store.close();
    const [notice] = store.notices;
    assert.equal(notice?.code, 'database-quarantined');
    assert.match(readFileSync(notice?.copy ?? '', 'utf8'), /this is no database/);
    assert.ok(existsSync(path));
  });

  test('a file that was cut anywhere reads whole, or is said to be damaged', (context) => {
    const home = homeWithRuns(context, 3);
    const path = traceStorePath(home);
    const whole = statSync(path).size;
    copyFileSync(path, `${path}.whole`);
    let damaged = 0;
    for (let part = 1; part < 12; part += 1) {
      copyFileSync(`${path}.whole`, path);
      truncateSync(path, Math.floor((whole * part) / 12));
      try {
        const store = openTraceStore(home, { readOnly: true });
        const runs = store.list().map(({ run_id }) => store.calls(run_id).length);
        store.close();
        assert.deepEqual(runs, [20, 20, 20]);
      } catch (error) {
        assert.equal((error as { code?: string }).code, 'database-corrupt');
        damaged += 1;
      }
    }
    assert.ok(damaged >= 10);
    writeFileSync(path, '');
    const store = openTraceStore(home);
    assert.deepEqual(store.list(), []);
    store.close();
  });
});
