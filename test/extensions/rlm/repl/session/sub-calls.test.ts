import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import type { ReplHost, SubQuery, SubReply } from '#extensions/rlm/repl/repl-session.ts';
import { slow } from '../../../../slow.ts';
import { echoHost, openGround, withGround } from './session-ground.ts';

const TEXT = Array.from({ length: 40 }, (_, at) => `Line ${at + 1} of the long report.`).join('\n');

function recording(): { readonly host: ReplHost; readonly queries: SubQuery[] } {
  const queries: SubQuery[] = [];
  return {
    queries,
    host: {
      query: (query) => {
        queries.push(query);
        return echoHost.query(query);
      },
    },
  };
}

describe('sub-calls', () => {
  test('are told with question, piece and handle, numbered in the order of asking', async () => {
    const { host, queries } = recording();
    await withGround(TEXT, { host }, async ({ prints }) => {
      const code = `const [chunk] = context.chunks({ lines: 2 });
        const r = await llmQuery('why', chunk);
        const [a, b] = await llmQueryBatched([{ question: 'x', piece: 'plain text' }, { question: 'y' }]);
        const d = await rlmQuery('deep', span(0, 4));
        print(r.ok, r.text, r.claims.length, \`\${r.claims[0]}\`, r.claims[0].text);
        print(\`\${a}\`, a.claims.length, b.text, d.text)`;
      assert.equal(await prints(code), 'true 1: why (54) 1 [c1] Line 1 of \n2: x (10) 0 3: y (0) 4: deep (4)');
    });
    assert.deepEqual(
      queries.map(({ question, piece, over, kind, order }) => [order, kind, question, over, piece?.length ?? null]),
      [
        [1, 'llm', 'why', 'h1', 54],
        [2, 'llm', 'x', null, 10],
        [3, 'llm', 'y', null, null],
        [4, 'rlm', 'deep', 'h2', 4],
      ],
    );
  });

  test('a batch is asked at once', async () => {
    let open = 0;
    let most = 0;
    const query = async (given: SubQuery): Promise<SubReply> => {
      open += 1;
      most = Math.max(most, open);
      await systemClock.sleep(5);
      open -= 1;
      return echoHost.query(given);
    };
    await withGround(TEXT, { host: { query } }, async ({ prints }) => {
      await prints('await llmQueryBatched(Array.from({ length: 8 }, (_, n) => ({ question: n })))');
      assert.equal(most, 8);
    });
  });

  test('claims are handles that an answer and later sub-calls may name', () =>
    withGround(TEXT, {}, async ({ run, prints, session }) => {
      await prints('const r = await llmQuery("why", span(0, 30)); await llmQuery("go on", r.claims[0])');
      const { answer } = await run('finish([{ text: "Line 1 says it.", handles: r.claims }, "And again [c1]."])');
      assert.deepEqual(
        answer?.map(({ handles }) => handles),
        [['c1'], ['c1']],
      );
      assert.equal(await prints('print(compute((claim) => claim.length, r.claims[0]).value)'), '10');
      assert.deepEqual(
        session.handles().map(({ kind }) => kind),
        ['span', 'computed'],
        'child handles are those of the host',
      );
    }));

  test('failures are data', () => {
    const host: ReplHost = { query: async () => ({ ok: false, text: 'budget_calls: no more', claims: [] }) };
    return withGround(TEXT, { host }, async ({ prints }) =>
      assert.equal(await prints('const r = await llmQuery("x"); print(r.ok, r.text)'), 'false budget_calls: no more'),
    );
  });

  test('a host that breaks is a fault, not an outcome; the session goes on', () => {
    let calls = 0;
    const query = async (given: SubQuery): Promise<SubReply> => {
      calls += 1;
      if (calls === 1) throw new Error('the host broke');
      return echoHost.query(given);
    };
    return withGround(TEXT, { host: { query } }, async ({ run, prints }) => {
      await assert.rejects(run('await llmQuery("x")'), /the host broke/);
      assert.equal(await prints('print((await llmQuery("y")).text)'), '2: y (0)');
    });
  });

  test('wrong pieces and questions are errors with words', () =>
    withGround('z'.repeat(1_500_000), {}, async ({ run }) => {
      const wrong: Readonly<Record<string, RegExp>> = {
        'await llmQuery("x", 5)': /a piece is a handle, a chunk, a hit or a text/,
        'await llmQuery("x", { id: "h1" })': /a piece is/,
        'await llmQuery("x", context.slice(0))': /at most 1000000 characters/,
        'await llmQuery("q".repeat(200000))': /a question has at most/,
        'await llmQueryBatched("x")': /takes a list/,
      };
      for (const [code, message] of Object.entries(wrong))
        assert.match((await run(code)).failure?.detail ?? '', message);
    }));

  test('end at their limit, over all blocks; of a batch that goes beyond the first are sent', async () => {
    const { host, queries } = recording();
    await withGround(TEXT, { host, limits: { sub_calls: 3 } }, async ({ run, prints }) => {
      assert.equal((await run('await llmQuery("a")')).failure, null);
      assert.equal(
        await prints(
          'const r = await llmQueryBatched([{question: "b"}, {question: "c"}, {question: "d"}]); print(r.map(({ ok }) => ok).join())',
        ),
        '2 of 3 sub-calls were left and are made; the others have ok: false\ntrue,true,false',
      );
      assert.equal(await prints('try { await llmQuery("e") } catch (error) { print(error.name) }'), 'SubCallLimit');
      assert.equal((await run('await llmQuery("f")')).failure?.reason, 'sub_call_limit');
    });
    assert.deepEqual(
      queries.map(({ question }) => question),
      ['a', 'b', 'c'],
    );
  });

  test('those that nobody waits for are answered before the block ends', async () => {
    await withGround(TEXT, {}, async ({ prints }) => {
      assert.equal(await prints('llmQuery("late").then((r) => print(r.text)); print("first")'), 'first\n1: late (0)');
    });
    await withGround(TEXT, {}, async ({ run }) => {
      const outcome = await run('llmQuery("late").then((r) => print(r.text)); throw new Error("early")');
      assert.deepEqual([outcome.output, outcome.failure?.detail], ['1: late (0)', 'Error: early (line 1)']);
    });
  });
});

describe('a stop', () => {
  const never: ReplHost = { query: () => new Promise(() => {}) };

  for (const [name, code] of Object.entries({
    'while it waits': 'await llmQuery("x")',
    'while it computes': 'await llmQuery("begun"); for (;;);',
  }))
    test(`${name} ends the block`, () => {
      const begun = Promise.withResolvers<void>();
      const query = (given: SubQuery): Promise<SubReply> => {
        begun.resolve();
        return given.question === 'begun' ? echoHost.query(given) : new Promise(() => {});
      };
      return withGround(TEXT, { host: { query } }, async ({ run, session }) => {
        const controller = new AbortController();
        const running = run(`print("begun"); ${code}`, controller.signal);
        await begun.promise;
        controller.abort(new Error('enough'));
        const outcome = await running;
        assert.deepEqual(outcome.failure, { reason: 'cancelled', detail: 'stopped on request' });
        assert.equal(outcome.output, '');
        const fresh = await session.run('print(1)', new AbortController().signal);
        assert.equal(fresh.output, '1');
      });
    });

  test('before the begin, and the end of the session, are outcomes too', async () => {
    const { session, run } = await openGround(TEXT, { host: never });
    const stopped = await run('print(1)', AbortSignal.abort());
    assert.equal(stopped.failure?.reason, 'cancelled');
    const running = run('await llmQuery("x")');
    await systemClock.sleep(50);
    await session.close();
    assert.equal((await running).failure?.reason, 'cancelled');
  });
});

describe('the same code, context and replies', () => {
  const CODE = [
    'const chunks = [...context.chunks({ lines: 5 })]; const replies = await llmQueryBatched(chunks.map((piece, n) => ({ question: "q" + n, piece }))); print(replies.map(String))',
    'const order = []; await Promise.all([1, 2, 3, 4].map(async (n) => { const r = await llmQuery("n" + n); order.push(n); if (n % 2) order.push((await llmQuery("again " + n)).text) })); print(order)',
    'print((await Promise.race([llmQuery("slow"), llmQuery("fast")])).text)',
    'print(compute((c) => c.search(/long/).length, context), span(0, 9)); finish(`All ${replies[0].claims[0]}.`)',
    'print(context.lines(3, 4)); undefinedName',
  ];

  slow('give the same bytes, whatever the latencies', async () => {
    const runs: string[] = [];
    for (const seed of [1, 2, 3]) {
      let turn = seed;
      const query = async (given: SubQuery): Promise<SubReply> => {
        turn = (turn * 16_807) % 2_147_483_647;
        await systemClock.sleep(turn % 12);
        return echoHost.query(given);
      };
      await withGround(TEXT, { host: { query } }, async ({ run, session }) => {
        const outcomes: unknown[] = [];
        for (const code of CODE) outcomes.push(await run(code));
        runs.push(JSON.stringify([outcomes, session.handles(), session.shown()]));
      });
    }
    assert.equal(runs[1], runs[0]);
    assert.equal(runs[2], runs[0]);
    assert.match(runs[0] ?? '', /1: q0/);
  });
});

describe('what was shown', () => {
  const shown = async (...blocks: readonly string[]) =>
    withGround(TEXT, { limits: { output_chars: 200 } }, async ({ run, session }) => {
      for (const code of blocks) await run(code);
      return session.shown();
    });

  slow('counts what was printed or sent, not what only code has seen', async () => {
    assert.deepEqual(await shown('context.slice(0, 500).length; context.search(/report/)'), []);
    assert.deepEqual(await shown('print(context.line(1))'), [[0, 26]]);
    assert.deepEqual(await shown('const l = context.line(2)', 'print("2: " + l)'), [[27, 53]]);
    assert.deepEqual(await shown('await llmQuery("x", span(10, 20)); await llmQuery("x", context.slice(15, 40))'), [
      [10, 40],
    ]);
    assert.deepEqual(await shown('await llmQuery("what of: " + context.line(1))'), [[0, 26]]);
    assert.deepEqual(await shown('print(context.search("Line 3 ")[0])'), [[54, 80]]);
    assert.deepEqual(await shown('compute((c) => c.slice(0).length, context)'), []);
  });

  test('keeps what a killed block has sent', async () => {
    const ranges = await withGround(TEXT, { limits: { block_ms: 300 } }, async ({ run, session }) => {
      await run('await llmQuery("x", span(0, 9)); print(context.line(4)); for (;;);');
      return session.shown();
    });
    assert.deepEqual(ranges, [[0, 9]]);
  });
});
