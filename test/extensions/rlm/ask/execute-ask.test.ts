/** An ask from question to judged sentences, over the real sandbox. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AskOutcome, Grade } from '#extensions/rlm/outcome.ts';
import { verifies } from '../../../verifies.ts';
import { js, NOTES, type Played, playAsk } from './ask-scene.ts';

const FOUND = js('const [hit] = context.search("port"); const h = span(hit); print(h);');
const FINISH = js(
  'finish([{text: "The gateway listens on port 8080.", handles: [h]}, {text: "Its host is Paris.", handles: [h]}]);',
);

function graded({ sentences }: AskOutcome): readonly (readonly [text: string, grade: Grade])[] {
  return sentences.map(({ text, grade }) => [text, grade]);
}

describe('rlm/ask: an answer with handles', () => {
  verifies(
    'rlm:ask:cited',
    'each sentence is shown with the place that says it, the rest with what is missing',
    async () => {
      const { outcome, requests } = await playAsk({ script: { 'ask:root:001': FOUND, 'ask:root:002': FINISH } });
      assert.equal(outcome.verdict, 'answered');
      assert.deepEqual(
        outcome.sentences.map(({ text, grade, place, why }) => [text, grade, place?.start_line, why]),
        [
          ['The gateway listens on port 8080.', 'quoted', 2, ''],
          ['Its host is Paris.', 'not-supported', undefined, 'no model to read it'],
        ],
      );
      const [handle] = outcome.handles;
      assert.equal(handle?.kind, 'span');
      assert.equal(handle?.kind === 'span' ? handle.place.start_line : 0, 2);
      assert.match(requests[1]?.prompt ?? '', /The gateway listens on port 8080/);
      assert.equal(outcome.steps, 2);
      assert.ok(outcome.bytes_read > 0 && outcome.bytes_read <= outcome.bytes_total);
    },
  );

  test('a number that code counted, and a claim of a sub-call', async () => {
    const { outcome } = await playAsk({
      question: 'How many errors, and who owns it?',
      script: {
        'ask:root:001': js(`
          const n = compute((all) => all.search("ERROR", {max: 1000}).length, context);
          const [hit] = context.search("owner");
          const piece = span(hit);
          const reply = await llmQuery("Who is the owner?", piece);
          print(reply.text, n.value);
          finish([
            {text: "There are 20 lines with ERROR.", handles: [n]},
            {text: "The owner of the gateway is Alice Meyer.", handles: reply.claims},
          ]);`),
        'ask:sub:001:001': JSON.stringify({
          answer: 'Alice',
          claims: [{ text: 'The owner of the gateway is Alice Meyer.' }, { text: 'The owner is Boris.' }],
        }),
      },
    });
    assert.deepEqual(graded(outcome), [
      ['There are 20 lines with ERROR.', 'computed'],
      ['The owner of the gateway is Alice Meyer.', 'quoted'],
    ]);
    assert.deepEqual(
      outcome.handles.map(({ kind, id }) => [kind, id]),
      [
        ['computed', 'h1'],
        ['span', 'h2'],
        ['child', 'q1.1.1'],
      ],
    );
    assert.equal(outcome.totals.calls, 2);
    assert.equal(outcome.totals.input_tokens, 200);
  });

  test('sub-calls in a batch: at once, results and events in the order of asking', async () => {
    const code = js(`
      const pieces = [...context.chunks({lines: 20})].slice(0, 6);
      const replies = await llmQueryBatched(pieces.map((piece) => ({question: "What is here?", piece})));
      print(replies.map((reply) => reply.text).join(","));
      finish([{text: "ERROR disk full", handles: replies[0].claims}]);`);
    const slow = (window: number): Promise<Played> => {
      let under = 0;
      let most = 0;
      return playAsk({
        request: { concurrency: window },
        script: () => 'unused',
        inner: {
          family: 'default',
          call: async (request) => {
            under += 1;
            most = Math.max(most, under);
            const order = Number(request.call_id.slice(-3));
            if (request.call_id.includes('sub')) await new Promise((resolve) => setTimeout(resolve, (7 - order) * 5));
            under -= 1;
            const completion = request.call_id.includes('sub')
              ? JSON.stringify({ answer: `r${order}`, claims: [{ text: 'ERROR disk full' }] })
              : code;
            assert.ok(most <= window);
            return {
              ok: true,
              value: { completion, model: 'm', usage: null, cost: null, elapsed_ms: 1, exit_code: null },
            };
          },
        },
      });
    };
    const one = await slow(1);
    const four = await slow(4);
    const told = ({ store }: Played) =>
      store.events('ask_1').map(({ type, node_id, data }) => ({ type, node_id, data }));
    assert.deepEqual(four.outcome, one.outcome);
    assert.deepEqual(told(four), told(one));
    assert.match(JSON.stringify(told(one)), /r1,r2,r3,r4,r5,r6/);
    assert.equal(four.outcome.totals.input_tokens, null);
  });

  test('a sub-ask has a REPL of its own over the piece; what it quotes are claims', async () => {
    const { outcome, store } = await playAsk({
      script: {
        'ask:root:001': js(`
          const piece = span(0, 200);
          const reply = await rlmQuery("Which port?", piece);
          print(reply.text);
          finish([{text: "The gateway listens on port 8080.", handles: reply.claims}]);`),
        'ask:rlm:001:001/root:001': js(`
          const h = span(context.search("port")[0]);
          finish([{text: "The gateway listens on port 8080.", handles: [h]}, {text: "It is in Rome.", handles: [h]}]);`),
      },
    });
    assert.deepEqual(graded(outcome), [['The gateway listens on port 8080.', 'quoted']]);
    const depths = store.calls('ask_1').map(({ call_id, depth, parent_call_id }) => [call_id, depth, parent_call_id]);
    assert.deepEqual(depths, [
      ['ask:root:001', 0, null],
      ['ask:rlm:001:001/root:001', 1, 'ask:root:001'],
    ]);
  });

  test('at the deepest level a sub-ask is a plain sub-call', async () => {
    const { store } = await playAsk({
      request: { depth: 1 },
      script: {
        'ask:root:001': js(
          'const r = await rlmQuery("Which port?", span(0, 80)); finish([{text: r.text, handles: r.claims}]);',
        ),
        'ask:sub:001:001': JSON.stringify({
          answer: 'The gateway listens on port 8080.',
          claims: ['The gateway listens on port 8080.'],
        }),
      },
    });
    assert.deepEqual(
      store.calls('ask_1').map(({ call_id }) => call_id),
      ['ask:root:001', 'ask:sub:001:001'],
    );
  });

  test('what a piece does not hold is no claim; without a handle nothing is', async () => {
    const { outcome } = await playAsk({
      script: {
        'ask:root:001': js(`
          const a = await llmQuery("Who?", span(0, 80));
          const b = await llmQuery("Who?", "The owner is Zoe.");
          finish([{text: "The owner is Zoe.", handles: [...a.claims, ...b.claims]}, {text: "The port is 8080.", handles: a.claims}]);`),
        'ask:sub:001:001': JSON.stringify({ answer: 'Zoe', claims: ['The owner is Zoe.', 'on port 8080'] }),
        'ask:sub:001:002': JSON.stringify({ answer: 'Zoe', claims: ['The owner is Zoe.'] }),
      },
    });
    assert.deepEqual(graded(outcome), [
      ['The owner is Zoe.', 'not-supported'],
      ['The port is 8080.', 'not-supported'],
    ]);
    const [claim] = outcome.handles.filter(({ kind }) => kind === 'child');
    assert.equal(claim?.kind === 'child' ? claim.text : '', 'The gateway listens on port 8080.');
  });
});

describe('rlm/ask: what is not read, and what it may use', () => {
  verifies('rlm:ask:gaps', 'bytes shown and failed sub-calls are named', async () => {
    const { outcome } = await playAsk({
      script: {
        'ask:root:001': js(
          'const r = await llmQuery("?", span(0, 60)); print(r.ok, r.text); finish([{text: "The gateway listens on port 8080.", handles: [span(0, 60)]}]);',
        ),
        'ask:sub:001:001': { refuse: 'timeout', detail: 'no reply' },
      },
      request: { skipped: [{ path: 'logo.png', reason: 'binary' }] },
    });
    assert.deepEqual(outcome.gaps, [
      { what: 'sub-call ask:sub:001:001 on h1', why: 'timeout: no reply' },
      { what: 'logo.png', why: 'binary' },
    ]);
    assert.ok(outcome.bytes_read < outcome.bytes_total);
    assert.equal(outcome.bytes_total, Buffer.byteLength(NOTES));
  });

  test('out of steps there is one last call that must answer', async () => {
    const { outcome, requests } = await playAsk({
      request: { max_steps: 2 },
      script: {
        'ask:root:001': js('const h = span(0, 60); print(1)'),
        'ask:root:002': js('print(2)'),
        'ask:root:final': JSON.stringify({ answer: [{ text: 'The gateway listens on port 8080.', handles: ['h1'] }] }),
      },
    });
    assert.equal(outcome.verdict, 'answered');
    assert.match(requests[2]?.prompt ?? '', /"task":"final_answer"/);
  });

  test('a last answer in prose cites by marks', async () => {
    const { outcome } = await playAsk({
      request: { max_steps: 1 },
      script: {
        'ask:root:001': js('const h = span(0, 60);'),
        'ask:root:final': 'The gateway listens on port 8080 [h1]. It is blue [h7].',
      },
    });
    assert.deepEqual(
      outcome.sentences.map(({ text, handles, grade }) => [text, handles, grade]),
      [
        ['The gateway listens on port 8080.', ['h1'], 'quoted'],
        ['It is blue.', ['h7'], 'not-supported'],
      ],
    );
  });

  test('the budget of calls leaves one for the answer', async () => {
    const { outcome, requests } = await playAsk({
      request: { budget: { max_calls: 3 } },
      script: {
        'ask:root:001': js('const h = span(0, 60); const r = await llmQuery("?", h); print(r.text)'),
        'ask:sub:001:001': '{"answer": "a", "claims": []}',
        'ask:root:final': '{"answer": [{"text": "The gateway listens on port 8080.", "handles": ["h1"]}]}',
      },
    });
    assert.equal(outcome.verdict, 'answered');
    assert.equal(requests.length, 3);
    assert.match(outcome.gaps[0]?.why ?? '', /^budget_calls/);
  });

  test('a piece that no window holds is not half read: the code is told', async () => {
    const { outcome, store } = await playAsk({
      text: 'word '.repeat(10_000),
      script: {
        'ask:root:001': js('const r = await llmQuery("?", span(0, 50000)); print(r.ok, r.text); finish("none");'),
        'ask:root:002': js('finish("none")'),
      },
    });
    assert.equal(outcome.verdict, 'unsupported');
    assert.match(JSON.stringify(store.events('ask_1')), /cut it into chunks/);
    assert.deepEqual(
      store.calls('ask_1').map(({ call_id }) => call_id),
      ['ask:root:001', 'ask:root:002'],
    );
  });

  test('what is refused is given back once, with the reason', async () => {
    const { outcome, requests } = await playAsk({
      script: {
        'ask:root:001': '{"answer": "The port is 9999."}',
        'ask:root:002': js('finish([{text: "The gateway listens on port 8080.", handles: [span(0, 60)]}])'),
      },
    });
    assert.match(requests[1]?.prompt ?? '', /Not supported by what it cites: .*9999.*it cites nothing/);
    assert.equal(outcome.verdict, 'answered');
  });
});
