// The spark engine when others fail: it goes on, keeps what is finished, and says once what is wrong.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { verifies } from '../../../verifies.ts';
import { lines, stageEngine, summarised } from './hive-engine-stage.ts';
import { idOf } from './hive-memory-transport.ts';
import { type Answer, EMPTY_SUMMARY, GOOD_SPARK } from './hive-spy-infer.ts';

describe('the spark engine: faults', () => {
  verifies('R4.25', 'a model that fails breaks nothing, and is told to the owner', async () => {
    const { run, warnings, transport } = stageEngine([{ name: 'a' }, ...summarised(2)], {
      summary: new Error('no credit'),
    });
    await run();
    assert.equal(transport.kept.size, 2);
    assert.match(warnings.join(), /a@hub could not be summed up: no credit/);
  });

  verifies('R4.25', 'B11: an answer that is no summary is no summary, and others are still written', async () => {
    const answers = ['I would rather not.', EMPTY_SUMMARY];
    const { run, warnings, transport } = stageEngine(
      [
        { name: 'a', lastAt: 2 },
        { name: 'b', lastAt: 1 },
      ],
      {
        summary: () => answers.shift() ?? 'none',
      },
    );
    await run();
    assert.deepEqual([...transport.kept.keys()], ['b@hub']);
    assert.equal(warnings.length, 1);
  });

  test('a peer that failed rests, lets others pass, and is tried again after a while or with a new message', async () => {
    const { run, spy, clock, transport } = stageEngine([{ name: 'a' }], { summary: 'nonsense' });
    await run();
    await run();
    assert.equal(spy.asked.length, 1);
    await clock.advance(5 * 60_000);
    await run();
    assert.equal(spy.asked.length, 2);
    await clock.advance(5 * 60_000);
    await run();
    assert.equal(spy.asked.length, 2, 'the second rest is longer');
    transport.say('a', 'new');
    await run();
    assert.equal(spy.asked.length, 3);
  });

  test('what stores, reads or lists may fail: it is told, and the next run goes on', async () => {
    for (const kind of ['messages', 'keep', 'sparks']) {
      const { run, transport, warnings, clock } = stageEngine([{ name: 'a' }, { name: 'b' }], { spark: GOOD_SPARK });
      transport.failing.add(kind);
      await run();
      assert.ok(warnings.length > 0, kind);
      transport.failing.clear();
      await clock.advance(60 * 60_000);
      await run();
      assert.equal(transport.kept.size, 2, kind);
      assert.equal(transport.stored.length, 1, kind);
    }
    const { run, transport, warnings } = stageEngine([{ name: 'a' }]);
    transport.peers = () => {
      throw new Error('broken');
    };
    await run();
    assert.match(warnings.join(), /broken/);
  });

  test('a spark that could not be stored is not paid for twice', async () => {
    const { run, transport, spy } = stageEngine([{ name: 'a' }, { name: 'b' }], { spark: GOOD_SPARK });
    transport.failing.add('sparks');
    await run();
    transport.failing.clear();
    await run();
    assert.equal(spy.count('spark'), 1);
    assert.equal(transport.stored.length, 1);
  });

  test('pairs that get no answer, or none that can be read, wait a while and are weighed then', async () => {
    const answers: Answer[] = [new Error('down'), 'I would introduce them all!', { introduce: 'all' }, GOOD_SPARK];
    const { run, spy, transport, clock } = stageEngine([...summarised(4), { name: 'new' }], {
      spark: () => answers.shift() as Error,
    });
    for (const [minutes, asked] of [
      [0, 1],
      [5, 2],
      [5, 2],
      [5, 3],
    ] as const) {
      await clock.advance(minutes * 60_000);
      for (let turn = 0; turn < 3; turn += 1) await run();
      assert.equal(spy.count('spark'), asked, `${minutes}`);
    }
    await clock.advance(20 * 60_000);
    await run();
    assert.deepEqual([spy.count('spark'), transport.stored.length], [4, 4]);
  });

  test('an abort is thrown; what was finished is kept, and the rest is done by the next run', async () => {
    const stop = new AbortController();
    let asked = 0;
    const stage = stageEngine(
      [
        { name: 'a', lastAt: 2 },
        { name: 'b', lastAt: 1 },
      ],
      {
        summary: () => {
          asked += 1;
          if (asked === 2) stop.abort(new Error('turn is over'));
          return EMPTY_SUMMARY;
        },
        spark: GOOD_SPARK,
      },
    );
    await assert.rejects(stage.run(stop.signal), /turn is over/);
    assert.deepEqual([...stage.transport.kept.keys()], [idOf('a')]);
    assert.deepEqual(stage.warnings, []);
    await stage.run();
    assert.equal(stage.transport.kept.size, 2);
    assert.equal(stage.transport.stored.length, 1);
  });

  test('an abort ends a run whose model never answers', async () => {
    const stop = new AbortController();
    const { transport, engine } = stageEngine([{ name: 'a', says: lines(3) }]);
    const { messages } = transport;
    transport.messages = async (...given) => {
      queueMicrotask(() => stop.abort(new Error('stopped')));
      return messages(...given);
    };
    await assert.rejects(engine.run(transport, stop.signal), /stopped/);
    await assert.rejects(engine.run(transport, stop.signal), /stopped/);
    await engine.run(transport, new AbortController().signal);
    assert.equal(transport.kept.size, 1);
  });
});
