import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ran, storedHome, storeKilled, storeRun } from './stored-ground.ts';

describe('rlm runs', () => {
  test('without a run it says how to make one, and makes no file', async (t) => {
    const { home, ground } = storedHome(t);
    const { text, data, failure } = await ran(ground, 'runs');
    assert.match(text, /no runs yet: talaria rlm run/);
    assert.deepEqual([data, failure, readdirSync(home.path)], [[], undefined, []]);
  });

  test('lists newest first with question, verdict, calls, tokens and cost', async (t) => {
    const stored = storedHome(t);
    await storeRun(stored, { run_id: 'run_a' });
    await storeRun(stored, { run_id: 'run_b', script: () => ({ refuse: 'timeout' }) });
    await storeKilled(stored, 1, 'run_c');
    const { text, data } = await ran(stored.ground, 'runs');
    const [head, ...rows] = text.split('\n');
    assert.equal(head, 'id | when | kind | question | verdict | calls | tokens | cost');
    assert.deepEqual(
      rows.map((row) => row.replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/, 'when')),
      [
        'run_c | when | run | List every fact about the harbour with its id. | not ended | - | - | -',
        'run_b | when | run | List every fact about the harbour with its id. | failed | 6 | - | unknown',
        'run_a | when | run | List every fact about the harbour with its id. | accepted | 4 | 480 | $0.0040',
      ],
    );
    assert.equal((data as unknown as unknown[]).length, 3);
    assert.equal((await ran(stored.ground, 'runs', { limit: 1 })).text.split('\n').length, 2);
    assert.match((await ran(stored.ground, 'runs', { kind: 'ask' })).text, /no runs yet/);
  });
});

describe('rlm prune', () => {
  test('removes what is old and has ended, with what was piped in; tells first when asked to', async (t) => {
    const stored = storedHome(t);
    await storeRun(stored, { run_id: 'run_a' });
    await storeRun(stored, { run_id: 'run_b' });
    await storeKilled(stored, 1, 'run_c');
    const piped = join(stored.home.path, 'rlm', 'contexts', 'run_a');
    mkdirSync(piped, { recursive: true });
    const pruned = async (flags: object) => (await ran(stored.ground, 'prune', { olderThan: 0, ...flags })).text;
    assert.equal(await pruned({ olderThan: 1 }), '0 runs removed.');
    assert.equal(await pruned({ dryRun: true, keep: 2 }), '1 run would be removed: run_a');
    assert.ok(existsSync(piped));
    assert.equal(await pruned({ keep: 2 }), '1 run removed: run_a');
    assert.ok(!existsSync(piped));
    assert.equal(await pruned({}), '1 run removed: run_b');
    assert.equal(await pruned({ killed: true }), '1 run removed: run_c');
    assert.match((await ran(stored.ground, 'runs')).text, /no runs yet/);
  });
});
