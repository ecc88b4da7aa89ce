// Owns killing an ask at a call and going on with it: the same outcome, the same events, no call paid twice. Knows no test.
import assert from 'node:assert/strict';
import type { RunTrace } from '#extensions/rlm/trace/live-trace.ts';
import { memoryTraceStore } from '#extensions/rlm/trace/trace-store.ts';
import { createScriptedCall } from '../call/scripted-call.ts';
import { type AskScript, js, playAsk } from './ask-scene.ts';

const SCRIPT: AskScript = {
  'ask:root:001': js('const h = span(context.search("port")[0]); print(h)'),
  'ask:root:002': 'I am not sure.',
  'ask:root:003': js(`
    const chunks = [...context.chunks({lines: 110})];
    const replies = await llmQueryBatched(chunks.map((piece) => ({question: "Any owner?", piece})));
    const nested = await rlmQuery("Which host?", span(0, 200));
    print(replies.map((reply) => reply.text).join(" "), nested.text)`),
  'ask:sub:003:001': { refuse: 'timeout', detail: 'late' },
  'ask:sub:003:002': '{"answer": "Alice", "claims": ["The owner of the gateway is Alice Meyer."]}',
  'ask:rlm:003:003/root:001': js(
    'const r = await llmQuery("Host?", span(0, 100)); finish([{text: "Its host is named Berlin.", handles: r.claims}])',
  ),
  'ask:rlm:003:003/sub:001:001': '{"answer": "Berlin", "claims": ["Its host is named Berlin."]}',
  'ask:root:004': js(
    'finish([{text: "The gateway listens on port 8080.", handles: [h]}, {text: "Its host is named Berlin.", handles: nested.claims}, {text: "The owner is Alice Meyer.", handles: replies[1].claims}])',
  ),
};

class Killed extends Error {}

/** Dies before, or just after, its n-th call is written. */
function dying(trace: RunTrace, at: number, when: 'before' | 'after'): RunTrace {
  let saved = 0;
  const methods = {
    emit: trace.emit,
    recorded: trace.recorded,
    keepText: trace.keepText,
    textOf: trace.textOf,
    finish: trace.finish,
  };
  const bound = Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, method.bind(trace)]));
  return {
    ...(bound as unknown as RunTrace),
    run_id: trace.run_id,
    saveCall: (record) => {
      saved += 1;
      if (saved === at && when === 'before') throw new Killed();
      if (saved > at) throw new Killed();
      trace.saveCall(record);
      if (saved === at) throw new Killed();
    },
  };
}

/** Calls of the whole run. */
export const CALLS = 8;

export async function checkResume(kills: readonly number[]): Promise<void> {
  const whole = await playAsk({ script: SCRIPT, request: { concurrency: 2 } });
  assert.equal(whole.outcome.verdict, 'answered');
  assert.equal(whole.outcome.sentences.filter(({ grade }) => grade === 'quoted').length, 2);
  assert.equal(whole.store.calls('ask_1').length, CALLS);
  for (const at of kills) {
    const store = memoryTraceStore();
    await assert.rejects(playDying(store, at, at % 2 === 0 ? 'before' : 'after'), Killed);
    const reopened = store.reopen('ask_1', { takeOver: true });
    assert.ok(reopened.ok);
    const before = store.calls('ask_1').length;
    const inner = createScriptedCall(({ call_id }) => SCRIPT[call_id] ?? '');
    const resumed = await playAsk({ script: SCRIPT, request: { concurrency: 2 }, store, trace: reopened.value, inner });
    assert.deepEqual(resumed.outcome, whole.outcome, `killed at call ${at}`);
    assert.equal(inner.requests.length + before, CALLS);
    assert.deepEqual(
      store.events('ask_1').map(({ type, node_id, data }) => [type, node_id, data]),
      whole.store.events('ask_1').map(({ type, node_id, data }) => [type, node_id, data]),
    );
  }
}

async function playDying(
  store: ReturnType<typeof memoryTraceStore>,
  at: number,
  when: 'before' | 'after',
): Promise<void> {
  const begin = store.begin.bind(store);
  store.begin = (run) => dying(begin(run), at, when);
  try {
    await playAsk({ script: SCRIPT, request: { concurrency: 2 }, store });
  } finally {
    store.begin = begin;
  }
}
