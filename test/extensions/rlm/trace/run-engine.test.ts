// The trace with the real controller: what it writes verifies, replays byte for byte, and goes on after a kill to the same end.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { systemClock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import { executeVanilla, type VanillaRequest } from '#extensions/rlm/bench/modes/execute-vanilla.ts';
import { createCalls } from '#extensions/rlm/call/create-calls.ts';
import type { InnerCall } from '#extensions/rlm/call/inner-call.ts';
import { runEngine } from '#extensions/rlm/trace/engines/run-engine.ts';
import { RUN_ENGINES } from '#extensions/rlm/trace/engines/run-engines.ts';
import { memoryTraceStore } from '#extensions/rlm/trace/memory-trace-store.ts';
import { replayRun } from '#extensions/rlm/trace/replay/replay-run.ts';
import { type RunRecord, readRunRecord } from '#extensions/rlm/trace/run-record.ts';
import type { TraceStore } from '#extensions/rlm/trace/trace-store.ts';
import { verifyRun } from '#extensions/rlm/trace/verify/verify-run.ts';
import { verifies } from '../../../verifies.ts';
import { childReply, go, harbour, type Prepared, requestOver, run, type Script, scripted } from '../run/run-ground.ts';

const signal = new AbortController().signal;
const limits = { max_depth: 5, max_iterations: 1_000, max_in_flight: 3, max_retries: 1 };

function recordOf(store: TraceStore): RunRecord {
  const found = store.find('run_test');
  assert.ok(found.ok);
  return readRunRecord(store, found.value);
}

const SCRIPTS: Readonly<
  Record<string, { readonly script?: Script; readonly prepared?: Prepared; readonly verdict: string }>
> = {
  'all is well': { verdict: 'accepted' },
  'a child fails': {
    script: (call_id) => (call_id === 'rlm_call_atomic_chunk_002' ? { refuse: 'timeout' } : undefined),
    verdict: 'accepted',
  },
  'children answer prose': {
    script: (call_id) => (call_id.includes('chunk') ? 'The harbour master counted 11 ships at pier 1.' : undefined),
    verdict: 'accepted',
  },
  'the parent invents': {
    script: (call_id) =>
      call_id.includes('synthesis')
        ? '{"mode":"synthesize_parent","verdict":"passed","confidence":1,"result":{"summary":"","retained_facts":[{"fact_id":"HB-999","text":"Gold.","evidence_chunk_id":"x"}]},"evidence_references":[],"residual_gaps":[]}'
        : undefined,
    verdict: 'refused',
  },
  'nobody knows anything': {
    script: (call_id) => (call_id.includes('chunk') ? JSON.stringify(childReply([])) : undefined),
    verdict: 'no_evidence',
  },
  'no model': { script: () => ({ refuse: 'no_model' }), verdict: 'failed' },
  'the calls are used up': {
    prepared: requestOver(harbour(6), { limits, budget: { max_calls: 3 } }),
    verdict: 'accepted',
  },
  'a tree of two levels': { prepared: requestOver(harbour(9), { limits, fan_out: 3 }), verdict: 'accepted' },
};

describe('trace of the scaffold', () => {
  for (const [what, { script, prepared = requestOver(harbour(6), { limits }), verdict }] of Object.entries(SCRIPTS)) {
    verifies(['rlm:run:trace', 'rlm:run:replay'], `${what}: the run holds together and is the same again`, async () => {
      const { store, outcome } = await run(prepared, { inner: scripted(script) });
      assert.equal(outcome.verdict, verdict);
      const record = recordOf(store);
      assert.deepEqual(verifyRun(record), []);
      const replay = await replayRun(record, { run: runEngine }, signal);
      assert.deepEqual(replay, {
        ...{ result: 'same', events: record.events.length, calls: record.calls.length },
        state_hash: record.row.state_hash,
      });
    });
  }

  verifies('rlm:run:replay', 'a cancelled run is cancelled at the same place again', async () => {
    for (const at of [1, 4, 7]) {
      const stop = new AbortController();
      let asked = 0;
      const script: Script = () => {
        asked += 1;
        if (asked === at) stop.abort();
        return undefined;
      };
      const { store, outcome } = await run(requestOver(harbour(6), { limits }), {
        inner: scripted(script),
        signal: stop.signal,
      });
      const record = recordOf(store);
      assert.deepEqual(verifyRun(record), [], `${at}: ${outcome.verdict}`);
      const replay = await replayRun(record, { run: runEngine }, signal);
      assert.ok('result' in replay && replay.result === 'same', JSON.stringify(replay));
    }
  });

  verifies(
    'rlm:run:resume',
    'a run that was killed at any call verifies, replays to the cut, and goes on to the same end',
    async () => {
      const prepared = requestOver(harbour(6), { limits });
      const whole = await run(prepared);
      const { state_hash } = recordOf(whole.store).row;
      const all = whole.store.calls('run_test').length;
      for (let calls = 0; calls < all; calls += 1) {
        const store = memoryTraceStore();
        void run(prepared, { store, inner: dying(calls) });
        await new Promise((resolve) => setTimeout(resolve, 20));
        const cut = recordOf(store);
        assert.equal(cut.row.state, 'running');
        assert.deepEqual(verifyRun(cut), []);
        const replay = await replayRun(cut, { run: runEngine }, signal);
        assert.ok('result' in replay && replay.result === 'cut', JSON.stringify(replay));
        const again = store.reopen('run_test', { takeOver: true });
        assert.ok(again.ok);
        const inner = scripted();
        await go(prepared.request, again.value, { inner });
        assert.equal(inner.requests.length, all - cut.calls.length);
        assert.equal(recordOf(store).row.state_hash, state_hash);
        assert.deepEqual(verifyRun(recordOf(store)), []);
      }
    },
  );

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
    assert.deepEqual(verifyRun(recordOf(store)), []);
    const replay = await replayRun(recordOf(store), RUN_ENGINES, signal);
    assert.ok('result' in replay && replay.result === 'same' && replay.calls === 1);
    const { row, ...rest } = recordOf(store);
    const other = { ...rest, row: { ...row, request: { ...plain, chunk_ids: ['harbour.txt:3-4'] } } };
    const differs = await replayRun(other, RUN_ENGINES, signal);
    assert.ok('result' in differs && differs.result === 'different' && differs.difference.seq === 1);
  });
});

/** Answers so many, and then nobody any more. */
function dying(answers: number): InnerCall {
  const inner = scripted();
  let asked = 0;
  return {
    family: 'default',
    call: (request, abort) => {
      asked += 1;
      return asked > answers ? new Promise(() => {}) : inner.call(request, abort);
    },
  };
}
