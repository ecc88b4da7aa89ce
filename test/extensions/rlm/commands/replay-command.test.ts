import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { traceStorePath } from '#extensions/rlm/trace/trace-store.ts';
import { verifies } from '../../../verifies.ts';
import { ran, type Stored, storedHome, storeKilled, storeRun } from './stored-ground.ts';

function tamper({ home }: Stored, sql: string): void {
  const { database } = openDatabase(traceStorePath(home.path), { rooms: [] });
  database.exec(sql);
  database.close();
}

describe('rlm replay', () => {
  verifies('rlm:run:replay', 'a run comes to the same state without an agent being opened', async (t) => {
    const stored = storedHome(t);
    await storeRun(stored);
    const { text, data, failure } = await ran(stored.ground, 'replay', { run: 'run_one' });
    assert.equal(failure, undefined);
    assert.match(
      text,
      /^run_one: the same again \(\d+ events, 4 recorded calls, no model\); state sha256:[0-9a-f]{64}$/,
    );
    assert.equal(data.result, 'same');
  });

  test('an exported run replays and verifies on a machine without the store', async (t) => {
    const stored = storedHome(t);
    await storeRun(stored);
    await ran(stored.ground, 'show', { run: 'run_one', export: 'run.json' });
    const elsewhere = storedHome(t);
    const run = join(stored.home.path, 'run.json');
    assert.match((await ran(elsewhere.ground, 'replay', { run })).text, /the same again/);
    assert.match(
      (await ran(elsewhere.ground, 'verify', { run })).text,
      /^run_one: \d+ events, 4 calls: holds together$/,
    );
    assert.deepEqual(readdirSync(elsewhere.home.path), []);
    const text = stored.home.read('run.json').replaceAll('counted 11 ships', 'counted 12 ships');
    const changed = stored.home.write('changed.json', text);
    assert.equal((await ran(elsewhere.ground, 'verify', { run: changed })).failure?.exitCode, 1);
  });

  test('a killed run is the same up to the cut', async (t) => {
    const stored = storedHome(t);
    await storeKilled(stored, 2);
    const { text, failure } = await ran(stored.ground, 'replay', { run: 'run_killed' });
    assert.equal(failure, undefined);
    assert.match(text, /was killed: the same up to there .*; the call rlm_call_atomic_chunk_003 had no answer yet/);
    assert.match((await ran(stored.ground, 'verify', { run: 'run_killed' })).text, /not ended: holds together/);
  });

  test('what was changed in the store is a difference, and no sound record', async (t) => {
    const stored = storedHome(t);
    await storeRun(stored);
    tamper(stored, "UPDATE rlm_texts SET body = replace(CAST(body AS TEXT), 'counted 12 ships', 'counted 99 ships')");
    const replay = (await ran(stored.ground, 'replay', { run: 'run_one' })).failure;
    assert.deepEqual([replay?.exitCode, replay?.code], [1, 'replay-differs']);
    assert.match(replay?.message ?? '', /The first difference: .*stored .*now/);
    const verify = await ran(stored.ground, 'verify', { run: 'run_one' });
    assert.deepEqual([verify.failure?.exitCode, verify.failure?.code], [1, 'run-unsound']);
    assert.match(verify.text, /response-hash \| call rlm_call_atomic_chunk_002/);
  });

  test('a deleted event is found by both', async (t) => {
    const stored = storedHome(t);
    await storeRun(stored);
    tamper(stored, 'DELETE FROM rlm_events WHERE seq > 10');
    const replay = (await ran(stored.ground, 'replay', { run: 'run_one' })).failure;
    assert.match(replay?.message ?? '', /event 11, type: stored nothing, now/);
    assert.match((await ran(stored.ground, 'verify', { run: 'run_one' })).text, /finish-missing/);
  });

  test('what is not there or is something else is said, with the fix', async (t) => {
    const { home, ground } = storedHome(t);
    const failure = async (name: string, run: string) => {
      const { failure: found } = await ran(ground, name, { run });
      return [found?.exitCode, found?.code];
    };
    home.write('text.txt', 'no JSON');
    home.write('other.json', '{"a": 1}');
    home.write('export.json', '{"schema_version": "talaria.rlm.export.v1"}');
    for (const name of ['replay', 'verify']) {
      assert.deepEqual(await failure(name, './missing.json'), [2, 'file-missing']);
      assert.deepEqual(await failure(name, 'run_nothing'), [3, 'run-not-found']);
      assert.deepEqual(await failure(name, 'text.txt'), [2, 'file-no-json']);
      assert.deepEqual(await failure(name, '.'), [2, 'file-unreadable']);
      assert.deepEqual(await failure(name, 'export.json'), [1, 'not-an-export']);
      assert.deepEqual(await failure(name, 'other.json'), [2, 'artifact-unknown']);
    }
  });
});
