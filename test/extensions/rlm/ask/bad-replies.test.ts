/** Root models and code that misbehave: each is a typed outcome, nothing is cited that is not held, the run goes on or ends properly. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readSubReply } from '#extensions/rlm/ask/read-sub-reply.ts';
import { readRootReply } from '#extensions/rlm/ask/root-turn.ts';
import { slow } from '../../../slow.ts';
import { verifies } from '../../../verifies.ts';
import type { ScriptedInner } from '../call/scripted-call.ts';
import { js, playAsk, recordOf } from './ask-scene.ts';

const ANSWER = js('finish([{text: "The gateway listens on port 8080.", handles: [span(0, 60)]}])');

function kindOf(reply: string): string {
  const read = readRootReply(reply);
  return read.kind === 'formless'
    ? read.reason
    : read.kind === 'code'
      ? `code ${read.code}`
      : JSON.stringify(read.parts);
}

describe('rlm/ask: reading a root reply', () => {
  const cases: readonly (readonly [what: string, reply: string, read: string])[] = [
    ['fenced', 'Text\n```js\nprint(1)\n```\nmore', 'code print(1)'],
    ['fenced as repl', '```repl\nprint(1)\n```', 'code print(1)'],
    ['two blocks', '```js\nconst a = 1\n```\nthen\n```javascript\nprint(a)\n```', 'code const a = 1\nprint(a)'],
    ['an invented output ends it', '```js\nprint(1)\n```\n```output\n1\n```\n```js\nfinish("1")\n```', 'code print(1)'],
    ['an open fence', '```js\nprint(1)', 'code print(1)'],
    ['a fence without language', '```\nprint(1);\n```', 'code print(1);'],
    ['another language', '```python\nprint(1)\n```', 'prose'],
    ['bare code', 'const h = context.search("x");\nprint(h)', 'code const h = context.search("x");\nprint(h)'],
    ['prose about the API', 'I would call print(1) and then context.search to look', 'prose'],
    ['JSON code', '{"code": "print(1)"}', 'code print(1)'],
    ['JSON code with a fence in it', '{"code": "```js\\nprint(1)\\n```"}', 'code print(1)'],
    ['a JSON answer', '{"answer": [{"text": "A.", "handles": ["h1"]}]}', '[{"text":"A.","handles":["h1"]}]'],
    ['a fenced JSON answer', '```json\n{"answer": "A.", "handles": ["h1"]}\n```', '[{"text":"A.","handles":["h1"]}]'],
    ['a JSON answer in a plain fence', '```\n{"answer": "A."}\n```', '[{"text":"A.","handles":[]}]'],
    ['an empty answer', '{"answer": []}', 'prose'],
    ['truncated JSON', '{"answer": [{"text": "A', 'prose'],
    ['the prompt again', '{"schema_version": "talaria.rlm.repl.v1", "answer": "x"}', 'echo'],
    ['nothing', '  \n ', 'empty'],
    ['a very long reply', 'x'.repeat(500_000), 'too_long'],
    ['very long code', `\`\`\`js\n${'a();\n'.repeat(20_000)}\`\`\``, 'too_long'],
  ];
  for (const [what, reply, read] of cases) test(what, () => assert.equal(kindOf(reply), read));

  test('10 MB of fences and braces take no time to speak of', () => {
    for (const piece of ['```\n', '{"a":', '{', '`'.repeat(7), '~~~js\n'])
      assert.ok(readRootReply(piece.repeat(10_000_000 / piece.length)).kind === 'formless');
    assert.ok(readRootReply('```js\n{'.repeat(40_000)).kind !== 'answer');
  });
});

describe('rlm/ask: reading a sub-reply', () => {
  const piece = 'Port: 8080 is open.\nTelemetry is not enabled by default.\nThe owner is Alice.';
  const cases: readonly (readonly [what: string, reply: string, claims: readonly string[]])[] = [
    [
      'claims that stand there',
      '{"answer": "x", "claims": [{"text": "Port: 8080 is open."}, "The owner is Alice."]}',
      ['Port: 8080 is open.', 'The owner is Alice.'],
    ],
    [
      'claims that do not',
      '{"answer": "x", "claims": [{"text": "The owner is Bob."}, {"text": "Port: 808"}, {"text": "8080"}]}',
      [],
    ],
    [
      'part of a sentence, which is shown uncut',
      '{"answer": "x", "claims": ["enabled by default"]}',
      ['Telemetry is not enabled by default.'],
    ],
    ['turned', '{"answer": "x", "claims": ["It is false that the owner is Alice."]}', []],
    ['lines of prose', '- The owner is Alice.\n- The owner is Bob.', ['The owner is Alice.']],
    ['an echo', `{"schema_version": "talaria.rlm.sub.v1", "piece": ${JSON.stringify(piece)}}`, []],
    ['nonsense', '{"answer": {"a": 1}, "claims": {"text": 7}}', []],
  ];
  for (const [what, reply, claims] of cases)
    test(what, () => assert.deepEqual(readSubReply(reply, piece).claims, claims));

  test('10 MB', () => assert.ok(readSubReply('{"answer": '.repeat(1_000_000), piece).answer.length <= 8_000));
});

describe('rlm/ask: a root model that misbehaves', () => {
  test('prose is corrected, and counts as a step', async () => {
    const { outcome, requests } = await playAsk({
      script: { 'ask:root:001': 'I think it is 8080.', 'ask:root:002': ANSWER },
    });
    assert.equal(outcome.verdict, 'answered');
    assert.match(requests[1]?.prompt ?? '', /neither code nor an answer/);
  });

  test('prose for ever ends with one last call', async () => {
    const { outcome, requests } = await playAsk({ script: () => 'It is certainly 8080.' });
    assert.equal(outcome.verdict, 'unsupported');
    assert.deepEqual(
      requests.map(({ call_id }) => call_id),
      ['ask:root:001', 'ask:root:002', 'ask:root:final'],
    );
    assert.equal(
      outcome.sentences.every(({ grade }) => grade === 'not-supported'),
      true,
    );
  });

  test('the same code with the same output is told, then ends it', async () => {
    const { outcome, requests } = await playAsk({ script: () => js('print("again")') });
    assert.equal(outcome.verdict, 'no_answer');
    assert.equal(outcome.detail, 'the same code gave the same output in steps 1, 2, 3');
    assert.match(requests[2]?.prompt ?? '', /Steps 1, 2 ran the same code/);
  });

  test('an echo of the prompt, and 10 MB, are corrected', async () => {
    const replies: ScriptedInner[] = [(request) => request.prompt, { completion: 'x'.repeat(10_000_000) }];
    for (const reply of replies) {
      const { outcome } = await playAsk({ script: ({ call_id }) => (call_id === 'ask:root:001' ? reply : ANSWER) });
      assert.equal(outcome.verdict, 'answered');
    }
  });

  test('a model that is not there, or fails twice, ends it as failed', async () => {
    const none = await playAsk({ script: () => ({ refuse: 'no_model', detail: 'nothing is set up' }) });
    assert.deepEqual([none.outcome.verdict, none.outcome.run_state, none.requests.length], ['failed', 'failed', 1]);
    const broken = await playAsk({ script: () => ({ refuse: 'runtime_error', detail: 'status 500' }) });
    assert.deepEqual([broken.outcome.verdict, broken.requests.length], ['failed', 2]);
    let at = 0;
    const once = await playAsk({ script: () => (at++ === 0 ? { refuse: 'timeout' } : ANSWER) });
    assert.equal(once.outcome.verdict, 'answered');
  });

  test('a reply that never ends is left when the run is stopped', async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    const { outcome, store } = await playAsk({ script: () => ({ hang: true }), signal: stop.signal });
    assert.deepEqual([outcome.verdict, outcome.run_state], ['cancelled', 'cancelled']);
    assert.equal(store.events('ask_1').at(-1)?.type, 'rlm.run.finished');
  });

  test('a stop while sub-calls are under way', async () => {
    const stop = new AbortController();
    const { outcome, store } = await playAsk({
      script: (request) => {
        if (!request.call_id.includes('sub'))
          return js('await llmQueryBatched([1,2,3,4,5,6].map((n) => ({question: "q" + n, piece: span(n, 60)})))');
        setTimeout(() => stop.abort(), 20);
        return { hang: true };
      },
      signal: stop.signal,
    });
    assert.equal(outcome.verdict, 'cancelled');
    recordOf({ store });
  });
});

describe('rlm/ask: code that misbehaves', () => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['throws', 'throw new Error("no luck")', /threw.*no luck/],
    ['does not parse', 'const = 1', /threw/],
    ['loops', 'for (;;) {}', /out_of_time/],
    ['allocates', 'const all = []; for (;;) all.push("x".repeat(1e6) + all.length)', /out_of_memory|threw/],
    ['reaches for the host', 'print(typeof process, typeof require, typeof fetch); await import("node:fs")', /threw/],
    ['asks without end', 'for (;;) await llmQuery("?", span(0, 60))', /sub_call_limit|SubCallLimit/],
  ];
  const limits = { memory_bytes: 64 * 1024 * 1024, output_chars: 2_000, sub_calls: 5 };
  for (const [what, code, told] of cases)
    test(what, async () => {
      const { outcome, requests } = await playAsk({
        request: { repl: { ...limits, block_ms: what === 'loops' ? 400 : 60_000 } },
        script: ({ call_id }) => {
          if (call_id === 'ask:root:001') return js(code);
          return call_id.includes('sub') ? '{"answer": "x", "claims": []}' : ANSWER;
        },
      });
      assert.equal(outcome.verdict, 'answered');
      assert.match(requests.find(({ call_id }) => call_id === 'ask:root:002')?.prompt ?? '', told);
    });

  slow('loops twice and gets no third block', async () => {
    let at = 0;
    const { outcome, requests } = await playAsk({
      request: { repl: { ...limits, block_ms: 100 } },
      script: ({ call_id }) => (call_id === 'ask:root:final' ? ANSWER : js(`for (let i = ${at++}; ; i += 1) {}`)),
    });
    assert.deepEqual(
      requests.map(({ call_id }) => call_id),
      ['ask:root:001', 'ask:root:002', 'ask:root:final'],
    );
    assert.match(requests.at(-1)?.prompt ?? '', /ran out of time twice/);
    assert.equal(outcome.verdict, 'answered');
  });

  verifies.slow('rlm:run:max-depth', 'an ask within an ask within an ask stops at its depth', async () => {
    const { store } = await playAsk({
      request: { depth: 3 },
      script: ({ call_id }) => {
        if (call_id.includes('sub')) return '{"answer": "deep", "claims": []}';
        return js('const r = await rlmQuery("Which port?", span(0, 60)); finish(r.text + " is the answer")');
      },
    });
    const ids = store.calls('ask_1').map(({ call_id }) => call_id);
    assert.ok(ids.includes('ask:rlm:001:001/rlm:001:001/sub:001:001'), ids.join(' '));
    assert.ok(ids.every((id) => id.split('rlm:').length <= 3));
  });
});
