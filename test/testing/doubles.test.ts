/** The other doubles: clock, home, faults, server. */
import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { describe, test } from 'node:test';
import { createFaults, failEachOperation } from '#testing/faults.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { startScriptedServer } from '#testing/scripted-server.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../verifies.ts';

describe('manual clock', () => {
  test('timers run in order, each at its time', async () => {
    const clock = createManualClock({ now: 1000 });
    const seen: string[] = [];
    clock.after(30, () => seen.push(`c${clock.now()}`));
    clock.after(10, () => {
      seen.push(`a${clock.now()}`);
      clock.after(5, () => seen.push(`b${clock.now()}`));
    });
    clock.after(20, () => seen.push('cancelled'))();
    await clock.advance(29);
    assert.deepEqual(seen, ['a1010', 'b1015']);
    await clock.advance(1);
    assert.deepEqual(seen, ['a1010', 'b1015', 'c1030']);
    assert.equal(clock.pending, 0);
  });

  test('sleep ends when its signal aborts, and leaves no timer', async () => {
    const clock = createManualClock();
    const controller = new AbortController();
    const sleeping = clock.sleep(1000, controller.signal);
    controller.abort(new Error('up'));
    await assert.rejects(sleeping, /up/);
    assert.equal(clock.pending, 0);
    await assert.rejects(clock.sleep(5, controller.signal), /up/);
  });

  test('a jump moves the wall clock only', async () => {
    const clock = createManualClock({ now: 0 });
    clock.jump(-500);
    assert.equal(clock.now(), -500);
    assert.equal(clock.monotonic(), 0);
  });

  test('auto: sleeping moves the time', async () => {
    const clock = createManualClock({ auto: true });
    await clock.sleep(1000);
    assert.equal(clock.monotonic(), 1000);
    assert.deepEqual(clock.slept, [1000]);
  });
});

test('a temporary home is private and goes with its test', () => {
  const after: (() => void | Promise<void>)[] = [];
  const home = createTempHome({ after: (run) => after.push(run) });
  const file = home.write('a/b.txt', 'hello');
  assert.equal(home.read('a/b.txt'), 'hello');
  assert.equal(statSync(home.path).mode & 0o777, 0o700);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  for (const run of after) void run();
  assert.ok(!existsSync(home.path));
});

describe('faults', () => {
  test('each operation fails once, then a run is unharmed', async () => {
    const failed: (string | undefined)[] = [];
    const tried = await failEachOperation({
      run: (faults) => {
        const store = faults.wrap({ write: (text: string) => text, read: () => 'r', size: 3 }, ['write']);
        store.read();
        store.write('a');
        store.write('b');
        assert.equal(store.size, 3);
      },
      check: (outcome) => {
        failed.push(outcome.failed);
        assert.equal(outcome.thrown === undefined, outcome.failed === undefined);
      },
    });
    assert.equal(tried, 2);
    assert.deepEqual(failed, ['write', 'write', undefined]);
  });

  test('an error that is not the planned one comes through', async () => {
    const bug = new Error('bug');
    await assert.rejects(failEachOperation({ run: () => Promise.reject(bug), check: () => undefined }), bug);
    assert.throws(() => createFaults({ failAt: 1, error: () => bug }).step('x'), bug);
  });
});

describe('scripted server', () => {
  verifies('core:entry:testing', 'an unexpected call gets a 500 and fails done(); leftovers too', async () => {
    const server = await startScriptedServer([]);
    const response = await fetch(`${server.baseUrl}/chat/completions`, { method: 'POST', body: '{"model":"m"}' });
    assert.equal(response.status, 500);
    await response.text();
    assert.throws(() => server.done(), /unexpected POST \/v1\/chat\/completions/);
    assert.deepEqual(server.requests[0]?.body, { model: 'm' });
    await server.close();
    const idle = await startScriptedServer(['never asked']);
    assert.throws(() => idle.done(), /1 steps left over/);
    await idle.close();
  });

  test('lists its models', async () => {
    const server = await startScriptedServer([], { models: ['a', { id: 'b', context_length: 9 }] });
    const listing: unknown = await (await fetch(`${server.baseUrl}/models`)).json();
    assert.deepEqual(listing, {
      object: 'list',
      data: [
        { id: 'a', object: 'model' },
        { id: 'b', context_length: 9 },
      ],
    });
    server.done();
    await server.close();
  });
});
