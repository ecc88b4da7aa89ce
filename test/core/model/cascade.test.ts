/** The cascade: order, reasons, rests, and what is never passed on. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createCascade } from '#core/model/cascade.ts';
import { ModelError, type ModelEvent } from '#core/model/model-client.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import { collect, GREETING, textOf } from '../../contract/model-client.contract.ts';
import { verifies } from '../../verifies.ts';

function setUp(first: readonly ScriptedStep[], second: readonly ScriptedStep[]) {
  const clock = createManualClock();
  const a = createScriptedModel(first, { id: 'local/a', traits: { contextWindow: 8192 } });
  const b = createScriptedModel(second, { id: 'cloud/b' });
  const cascade = createCascade({ tier: 'T2', clients: [a, b], clock });
  return { clock, a, b, cascade };
}

const fallbacks = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === 'fallback' ? [`${event.from} > ${event.to}: ${event.reason}`] : []));

describe('cascade', () => {
  verifies('core:model:cascade-order', 'the first that answers is used and nothing is said', async () => {
    const { cascade, a, b } = setUp(['hi'], []);
    const events = await collect(cascade, GREETING);
    assert.deepEqual(fallbacks(events), []);
    assert.equal(cascade.id, 'local/a');
    assert.equal(cascade.traits.contextWindow, 8192);
    a.done();
    b.done();
  });

  verifies(
    'core:model:cascade-order',
    'a failure falls through with one line, and is passed over for a minute',
    async () => {
      const { cascade, clock, a, b } = setUp([{ error: 'model-unreachable' }, 'back'], ['hi', 'hi again']);
      const events = await collect(cascade, GREETING);
      const why = 'scripted model-unreachable (tiers.T2 of config.yaml goes on)';
      assert.deepEqual(fallbacks(events), [`local/a > cloud/b: ${why}`]);
      assert.equal(textOf(events), 'hi');
      assert.equal(cascade.active(), b);
      assert.deepEqual(cascade.resting(), [{ id: 'local/a', reason: 'scripted model-unreachable', forMs: 60_000 }]);
      await clock.advance(20_000);
      const second = await collect(cascade, GREETING);
      assert.deepEqual(fallbacks(second), [`local/a > cloud/b: passed over for another 40 s: ${why}`]);
      await clock.advance(40_000);
      assert.equal(cascade.active(), a);
      assert.equal(textOf(await collect(cascade, GREETING)), 'back');
      a.done();
      b.done();
    },
  );

  test('a failure in mid-answer falls through after the event that tells the consumer to drop it', async () => {
    const { cascade } = setUp([{ error: 'model-bad-response', after: 'half ' }], ['whole']);
    const events = await collect(cascade, GREETING);
    const at = events.findIndex((event) => event.type === 'fallback');
    assert.equal(textOf(events.slice(0, at)), 'half ');
    assert.equal(textOf(events.slice(at)), 'whole');
  });

  test('first hour 3: a failed call beside the conversation changes nothing about who answers', async () => {
    const { cascade, a, b } = setUp([{ error: 'model-unreachable' }, 'hi'], ['reviewed']);
    assert.equal(textOf(await collect(cascade, { ...GREETING, purpose: 'review' })), 'reviewed');
    assert.equal(cascade.id, 'local/a');
    assert.deepEqual(cascade.resting(), []);
    const answer = await collect(cascade, GREETING);
    assert.deepEqual([textOf(answer), fallbacks(answer)], ['hi', []]);
    a.done();
    b.done();
  });

  test('with nothing else to ask, a resting model is asked', async () => {
    const clock = createManualClock();
    const only = createScriptedModel([{ error: 'model-unreachable' }, 'back'], { id: 'local/a' });
    const cascade = createCascade({ tier: 'T1', clients: [only], clock });
    await assert.rejects(collect(cascade, GREETING), { code: 'model-unreachable' });
    assert.equal(textOf(await collect(cascade, GREETING)), 'back');
  });

  for (const code of ['model-bad-request', 'model-context-full'] as const) {
    test(`${code} is thrown, not passed on`, async () => {
      const { cascade, b } = setUp([{ error: code }], ['never']);
      await assert.rejects(collect(cascade, GREETING), { code });
      assert.equal(b.left, 1);
    });
  }

  test('a bug is thrown, not passed on', async () => {
    const { cascade } = setUp([{ error: new TypeError('bug') }], ['never']);
    await assert.rejects(collect(cascade, GREETING), /bug/);
  });

  test('the error of all names each', async () => {
    const { cascade } = setUp([{ error: 'model-auth' }], [{ error: 'model-overloaded' }]);
    await assert.rejects(collect(cascade, GREETING), (error: ModelError) => {
      assert.equal(error.message, 'every model failed: scripted model-auth · scripted model-overloaded');
      return error.code === 'model-overloaded';
    });
  });

  test('nothing configured says what to do', async () => {
    const cascade = createCascade({ tier: 'T2', clients: [], clock: createManualClock() });
    await assert.rejects(
      collect(cascade, GREETING),
      (error: ModelError) => error.code === 'model-none' && /\/model add/.test(error.fix ?? ''),
    );
    assert.throws(() => cascade.id, { code: 'model-none' });
  });

  test('a longer wish of the provider lengthens its rest', async () => {
    const wish = new ModelError('later', { code: 'model-rate-limited', retryAfterMs: 300_000 });
    const { cascade } = setUp([{ error: wish }], ['hi']);
    await collect(cascade, GREETING);
    assert.equal(cascade.resting()[0]?.forMs, 300_000);
  });
});
