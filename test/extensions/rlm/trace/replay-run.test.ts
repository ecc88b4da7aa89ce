// Runs of the real controller done again: what it writes verifies and replays byte for byte, what was changed is named, what was killed goes on to the same end.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { createCalls } from '#extensions/rlm/call/calls.ts';
import { runEngine } from '#extensions/rlm/engine.ts';
import type { RunOutcome } from '#extensions/rlm/outcome.ts';
import type { RunTrace } from '#extensions/rlm/trace/live-trace.ts';
import { type Replay, replayRun } from '#extensions/rlm/trace/replay.ts';
import type { RunRecord } from '#extensions/rlm/trace/run-record.ts';
import { memoryTraceStore } from '#extensions/rlm/trace/trace-store.ts';
import { verifyRun } from '#extensions/rlm/trace/verify-run.ts';
import type { JsonObject } from '#public/talaria.ts';
import { BENCH_ENGINES, executeVanilla, type VanillaRequest } from '../../../../bench/rlm/vanilla-baseline.ts';
import { verifies } from '../../../verifies.ts';
import {
  childReply,
  dying,
  go,
  harbour,
  type Prepared,
  recordOf,
  requestOver,
  run,
  type Script,
  scripted,
} from '../run/run-ground.ts';
import { treeFaults } from '../tree/tree-faults.ts';
import { createRecordedTrace } from './recorded.ts';

const signal = new AbortController().signal;
const limits = { max_depth: 5, max_iterations: 1_000, max_in_flight: 3, max_retries: 1 };
const prepared = (count: number, changes: Partial<Prepared['request']> = {}) =>
  requestOver(harbour(count), { limits, ...changes });

async function replayed(record: RunRecord, engines = { run: runEngine }): Promise<Replay> {
  const replay = await replayRun(record, engines, signal);
  assert.ok('result' in replay, JSON.stringify(replay));
  return replay;
}

async function assertSame(record: RunRecord): Promise<void> {
  assert.deepEqual(verifyRun(record), []);
  const { state_hash } = record.row;
  const counts = { events: record.events.length, calls: record.calls.length };
  assert.deepEqual(await replayed(record), { result: 'same', ...counts, state_hash });
}

/** Retries, a failed leaf, a repaired and a refused synthesis: every way through the loop. */
const mixed: Script = (call_id) => {
  if (call_id.startsWith('rlm_call_atomic_chunk_002')) return 'nothing to see here';
  if (call_id === 'rlm_call_atomic_chunk_004') return '{"mode": "execute_atomic", "verdi';
  if (call_id === 'rlm_call_atomic_synthesis') return '{"not": "a synthesis"}';
  if (call_id === 'rlm_call_atomic_chunk_006') return { refuse: 'timeout' };
  return undefined;
};
const invented =
  '{"mode":"synthesize_parent","verdict":"passed","confidence":1,"result":{"summary":"","retained_facts":[{"fact_id":"HB-999","text":"Gold.","evidence_chunk_id":"x"}]},"evidence_references":[],"residual_gaps":[]}';

const RUNS: Readonly<Record<string, readonly [ground: Prepared, script: Script | undefined, verdict: string]>> = {
  'all is well': [prepared(6), undefined, 'accepted'],
  'one chunk': [prepared(1), undefined, 'accepted'],
  'a child fails': [prepared(6), (id) => (id.endsWith('chunk_002') ? { refuse: 'timeout' } : undefined), 'accepted'],
  'children answer prose': [
    prepared(6),
    (id) => (id.includes('chunk') ? 'The harbour master counted 11 ships at pier 1.' : undefined),
    'accepted',
  ],
  'the parent invents': [prepared(6), (id) => (id.includes('synthesis') ? invented : undefined), 'refused'],
  'nobody knows anything': [
    prepared(6),
    (id) => (id.includes('chunk') ? JSON.stringify(childReply([])) : undefined),
    'no_evidence',
  ],
  'no model': [prepared(6), () => ({ refuse: 'no_model' }), 'failed'],
  'the calls are used up': [prepared(6, { budget: { max_calls: 3 } }), undefined, 'accepted'],
  'every way at once': [prepared(40), mixed, 'accepted'],
  'every way, split': [prepared(5, { decompose: true }), mixed, 'accepted'],
  'every way, and the calls used up': [prepared(9, { budget: { max_calls: 5 } }), mixed, 'refused'],
  'a tree of two levels': [prepared(9, { fan_out: 3 }), undefined, 'accepted'],
};

describe('a run done again', () => {
  for (const [what, [ground, script, verdict]] of Object.entries(RUNS))
    verifies(['rlm:run:trace', 'rlm:run:replay'], `${what}: it holds together and is the same again`, async () => {
      const done = await run(ground, { inner: scripted(script) });
      assert.equal(done.outcome.verdict, verdict);
      await assertSame(recordOf(done));
    });

  test('two runs of the same request and replies have the same state', async () => {
    const [one, other] = [await run(prepared(3)), await run(prepared(3))];
    assert.equal(recordOf(one).row.state_hash, recordOf(other).row.state_hash);
  });

  test('another reply, event, text or outcome: the first difference is named where it stands', async () => {
    const record = recordOf(await run(prepared(3)));
    const { row, events, calls } = record;
    const difference = async (changed: Partial<RunRecord>) => {
      const replay = await replayed({ ...record, ...changed });
      assert.ok(replay.result === 'different', JSON.stringify(replay));
      return [replay.difference.seq, replay.difference.field];
    };
    const at = events.findIndex(({ type }) => type === 'rlm.hermes.call.started');
    const event = events[at] ?? assert.fail();
    const seq = at + 1;
    const other = events.with(at, { ...event, data: { ...event.data, mode: 'decompose_ac' } });
    assert.deepEqual(await difference({ events: other }), [seq, 'data.mode']);
    assert.deepEqual(await difference({ events: events.toSpliced(at, 1) }), [seq, 'type']);
    const longer = [...events, { ...event, seq: events.length + 1 }];
    assert.deepEqual(await difference({ events: longer }), [events.length + 1, 'type']);
    assert.deepEqual(await difference({ textOf: () => 'another text' }), [seq, 'data.prompt_hash']);
    const outcome = { ...row.outcome, verdict: 'refused' };
    assert.deepEqual(await difference({ row: { ...row, outcome, state_hash: 'sha256:0' } }), [null, 'outcome.verdict']);
    assert.deepEqual(await difference({ row: { ...row, state: 'failed' } }), [null, 'state']);
    assert.deepEqual(await difference({ calls: calls.slice(0, 2) }), [null, 'call rlm_call_atomic_chunk_003']);
    const replied = calls.map((call) => ({ ...call, prompt: `${call.prompt} ` }));
    assert.deepEqual(await difference({ calls: replied }), [null, 'call rlm_call_atomic_chunk_001, prompt']);
    const completion = JSON.stringify(childReply([]));
    const [field] = (await difference({ calls: calls.with(1, { ...calls[1], completion } as never) })).slice(1);
    assert.match(String(field), /^data\./);
  });

  test('nothing is written; a kind that nobody does, a source that changed, a bug and a lazy program are told apart', async () => {
    const done = await run(prepared(3));
    const record = recordOf(done);
    await replayed(record);
    const { row, events, calls } = recordOf(done);
    assert.deepEqual([row, events, calls], [record.row, record.events, record.calls]);
    const refused = await replayRun(record, {}, signal);
    assert.ok('reason' in refused && refused.reason === 'no-engine');
    assert.throws(() => createRecordedTrace(done.store, 'rlm_other'), /No run/);
    const throwing = (code: string) => ({ run: async () => Promise.reject(Object.assign(new Error('x'), { code })) });
    const changed = await replayRun(record, throwing('context-changed'), signal);
    assert.ok('reason' in changed && changed.reason === 'context-changed');
    await assert.rejects(replayRun(record, throwing('bug'), signal), { code: 'bug' });
    const lazy = await replayRun(record, { run: async () => undefined }, signal);
    assert.ok('result' in lazy && lazy.result === 'different' && lazy.difference.seq === 1);
    const unending = async ({ trace }: { readonly trace: RunTrace }) =>
      record.events.forEach((event) => void trace.emit(event));
    await assert.rejects(replayRun(record, { run: unending }, signal), { code: 'run-unended' });
  });

  verifies('rlm:run:replay', 'the baseline: one call, the same again', async () => {
    const store = memoryTraceStore();
    const request: VanillaRequest = {
      ...{ schema_version: 'talaria.rlm.vanilla_request.v1', system: 'Answer.', prompt: '{"a":1}' },
      ...{ chunk_ids: ['harbour.txt:1-2'], families: [] },
    };
    const plain = request as unknown as JsonObject;
    const trace = store.begin({ run_id: 'run_test', kind: 'vanilla', request: plain, root: '', sources: [] });
    const inner = new Map([['default', scripted(() => 'An answer.')]]);
    const calls = createCalls({ inner, trace, budget: {}, clock: systemClock, run: 'run_test' });
    await executeVanilla({ request, trace, calls, signal });
    const record = recordOf({ store });
    assert.deepEqual(verifyRun(record), []);
    const replay = await replayRun(record, BENCH_ENGINES, signal);
    assert.ok('result' in replay && replay.result === 'same' && replay.calls === 1);
    const other = { ...record, row: { ...record.row, request: { ...plain, chunk_ids: ['harbour.txt:3-4'] } } };
    const differs = await replayRun(other, BENCH_ENGINES, signal);
    assert.ok('result' in differs && differs.result === 'different' && differs.difference.seq === 1);
  });
});

describe('a run that was killed or cancelled', () => {
  verifies(
    'rlm:run:resume',
    'killed at any call it verifies, replays to the cut, asks nothing twice and goes on to the same end',
    async () => {
      for (const script of [undefined, mixed]) {
        const ground = prepared(7);
        const whole = await run(ground, { inner: scripted(script) });
        const all = whole.store.calls(whole.run_id).length;
        for (let answers = 0; answers < all; answers += 1) {
          const store = memoryTraceStore();
          // Its call runs into its limit minutes later, when others work on the run.
          run(ground, { store, inner: dying(answers, script) }).catch(() => undefined);
          await new Promise((resolve) => setTimeout(resolve, 20));
          const cut = recordOf({ store });
          assert.equal(cut.row.state, 'running');
          assert.deepEqual(verifyRun(cut), []);
          const replay = await replayed(cut);
          assert.ok(replay.result === 'cut' && replay.missing_call !== null, JSON.stringify(replay));
          const again = store.reopen('run_test', { takeOver: true });
          assert.ok(again.ok);
          const answered = new Set(cut.calls.map(({ call_id }) => call_id));
          const inner = scripted(script);
          assert.deepEqual(await go(ground.request, again.value, { inner }), whole.outcome);
          assert.ok(inner.requests.every(({ call_id }) => !answered.has(call_id)));
          await assertSame(recordOf({ store }));
        }
      }
    },
  );

  verifies.slow(
    'rlm:tree:cancel',
    'cancelled from every event on it ends with nothing alive, and is cancelled at the same place again',
    async () => {
      const ground = prepared(5);
      const whole = await run(ground, { inner: scripted(mixed) });
      const events = whole.store.events(whole.run_id).length;
      let cancelled = 0;
      for (let at = 1; at < events; at += 1) {
        const stop = new AbortController();
        const wrap = (trace: RunTrace): RunTrace => {
          const { emit } = trace;
          let seen = 0;
          return Object.assign(trace, {
            emit: (event: Parameters<RunTrace['emit']>[0]) => {
              seen += 1;
              if (seen === at) stop.abort();
              return emit.call(trace, event);
            },
          });
        };
        const done = await run(ground, { wrap, signal: stop.signal, inner: scripted(mixed) });
        assertEnded(done.outcome);
        if (done.outcome.verdict === 'cancelled') cancelled += 1;
        await assertSame(recordOf(done));
      }
      // After the last reply there is nothing left to stop.
      assert.ok(cancelled > events - 12, `${cancelled} of ${events}`);
    },
  );
});

function assertEnded({ tree, verdict, run_state, termination_reason, claims }: RunOutcome): void {
  assert.deepEqual(treeFaults(tree), []);
  if (verdict !== 'cancelled') return;
  assert.deepEqual([run_state, termination_reason, claims], ['cancelled', 'cancelled', []]);
}
