/** Grades in a run: the recorded reading of a model, what goes back once, sub-asks beside each other, code that has no end. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { InnerCall } from '#extensions/rlm/call/inner-call.ts';
import { createScriptedJudge } from '#testing/scripted-model.ts';
import { slow } from '../../../slow.ts';
import { verifies } from '../../../verifies.ts';
import type { ScriptedInner } from '../call/scripted-call.ts';
import { holds, js, type Played, playAsk } from './ask-scene.ts';

const ANSWER = js(`
  const h = span(context.search("port")[0]);
  finish([
    {text: "The gateway listens on port 8080.", handles: [h]},
    {text: "Requests are taken at 8080.", handles: [h]},
    {text: "It is the fastest gateway.", handles: [h]},
  ]);`);

function grades({ outcome }: Played): readonly string[] {
  return outcome.sentences.map(({ grade, model }) => (model === '' ? grade : `${grade} by ${model}`));
}

describe('rlm/ask: what a model reads of an answer', () => {
  verifies(['rlm:ask:cited', 'rlm:run:replay'], 'one recorded call for all, and a replay needs no judge', async () => {
    const judge = createScriptedJudge(({ text }) => (text.includes('fastest') ? 'goes-beyond' : 'supported'));
    const played = await playAsk({ script: () => ANSWER, judge });
    assert.deepEqual(grades(played), ['quoted', 'supported by scripted/judge', 'not-supported by scripted/judge']);
    // The refused sentence went back once, and was given again.
    assert.deepEqual(
      judge.asked.map(({ claims, policy }) => [claims.length, policy.task, policy.subject]),
      [
        [2, 'show', 'ask_1'],
        [2, 'show', 'ask_1'],
      ],
    );
    assert.match(judge.asked[0]?.sources[0]?.text ?? '', /^notes\.md\n[\s\S]*listens on port 8080/);
    const calls = played.store.calls('ask_1').map(({ call_id, mode }) => [call_id, mode]);
    assert.deepEqual(calls, [
      ['ask:root:001', 'repl_root'],
      ['ask:judge:001', 'judge'],
      ['ask:root:002', 'repl_root'],
      ['ask:judge:002', 'judge'],
    ]);
    assert.equal(played.outcome.totals.calls, 4);
    assert.notEqual(played.outcome.totals.input_tokens, null);
    await holds(played, { judge: createScriptedJudge('contradicts') });
  });

  test('a judge that says garbage, or nobody: nothing is supported, nothing is lost', async () => {
    const told = ['quoted', 'not-supported', 'not-supported'];
    const garbage = {
      isThere: () => true,
      judge: async () => [{ id: 'sentence 9', verdict: 'supported', why: '', model: 'm' }] as const,
    };
    assert.deepEqual(
      grades(await playAsk({ script: () => ANSWER, judge: garbage })).map((one) => one.split(' ')[0]),
      told,
    );
    const played = await playAsk({ script: () => ANSWER });
    assert.deepEqual(grades(played), told);
    assert.equal(played.requests.length, 1, 'what nobody read does not go back');
  });

  test('the better of two answers counts; without a second the first does', async () => {
    const judge = createScriptedJudge('supported');
    const first =
      '{"answer": [{"text": "The gateway listens on port 8080.", "handles": []}, {"text": "It is at 9.", "handles": []}]}';
    const worse = await playAsk({
      judge,
      script: { 'ask:root:001': first, 'ask:root:002': '{"answer": "It is at 7."}' },
    });
    assert.deepEqual(grades(worse), ['quoted', 'not-supported']);
    const silent: ScriptedInner = { refuse: 'no_model' };
    const none = await playAsk({ judge, script: { 'ask:root:001': first, 'ask:root:002': silent } });
    assert.deepEqual([none.outcome.verdict, ...grades(none)], ['answered', 'quoted', 'not-supported']);
    await holds(none, { judge });
  });

  test('out of budget a call is left for the judge', async () => {
    const script = {
      'ask:root:001': js('await llmQueryBatched([1,2,3,4].map((n) => ({question: "q" + n, piece: span(n, 60)})))'),
    };
    const reply = ({ call_id }: { readonly call_id: string }): ScriptedInner => {
      if (call_id.includes('sub')) return '{"answer": "", "claims": []}';
      return call_id === 'ask:root:001' ? script['ask:root:001'] : ANSWER;
    };
    const judge = createScriptedJudge('supported');
    const played = await playAsk({ judge, script: reply, request: { budget: { max_calls: 5 } } });
    assert.deepEqual(grades(played), ['quoted', 'supported by scripted/judge', 'supported by scripted/judge']);
    assert.match(played.outcome.gaps[0]?.why ?? '', /^budget_calls/);
  });
});

/** Replies of nested asks: none comes before so many were asked. */
function besideEachOther(least: number): () => Promise<string> {
  const all = Promise.withResolvers<void>();
  let asked = 0;
  return async () => {
    asked += 1;
    if (asked >= least) all.resolve();
    await all.promise;
    return js('const [hit] = context.search("port"); finish(hit ? [{text: hit.text, handles: [span(hit)]}] : [])');
  };
}

describe('rlm/ask: sub-calls', () => {
  const nestedCode = js(`
    const parts = [...context.chunks({lines: 50})].slice(0, 2);
    const replies = await Promise.all(parts.map((part) => rlmQuery("Which port?", part)));
    print(replies.map(({ok, text}) => ok + ": " + text).join(" | "));
    finish(replies.flatMap(({claims}) => claims).map((claim) => ({text: claim.text, handles: [claim]})));`);

  verifies.slow(
    'rlm:run:replay',
    'asks within an ask run beside each other, and tell their events in the order of asking',
    async () => {
      const play = (concurrency: number) => {
        const nested = besideEachOther(concurrency > 1 ? 2 : 1);
        const call: InnerCall['call'] = async ({ call_id }) => {
          const completion = call_id.includes('rlm') ? await nested() : nestedCode;
          return {
            ok: true,
            value: { completion, model: 'm', usage: null, cost: null, elapsed_ms: 1, exit_code: null },
          };
        };
        const request = { concurrency, max_steps: 3 };
        return playAsk({ request, script: () => '', inner: { family: 'default', call } });
      };
      const one = await play(1);
      const four = await play(4);
      assert.deepEqual(grades(four), ['quoted']);
      const told = ({ store }: Played) =>
        store.events('ask_1').map(({ type, node_id, data }) => ({ type, node_id, data }));
      assert.deepEqual(told(four), told(one));
      await holds(four, { request: { concurrency: 4, max_steps: 3 } });
    },
  );

  slow('a range of any size goes to several asks', async () => {
    const text = `${'one line of filler\n'.repeat(60_000)}The lamp burns oil.\n${'more\n'.repeat(300_000)}`;
    const { outcome, store } = await playAsk({
      text,
      script: ({ call_id }) =>
        call_id.includes('rlm')
          ? js('const [hit] = context.search("lamp"); finish(hit ? [{text: hit.text, handles: [span(hit)]}] : [])')
          : js(
              'const r = await rlmQuery("What burns?", context); finish(r.claims.map((c) => ({text: c.text, handles: [c]})))',
            ),
    });
    assert.deepEqual(
      outcome.sentences.map(({ text: said, grade }) => [said, grade]),
      [['The lamp burns oil.', 'quoted']],
    );
    const asks = new Set(store.calls('ask_1').flatMap(({ call_id }) => /^ask:rlm:\d+:\d+/.exec(call_id) ?? []));
    assert.equal(asks.size, 3);
  });

  test('a batch larger than what is left makes those that are left, and says so', async () => {
    const { outcome, store, requests } = await playAsk({
      request: { repl: { memory_bytes: 64 * 1024 * 1024, block_ms: 4_000, output_chars: 2_000, sub_calls: 3 } },
      script: ({ call_id }) =>
        call_id.includes('sub')
          ? '{"answer": "yes", "claims": []}'
          : js(`const r = await llmQueryBatched([1,2,3,4,5].map((n) => ({question: "q" + n, piece: span(n, 60)})));
                print(r.map(({ok, text}) => ok + " " + text).join("; "));
                finish([{text: "The gateway listens on port 8080.", handles: [span(0, 60)]}])`),
    });
    assert.equal(outcome.verdict, 'answered');
    assert.equal(requests.length, 4);
    assert.match(
      JSON.stringify(store.events('ask_1')),
      /3 of 5 sub-calls were left and are made; the others have ok: false\\ntrue yes; true yes; true yes; false not asked: no sub-call was left; false/,
    );
  });

  test('replies are values, and a family may be named', async () => {
    const { store, requests } = await playAsk({
      request: { models: ['strong'] },
      script: ({ call_id }) => {
        if (call_id === 'ask:sub:001:001') return '{"answer": {"port": 8080}, "claims": []}';
        if (call_id === 'ask:sub:001:002') return '{"answer": "```json\\n[1, 2]\\n```", "claims": []}';
        if (call_id.includes('sub')) return '{"answer": "just words", "claims": []}';
        return js(`const p = span(0, 60);
          const [a, b, c] = await llmQueryBatched([{question: "as JSON", piece: p}, {question: "list", piece: p}, {question: "text", piece: p}]);
          const d = await llmQuery("?", p, {model: "strong"});
          const e = await llmQuery("?", p, {model: "nobody"});
          print(a.value.port + 1, b.value.length, c.value, d.ok, d.text, e.ok, e.text);
          finish([{text: "The gateway listens on port 8080.", handles: [p]}])`);
      },
    });
    assert.match(
      JSON.stringify(store.events('ask_1')),
      /8081 2 just words false .*no_model.* false there is no model nobody; models: strong/,
    );
    assert.match(requests[0]?.prompt ?? '', /"models":\["strong"\]/);
  });
});

describe('rlm/ask: time', () => {
  for (const [what, code] of [
    ['a loop', 'for (;;) {}'],
    ['a slow regex', 'print(/^(a+)+$/.test("a".repeat(40) + "b"))'],
  ] as const)
    test(`${what} ends with the time of the run`, async () => {
      const late = new AbortController();
      let blocks = 0;
      const { outcome } = await playAsk({
        late: late.signal,
        script: ({ call_id }) => {
          if (call_id === 'ask:root:final') return '{"answer": "The gateway listens on port 8080."}';
          blocks += 1;
          setTimeout(() => late.abort(), 30);
          return js(`${code}; // ${blocks}`);
        },
      });
      assert.equal(outcome.verdict, 'answered');
      assert.ok(blocks <= 4);
    });
});
