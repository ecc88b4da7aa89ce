// The spark engine: what bounds its cost, and what is left for the next run.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Spark } from '#extensions/hive/peers/peer.ts';
import { verifies } from '../../../verifies.ts';
import { lines, stageEngine, summarised } from './hive-engine-stage.ts';
import { GOOD_SPARK, NO_SPARK } from './hive-spy-infer.ts';

describe('the spark engine: bounds', () => {
  verifies('R4.24', 'each question carries its token cap', async () => {
    const { run, spy } = stageEngine([{ name: 'a' }, { name: 'b' }]);
    await run();
    assert.deepEqual(
      spy.asked.map(({ kind, maxOutputTokens }) => [kind, maxOutputTokens]),
      [
        ['summary', 300],
        ['summary', 300],
        ['spark', 600],
      ],
    );
  });

  test('one question to a model a run, about forty pairs at most; the rest waits for the next', async () => {
    const { run, spy } = stageEngine([...summarised(65), { name: 'new' }]);
    for (const asked of [40, 65, 65]) {
      await run();
      const pairs = spy.about.filter((names) => names.includes('+')).flatMap((names) => names.split(' '));
      assert.deepEqual([pairs.length, new Set(pairs).size], [asked, asked]);
    }
    assert.equal(spy.count('spark'), 2);
  });

  test('long notes make a question of fewer pairs, of one at least', async () => {
    const item = 'x'.repeat(120);
    const needs = Array.from({ length: 6 }, (_, at) => `${at} ${item}`);
    const long = { needs, offers: needs, expertise: needs, summary_text: 'y'.repeat(400) };
    const { run, spy } = stageEngine([...summarised(30, () => long), { name: 'new' }], { summary: long });
    for (let turn = 0; turn < 4; turn += 1) await run();
    const questions = spy.asked.filter(({ kind }) => kind === 'spark');
    assert.ok(questions.length > 2 && questions.every(({ input }) => JSON.stringify(input).length < 30_000));
    const [first] = questions;
    assert.match(JSON.stringify(first?.input), /"pair":2/);
  });

  test('rules are asked on in one run, until nothing waits', async () => {
    const { run, spy, transport } = stageEngine([...summarised(230), { name: 'new' }], {
      spark: { introduce: [{ pair: 1, reason: 'told by rule', confidence: 'medium' }] },
      byRule: true,
    });
    await run();
    assert.equal(spy.count('spark'), 6);
    assert.equal(transport.stored.length, 6);
    assert.ok(transport.stored.every(({ by, confidence }) => by === 'rule' && confidence === 'medium'));
  });

  test('with a hundred suggestions before the owner nobody is asked for more', async () => {
    const { run, spy, transport } = stageEngine([...summarised(150), { name: 'new' }], {
      spark: GOOD_SPARK,
      byRule: true,
    });
    for (let turn = 0; turn < 3; turn += 1) await run();
    const found = transport.stored.length;
    assert.ok(found > 15 && spy.count('spark') === 4, `${found}`);
    const { stored } = transport;
    const [spark] = stored;
    transport.stored = Array.from({ length: 100 }, (_, at) => ({ ...spark, id: `${at}`, status: 'pending' }) as Spark);
    transport.stored = [...transport.stored, ...stored];
    for (const line of lines(6)) transport.say('new', line);
    await run();
    assert.equal(spy.count('spark'), 4);
  });

  test('a run that finds nothing to do asks nobody, with ten thousand peers', async () => {
    const { run, transport, spy } = stageEngine(summarised(10_000));
    await run();
    await run();
    assert.equal(spy.asked.length + transport.calls.length, 0);
  });

  test('what is shown to a model is capped, newest messages last', async () => {
    const { run, spy, transport } = stageEngine([{ name: 'a', context: 'c'.repeat(9_000), says: lines(40) }]);
    for (let at = 0; at < 5; at += 1) transport.say('a', `${at}${'x'.repeat(5_000)}`);
    await run();
    const input = spy.asked[0]?.input as unknown as { messages: { text: string }[]; introduction: { text: string } };
    assert.ok(JSON.stringify(input).length < 20_000);
    assert.ok(input.introduction.text.length <= 4_000);
    assert.equal(input.messages.length, 30);
    assert.ok(input.messages.every(({ text }) => text.length <= 1_000));
    assert.match(input.messages.at(-1)?.text ?? '', /^4x/);
  });

  test('a message that could not be read, or came unprotected, is shown to nobody', async () => {
    const says = [
      'fine',
      { text: 'SECRET-A', state: 'clear' as const },
      { text: 'SECRET-B', state: 'unreadable' as const },
    ];
    const { run, spy } = stageEngine([{ name: 'a', says }]);
    await run();
    assert.doesNotMatch(JSON.stringify(spy.asked), /SECRET/);
    assert.match(JSON.stringify(spy.asked), /fine/);
  });

  test('one run at a time: the second waits and does not repeat the first', async () => {
    let running = 0;
    let most = 0;
    const stage = stageEngine([{ name: 'a' }, { name: 'b' }], { spark: NO_SPARK });
    const engineRun = async () => {
      await stage.run();
    };
    const { keepSummary } = stage.transport;
    stage.transport.keepSummary = async (...given) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      await keepSummary(...given);
      running -= 1;
    };
    await Promise.all([engineRun(), engineRun(), engineRun()]);
    assert.equal(most, 1);
    assert.equal(stage.spy.count('summary'), 2);
    assert.equal(stage.spy.count('spark'), 1);
  });
});
