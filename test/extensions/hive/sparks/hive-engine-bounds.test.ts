// The spark engine: what bounds its cost, and what is left for the next run.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
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
        ['spark', 150],
      ],
    );
  });

  test('ten pairs are put to a model in one run, the best fit first; the rest waits for the next', async () => {
    const peers = summarised(25, (at) =>
      at === 20 ? { offers: ['audits of enclave firmware'] } : { offers: ['pottery'] },
    );
    const need = { needs: ['an enclave firmware audit'], offers: [], expertise: [], summary_text: '' };
    const { run, spy } = stageEngine([...peers, { name: 'new' }], { summary: need });
    await run();
    assert.equal(spy.count('spark'), 10);
    assert.equal(spy.about[1], 'new+p20');
    await run();
    assert.equal(spy.count('spark'), 20);
    await run();
    await run();
    assert.equal(spy.count('spark'), 25);
    assert.equal(new Set(spy.about).size, spy.about.length, 'no pair twice');
  });

  test('by rule two hundred pairs are weighed in one run, with one question', async () => {
    const peers = summarised(230, (at) => ({ offers: [at % 100 === 0 ? 'firmware audits for enclaves' : 'pottery'] }));
    const need = { needs: ['an audit of enclave firmware'], offers: [], expertise: [], summary_text: '' };
    const { run, spy, transport } = stageEngine([...peers, { name: 'new' }], {
      summary: need,
      spark: { should_introduce: true, reason: 'told by rule', confidence: 'medium' },
      byRule: true,
    });
    await run();
    assert.equal(spy.count('spark'), 1);
    assert.deepEqual(transport.stored.map(({ peer_b_id }) => peer_b_id).sort(), ['p0@hub', 'p100@hub', 'p200@hub']);
    assert.ok(transport.stored.every(({ by, confidence }) => by === 'rule' && confidence === 'medium'));
  });

  test('no more than a hundred suggestions wait for the owner', async () => {
    const peers = summarised(150, () => ({ offers: ['firmware audits for enclaves'] }));
    const need = { needs: ['an audit of enclave firmware'], offers: [], expertise: [], summary_text: '' };
    const { run, transport } = stageEngine([...peers, { name: 'new' }], {
      summary: need,
      spark: { ...GOOD_SPARK, confidence: 'medium' },
      byRule: true,
    });
    await run();
    await run();
    assert.equal(transport.stored.length, 100);
    transport.stored = transport.stored.map((spark) => ({ ...spark, status: 'dismissed' }));
    await run();
    assert.equal(transport.stored.length, 150);
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
