/** Trying again: what, how often, how long between. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withRetry } from '#core/model/cascade.ts';
import { ModelError, type ModelEvent } from '#core/model/model-client.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import { collect, GREETING, textOf } from '../../contract/model-client.contract.ts';
import { verifies } from '../../verifies.ts';

function setUp(steps: readonly ScriptedStep[]) {
  const clock = createManualClock({ auto: true });
  const model = createScriptedModel(steps);
  return { clock, model, client: withRetry(model, { clock, random: () => 0.5 }) };
}

const limited = (retryAfterMs?: number) =>
  new ModelError('busy', {
    code: 'model-rate-limited',
    retryable: true,
    status: 429,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });

describe('retry', () => {
  verifies('core:model:retry-after', 'waits as long as the provider asks, then goes on', async () => {
    const { client, clock, model } = setUp([{ error: limited(7000) }, 'hello']);
    const events = await collect(client, GREETING);
    assert.deepEqual(clock.slept, [7125]);
    assert.deepEqual(events[0], { type: 'retry', model: 'scripted/model', reason: 'busy', attempt: 2, delayMs: 7125 });
    assert.equal(textOf(events), 'hello');
    model.done();
  });

  verifies('core:model:retry-after', 'without a wish the wait doubles; three calls in all', async () => {
    const { client, clock, model } = setUp([
      { error: limited() },
      { error: 'model-overloaded' },
      { error: 'model-unreachable' },
    ]);
    await assert.rejects(collect(client, GREETING), { code: 'model-unreachable' });
    assert.deepEqual(clock.slept, [500, 1000]);
    model.done();
  });

  verifies('core:model:no-retry-after-output', 'what was shown before is dropped by the event', async () => {
    const { client } = setUp([{ error: 'model-overloaded', after: 'half ' }, 'whole']);
    const events = await collect(client, GREETING);
    const at = events.findIndex((event) => event.type === 'retry');
    assert.equal(textOf(events.slice(0, at)), 'half ');
    assert.equal(textOf(events.slice(at)), 'whole');
  });

  test('a wish over a minute fails at once and says so', async () => {
    const { client, clock } = setUp([{ error: limited(600_000) }]);
    await assert.rejects(collect(client, GREETING), (error: ModelError) => {
      assert.match(error.message, /10 min, which is too long/);
      assert.match(error.fix ?? '', /Try again in 10 min/);
      return error.code === 'model-rate-limited' && error.retryAfterMs === 600_000 && !error.retryable;
    });
    assert.deepEqual(clock.slept, []);
  });

  for (const code of [
    'model-auth',
    'model-bad-request',
    'model-timeout',
    'model-not-found',
    'model-context-full',
  ] as const) {
    test(`${code} is not tried again`, async () => {
      const { client, model } = setUp([{ error: code }]);
      await assert.rejects(collect(client, GREETING), { code });
      model.done();
    });
  }

  test('an abort during the wait ends it at once', async () => {
    const clock = createManualClock();
    const client = withRetry(createScriptedModel([{ error: limited(30_000) }, 'never']), { clock });
    const controller = new AbortController();
    const events: ModelEvent[] = [];
    const running = (async () => {
      for await (const event of client.stream(GREETING, controller.signal)) events.push(event);
    })();
    while (clock.pending === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    controller.abort(new Error('enough'));
    await assert.rejects(running, /enough/);
    assert.equal(clock.pending, 0);
    assert.equal(events.length, 1);
  });
});
