// The spark engine: who is summed up when, which pairs are weighed, what is kept.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { verifies } from '../../../verifies.ts';
import { lines, stageEngine, summarised } from './hive-engine-stage.ts';
import { idOf } from './hive-memory-transport.ts';
import { GOOD_SPARK } from './hive-spy-infer.ts';

const NEED = { needs: ['TEE security audits'], offers: [], expertise: [], summary_text: 'needs audits' };

describe('the spark engine: summaries', () => {
  verifies(['R4.18', 'R4.19'], 'a peer without a summary gets one, with needs, offers and expertise', async () => {
    const answer = {
      needs: ['an auditor'],
      offers: ['Rust reviews'],
      expertise: ['Rust'],
      summary_text: 'Bob writes Rust.',
    };
    const { run, transport } = stageEngine([{ name: 'bob', says: ['hello'] }], { summary: answer });
    await run();
    assert.deepEqual(transport.kept.get(idOf('bob')), {
      peer_name: 'bob',
      ...answer,
      last_updated: '2026-01-15T12:00:00.000Z',
      message_count_at_update: 1,
      last_message_id: 'm1',
      by: 'model',
    });
  });

  verifies('R4.17', 'four new messages leave a summary as it is, the fifth makes it stale', async () => {
    const { run, transport, spy } = stageEngine([{ name: 'bob', says: ['hello'] }]);
    await run();
    for (const line of lines(4)) transport.say('bob', line);
    await run();
    assert.equal(spy.asked.length, 1);
    transport.say('bob', 'the fifth');
    await run();
    assert.equal(spy.asked.length, 2);
  });

  verifies('R4.17', 'B5: after many more messages than are read at once, five more make it stale again', async () => {
    const { run, transport, spy } = stageEngine([{ name: 'bob', says: lines(50) }]);
    await run();
    assert.equal(transport.kept.get(idOf('bob'))?.message_count_at_update, 50);
    for (const line of lines(5)) transport.say('bob', line);
    await run();
    assert.equal(spy.asked.length, 2);
    assert.equal(transport.kept.get(idOf('bob'))?.message_count_at_update, 55);
    for (const line of lines(4)) transport.say('bob', line);
    await run();
    assert.equal(spy.asked.length, 2);
  });

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

  verifies('R4.58', 'what was summed up is not summed up again after a restart', async () => {
    const { run, transport, spy, restart } = stageEngine([{ name: 'bob', says: lines(3) }, { name: 'carol' }]);
    await run();
    const before = spy.asked.length;
    await restart().run(transport, new AbortController().signal);
    assert.equal(spy.asked.length, before);
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
  verifies(['R4.20', 'R4.21'], 'B12: pairs of a changed peer are weighed, and none when nothing changed', async () => {
    const { run, spy, transport } = stageEngine([...summarised(3), { name: 'new' }]);
    await run();
    assert.deepEqual(spy.about.slice(1), ['new+p0 new+p1 new+p2'], 'one question');
    await run();
    assert.equal(spy.asked.length, 2);
    for (const line of lines(5)) transport.say('p1', line);
    await run();
    assert.deepEqual(spy.about.slice(3), ['p0+p1 p1+p2 new+p1']);
  });

  verifies('R4.21', 'three new peers are weighed as three pairs, one alone as none', async () => {
    const three = stageEngine([{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
    await three.run();
    await three.run();
    const pairs = three.spy.about.filter((names) => names.includes('+')).flatMap((names) => names.split(' '));
    assert.deepEqual(pairs.sort(), ['a+b', 'a+c', 'b+c']);
    const one = stageEngine([{ name: 'a' }]);
    await one.run();
    assert.equal(one.spy.count('spark'), 0);
  });

  verifies(
    ['R4.23', 'R4.27'],
    'sparks of high and medium confidence are kept, low ones and refusals are not',
    async () => {
      const introduce = [
        { pair: 2, reason: 'likely', confidence: 'medium' },
        { pair: 3, reason: 'perhaps', confidence: 'low' },
        { pair: 1, reason: 'sure', confidence: 'high' },
      ];
      const { run, transport, spy } = stageEngine([...summarised(4), { name: 'new' }], { spark: { introduce } });
      await run();
      assert.equal(spy.count('spark'), 1);
      assert.deepEqual(
        transport.stored.map(({ reason, confidence, status, by }) => [reason, confidence, status, by]),
        [
          ['sure', 'high', 'pending', 'model'],
          ['likely', 'medium', 'pending', 'model'],
        ],
      );
      for (const spark of transport.stored) assert.match(spark.id, /^[0-9a-f]{8}$/);
      assert.deepEqual(
        transport.stored.map(({ peer_a, peer_a_id, peer_b_id }) => [peer_a, peer_a_id, peer_b_id]),
        [
          ['new', 'new@hub', 'p0@hub'],
          ['new', 'new@hub', 'p1@hub'],
        ],
      );
    },
  );

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

  verifies(['R4.23', 'R4.28'], 'two peers of one name on two servers are two', async () => {
    const { run, transport } = stageEngine([{ name: 'bob' }, { name: 'carol' }], { spark: GOOD_SPARK, summary: NEED });
    await run();
    const [spark] = transport.stored;
    assert.deepEqual([spark?.peer_a_id, spark?.peer_b_id], ['bob@hub', 'carol@hub']);
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
