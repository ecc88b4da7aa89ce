/** The spark engine: who is summed up when, which pairs are weighed, what is kept, what it does when things fail. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Spark } from '#public/peers.ts';
import { verifies } from '../../verifies.ts';
import {
  type Answer,
  EMPTY_SUMMARY,
  GOOD_SPARK,
  idOf,
  lines,
  NO_SPARK,
  stageEngine,
  summarised,
} from './spark-stage.ts';

describe('the spark engine: summaries', () => {
  verifies('R4.26', 'two summaries a run, those with the newest traffic first', async () => {
    const peers = Array.from({ length: 12 }, (_, at) => ({ name: `p${at}`, lastAt: 1_000 + at }));
    const { run, spy } = stageEngine(peers);
    await run();
    assert.deepEqual(spy.about.slice(0, 2), ['p11', 'p10']);
    assert.equal(spy.count('summary'), 2);
  });

  verifies('R4.26', 'ten peers are looked at in a run; a quiet one has its turn when they need nothing', async () => {
    const fresh = summarised(10).map((peer, at) => ({ ...peer, lastAt: 1_000 + at }));
    const { run, spy } = stageEngine([...fresh, { name: 'quiet' }]);
    await run();
    assert.equal(spy.asked.length, 0, 'the eleventh was not looked at');
    await run();
    assert.equal(spy.about[0], 'quiet');
  });

  test('one that left takes no part, one that is invited does', async () => {
    const { run, spy } = stageEngine([
      { name: 'gone', status: 'left', says: lines(9) },
      { name: 'coming', status: 'invited', context: 'Expert in soil.' },
    ]);
    await run();
    assert.deepEqual(spy.about, ['coming']);
  });
});

describe('the spark engine: pairs', () => {
  verifies('R4.28', 'a pair that has a spark of any status, in either order, is not weighed again', async () => {
    for (const status of ['pending', 'executed', 'dismissed'] as const) {
      const { run, transport, spy } = stageEngine([...summarised(1), { name: 'new' }], { spark: GOOD_SPARK });
      const spark = { peer_a: 'p0', peer_b: 'new', peer_a_id: 'p0@hub', peer_b_id: 'new@hub', reason: 'r', status };
      transport.stored = [
        { id: '00000000', confidence: 'high', created_at: '2026-01-01T00:00:00.000Z', by: 'model', ...spark },
      ];
      await run();
      for (const line of lines(6)) transport.say('new', line);
      await run();
      assert.equal(spy.count('spark'), 0);
      assert.equal(transport.stored.length, 1);
    }
  });

  verifies('R4.28', 'a pair that was dismissed while it was weighed stays dismissed', async () => {
    const stage = stageEngine([...summarised(1), { name: 'new' }], {
      spark: () => {
        const spark = { peer_a: 'p0', peer_b: 'new', peer_a_id: 'p0@hub', peer_b_id: 'new@hub', reason: '' } as const;
        const rest = {
          confidence: 'low',
          created_at: '2026-01-01T00:00:00.000Z',
          by: 'rule',
          status: 'dismissed',
        } as const;
        stage.transport.stored = [{ id: '00000000', ...spark, ...rest }];
        return GOOD_SPARK;
      },
    });
    await stage.run();
    assert.deepEqual(
      stage.transport.stored.map(({ status }) => status),
      ['dismissed'],
    );
  });

  verifies('R4.21', 'nobody is suggested to the one by whom it was introduced', async () => {
    const { run, spy } = stageEngine([
      { name: 'alice' },
      { name: 'carol', by: 'alice' },
      { name: 'dave', by: 'alice' },
    ]);
    for (let turn = 0; turn < 3; turn += 1) await run();
    assert.deepEqual(
      spy.about.filter((names) => names.includes('+')),
      ['carol+dave'],
    );
  });

  verifies(['R4.21', 'R4.28'], 'of thirty peers a model that can tell finds the ten pairs, and no other', async () => {
    const peers = Array.from({ length: 30 }, (_, at) => ({ name: `p${at}` }));
    const fits = new Set(Array.from({ length: 10 }, (_, at) => `p${at} p${29 - at}`));
    const { run, transport, spy } = stageEngine(peers, {
      spark: ({ input }) => {
        const { agents, pairs } = input as unknown as {
          readonly agents: readonly { readonly id: string; readonly name: string }[];
          readonly pairs: readonly { readonly pair: number; readonly a: string; readonly b: string }[];
        };
        const name = (id: string) => agents.find((agent) => agent.id === id)?.name;
        const found = pairs.filter(
          ({ a, b }) => fits.has(`${name(a)} ${name(b)}`) || fits.has(`${name(b)} ${name(a)}`),
        );
        return { introduce: found.map(({ pair }) => ({ pair, reason: 'fits', confidence: 'high' })) };
      },
    });
    for (let turn = 0; turn < 20; turn += 1) await run();
    const stored = transport.stored.map(({ peer_a, peer_b }) => [peer_a, peer_b].sort().join(' '));
    assert.deepEqual(stored.sort(), [...fits].map((pair) => pair.split(' ').sort().join(' ')).sort());
    assert.ok(spy.count('spark') <= 20, `${spy.count('spark')} questions for 435 pairs`);
  });

  verifies('R4.31', 'the engine writes to nobody and introduces nobody', async () => {
    const { run, transport } = stageEngine([{ name: 'a', says: lines(9) }, { name: 'b' }], { spark: GOOD_SPARK });
    await run();
    assert.equal(transport.stored.length, 1);
    const kinds = new Set(transport.calls.map((call) => call.split(' ')[0]));
    assert.deepEqual([...kinds].sort(), ['keep', 'messages', 'sparks']);
  });
});

describe('the spark engine: bounds', () => {
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

describe('the spark engine: faults', () => {
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
