import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { ok, refuse } from '#base/result.ts';
import type { CallAsk, CallBudget, CallRecord } from '#extensions/rlm/call/call-record.ts';
import { createCalls } from '#extensions/rlm/call/calls.ts';
import type { InnerCall, InnerRefusal, InnerRequest } from '#extensions/rlm/call/inner-call.ts';
import { textHash } from '#extensions/rlm/trace/run-record.ts';
import { createManualClock, type ManualClock } from '#testing/manual-clock.ts';

const NEVER = new AbortController().signal;

function ask(call_id: string, changes: Partial<CallAsk> = {}): CallAsk {
  return {
    call_id,
    parent_call_id: 'rlm_call_parent',
    causal_parent_event_id: 'run:000004',
    mode: 'execute_atomic',
    rlm_node_id: 'rlm_node_x',
    ac_node_id: 'rlm_ac_x',
    depth: 1,
    selected_chunk_ids: ['a.txt:1-2'],
    system: 'rules',
    prompt: `{"schema_version":"x","call":"${call_id}"}`,
    max_output_tokens: 1_000,
    ...changes,
  };
}

type Answer = string | { readonly refuse: InnerRefusal; readonly exit_code?: number } | 'never';

function answering(family: string, answer: (request: InnerRequest) => Answer, cost: number | null = 0.01) {
  const requests: InnerRequest[] = [];
  const inner: InnerCall = {
    family,
    call: async (request) => {
      requests.push(request);
      const said = answer(request);
      if (said === 'never') return new Promise(() => undefined);
      if (typeof said !== 'string') return { ...refuse(said.refuse, `${family} failed`), ...said };
      const usage = { input_tokens: 300, output_tokens: 100 };
      return ok({ completion: said, model: `m/${family}`, usage, cost, elapsed_ms: 7, exit_code: 0 });
    },
  };
  return { inner, requests };
}

function calls(inner: readonly InnerCall[], budget: CallBudget = {}, more: { readonly clock?: ManualClock } = {}) {
  const saved = new Map<string, CallRecord>();
  const trace = {
    recorded: (id: string) => saved.get(id),
    saveCall: (record: CallRecord) => {
      assert.ok(!saved.has(record.call_id), 'a record is written once');
      saved.set(record.call_id, record);
    },
  };
  const families = new Map(inner.map((one) => [one.family, one]));
  const clock = more.clock ?? systemClock;
  const again = () => createCalls({ inner: families, trace, budget, clock, run: 'run_1' });
  return { ...again(), saved, again };
}

const why = (record: CallRecord) => record.adapter_error?.type;

describe('a call', () => {
  test('is recorded with its ids, texts, hashes and what it cost', async () => {
    const { inner } = answering('default', () => 'yes');
    const record = await calls([inner]).ask(ask('rlm_call_a'), NEVER);
    assert.match(record.subcall_id, /^rlm_subcall_[0-9a-f]{32}$/);
    assert.equal(record.trace_id, 'rlm_trace_rlm_call_a');
    assert.equal(record.parent_trace_id, 'rlm_trace_rlm_call_parent');
    assert.equal(record.generation_id, 'run_1');
    assert.equal(record.prompt_hash, textHash(record.prompt));
    assert.equal(record.response_hash, textHash('yes'));
    assert.equal(record.system_prompt_hash, textHash('rules'));
    assert.deepEqual(
      [record.success, record.completion, record.runtime, record.model],
      [true, 'yes', 'default', 'm/default'],
    );
    assert.deepEqual(
      [record.usage, record.cost, record.elapsed_ms],
      [{ input_tokens: 300, output_tokens: 100 }, 0.01, 7],
    );
  });

  test('that is recorded is given back and not asked again; another prompt is a diverged trace', async () => {
    const { inner, requests } = answering('default', () => 'yes');
    const ground = calls([inner]);
    const first = await ground.ask(ask('a'), NEVER);
    assert.deepEqual(await ground.again().ask(ask('a'), NEVER), first);
    assert.equal(requests.length, 1);
    await assert.rejects(ground.again().ask(ask('a', { prompt: 'other' }), NEVER), { code: 'trace-diverged' });
    await assert.rejects(ground.again().ask(ask('a', { system: 'other' }), NEVER), { code: 'trace-diverged' });
  });

  test('that failed is recorded like a reply', async () => {
    const { inner, requests } = answering('default', () => ({ refuse: 'runtime_unsuccessful', exit_code: 3 }));
    const ground = calls([inner]);
    const record = await ground.ask(ask('a'), NEVER);
    assert.deepEqual(
      [record.success, record.completion, record.response_hash, record.exit_code],
      [false, null, null, 3],
    );
    assert.equal(why(await ground.again().ask(ask('a'), NEVER)), 'runtime_unsuccessful');
    assert.equal(requests.length, 1);
  });

  test('goes to the next family when one cannot answer at all, and says what failed', async () => {
    const one = answering('one', () => ({ refuse: 'no_model' }));
    const two = answering('two', () => ({ refuse: 'timeout' }));
    const three = answering('three', () => 'yes');
    const families = ['one', 'two', 'three'];
    const ground = calls([one.inner, two.inner, three.inner]);
    assert.equal((await ground.ask(ask('a', { families }), NEVER)).runtime, 'three');
    const record = await ground.ask(ask('b', { families: ['one', 'two'] }), NEVER);
    assert.deepEqual(record.adapter_error, { type: 'timeout', detail: 'one: one failed; two: two failed' });
    assert.equal(why(await ground.ask(ask('c', { families: ['nobody'] }), NEVER)), 'no_model');
    assert.equal((await ground.ask(ask('d'), NEVER)).runtime, 'one');
  });

  test('does not go on after a reply that was too large or a stop', async () => {
    const large = answering('large', () => 'x'.repeat(20_000));
    const two = answering('two', () => 'yes');
    const ground = calls([large.inner, two.inner]);
    const record = await ground.ask(ask('a', { families: ['large', 'two'] }), NEVER);
    assert.equal(why(record), 'reply_too_large');
    assert.equal(record.completion, null);
    const stopped = await ground.ask(ask('b', { families: ['two'] }), AbortSignal.abort());
    assert.equal(why(stopped), 'cancelled');
    assert.equal(two.requests.length, 0);
  });

  test('that never ends is over after its time, and soon after a stop', async () => {
    const clock = createManualClock();
    const { inner } = answering('default', () => 'never');
    const ground = calls([inner], {}, { clock });
    const late = ground.ask(ask('a'), NEVER);
    await turns();
    await clock.advance(300_000);
    assert.equal(why(await late), 'timeout');
    const stop = new AbortController();
    const stopped = ground.ask(ask('b'), stop.signal);
    await turns();
    stop.abort();
    await clock.advance(2_500);
    assert.equal(why(await stopped), 'cancelled');
  });

  test('with lone surrogates is made text', async () => {
    const { inner } = answering('default', () => 'a\ud800b');
    assert.equal((await calls([inner]).ask(ask('a'), NEVER)).completion, 'a\ufffdb');
  });
});

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}

describe('a budget', () => {
  test('of calls refuses before anything is sent, and leaves what is kept back', async () => {
    const { inner, requests } = answering('default', () => 'yes');
    const ground = calls([inner], { max_calls: 3 });
    assert.ok((await ground.ask(ask('a', { keep_back: 1 }), NEVER)).success);
    assert.ok((await ground.ask(ask('b', { keep_back: 1 }), NEVER)).success);
    assert.equal(why(await ground.ask(ask('c', { keep_back: 1 }), NEVER)), 'budget_calls');
    assert.ok((await ground.ask(ask('d'), NEVER)).success);
    assert.equal(why(await ground.ask(ask('e'), NEVER)), 'budget_calls');
    assert.equal(requests.length, 3);
  });

  test('counts what an earlier process of the run has used', async () => {
    const { inner } = answering('default', () => 'yes');
    const ground = calls([inner], { max_calls: 2, max_tokens: 2_000, max_cost: 0.5 });
    await ground.ask(ask('a'), NEVER);
    const later = ground.again();
    await later.ask(ask('a'), NEVER);
    assert.ok((await later.ask(ask('b'), NEVER)).success);
    assert.equal(why(await later.ask(ask('c'), NEVER)), 'budget_calls');
  });

  test('of tokens cuts what a reply may have and then refuses; at once or one by one, it holds', async () => {
    for (const atOnce of [false, true]) {
      const { inner, requests } = answering('default', () => 'yes');
      const ground = calls([inner], { max_tokens: 2_000 });
      const asks = Array.from({ length: 8 }, (_, at) => ask(`c${at}`));
      const records: CallRecord[] = [];
      if (atOnce) records.push(...(await Promise.all(asks.map((one) => ground.ask(one, NEVER)))));
      else for (const one of asks) records.push(await ground.ask(one, NEVER));
      const sent = records.filter(({ success }) => success);
      assert.equal(sent.length, 5);
      assert.ok(records.slice(5).every((record) => why(record) === 'budget_tokens'));
      assert.ok((requests.at(-1)?.max_output_tokens ?? 0) < 1_000);
    }
  });

  test('of tokens counts an estimate where a model does not tell', async () => {
    const silent: InnerCall = {
      family: 'default',
      call: async () =>
        ok({ completion: 'x'.repeat(4_000), model: 'm', usage: null, cost: null, elapsed_ms: 1, exit_code: 0 }),
    };
    const ground = calls([silent], { max_tokens: 2_500 });
    const records = [];
    for (let at = 0; at < 4; at += 1) records.push(await ground.ask(ask(`c${at}`), NEVER));
    assert.ok(records.some((record) => why(record) === 'budget_tokens'));
    assert.ok(records.every(({ usage }) => usage === null));
  });

  test('of money is overrun by one call at most, also at once', async () => {
    const { inner, requests } = answering('default', () => 'yes', 0.1);
    const ground = calls([inner], { max_cost: 0.25 });
    const records = await Promise.all(Array.from({ length: 9 }, (_, at) => ground.ask(ask(`c${at}`), NEVER)));
    assert.ok(requests.length <= 3);
    assert.ok(records.some((record) => why(record) === 'budget_cost'));
  });

  test('of time bounds each call, and is over for those that come later', async () => {
    const clock = createManualClock();
    const { inner, requests } = answering('default', () => 'never');
    const ground = calls([inner], { max_ms: 5_000 }, { clock });
    const first = ground.ask(ask('a'), NEVER);
    await turns();
    assert.equal(requests[0]?.timeout_ms, 5_000);
    await clock.advance(8_000);
    assert.equal(why(await first), 'budget_time');
    assert.equal(why(await ground.ask(ask('b'), NEVER)), 'budget_time');
    assert.equal(requests.length, 1);
  });
});
