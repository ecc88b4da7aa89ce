import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canonicalJson, type JsonObject } from '#base/json.ts';
import { scaffoldEngine } from '#extensions/rlm/run/live-run.ts';
import type { RunOutcome } from '#extensions/rlm/run/run-outcome.ts';
import { memoryTraceStore } from '#extensions/rlm/trace/memory-trace-store.ts';
import { replayRun } from '#extensions/rlm/trace/replay/replay-run.ts';
import { readRunRecord } from '#extensions/rlm/trace/run-record.ts';
import type { RunTrace } from '#extensions/rlm/trace/trace-store.ts';
import { verifyRun } from '#extensions/rlm/trace/verify/verify-run.ts';
import { treeFaults } from '#extensions/rlm/tree/tree-faults.ts';
import { verifies } from '../../../verifies.ts';
import { type Done, go, harbour, type Prepared, requestOver, run, type Script, scripted } from './run-ground.ts';

const LIMITS = { max_depth: 5, max_iterations: 1_000, max_in_flight: 3, max_retries: 1 };
const NEVER = new AbortController().signal;

/** Retries, a failed leaf, a repaired and a refused synthesis: every way through the loop. */
const mixed: Script = (call_id) => {
  if (call_id.startsWith('rlm_call_atomic_chunk_002')) return 'nothing to see here';
  if (call_id === 'rlm_call_atomic_chunk_004') return '{"mode": "execute_atomic", "verdi';
  if (call_id === 'rlm_call_atomic_synthesis') return '{"not": "a synthesis"}';
  if (call_id === 'rlm_call_atomic_chunk_006') return { refuse: 'timeout' };
  return undefined;
};

async function replayed({ store, run_id }: Done) {
  const row = store.find(run_id);
  assert.ok(row.ok);
  return replayRun(readRunRecord(store, row.value), { run: scaffoldEngine }, NEVER);
}

function prepared(count = 8, decompose = false): Prepared {
  return requestOver(harbour(count), { limits: LIMITS, decompose });
}

describe('a stored run', () => {
  verifies(
    ['rlm:run:replay', 'rlm:run:trace'],
    'is replayed without a model: the same events, the same state',
    async () => {
      for (const [ground, script] of [
        [prepared(), undefined],
        [prepared(), mixed],
        [prepared(1), undefined],
        [prepared(40), mixed],
        [prepared(5, true), mixed],
        [requestOver(harbour(9), { limits: LIMITS, budget: { max_calls: 5 } }), mixed],
      ] as const) {
        const done = await run(ground, { inner: scripted(script) });
        const replay = await replayed(done);
        assert.equal('result' in replay ? replay.result : replay.reason, 'same', JSON.stringify(replay));
        const row = done.store.find(done.run_id);
        assert.ok(row.ok);
        assert.deepEqual(verifyRun(readRunRecord(done.store, row.value)), []);
      }
    },
  );

  test('with another reply is another run, and the replay says where', async () => {
    const done = await run(prepared(3), { inner: scripted() });
    const row = done.store.find(done.run_id);
    assert.ok(row.ok);
    const record = readRunRecord(done.store, row.value);
    const calls = record.calls.map((call) =>
      call.call_id === 'rlm_call_atomic_chunk_002' ? { ...call, completion: '{"other": true}' } : call,
    );
    const replay = await replayRun({ ...record, calls }, { run: scaffoldEngine }, NEVER);
    assert.equal('result' in replay ? replay.result : '', 'different');
  });
});

class Killed extends Error {}

/** Dies at the n-th write. */
function dyingTrace(trace: RunTrace, writes: number): RunTrace {
  let left = writes;
  const spend = () => {
    left -= 1;
    if (left < 0) throw new Killed('killed');
  };
  return {
    run_id: trace.run_id,
    emit: (event) => trace.emit(event),
    recorded: (call_id) => trace.recorded(call_id),
    keepText: (text) => trace.keepText(text),
    textOf: (hash) => trace.textOf(hash),
    saveCall: (record) => {
      spend();
      trace.saveCall(record);
    },
    finish: (end) => {
      spend();
      trace.finish(end);
    },
  };
}

describe('a killed run', () => {
  verifies(
    'rlm:run:resume',
    'goes on at every call boundary and comes to the same, no answered call asked again',
    async () => {
      const ground = prepared(7);
      const whole = await run(ground, { inner: scripted(mixed) });
      const count = whole.store.calls(whole.run_id).length;
      for (let writes = 0; writes <= count; writes += 1) {
        const store = memoryTraceStore();
        const wrap = (trace: RunTrace) => dyingTrace(trace, writes);
        await assert.rejects(run(ground, { store, wrap, inner: scripted(mixed) }), Killed);
        const reopened = store.reopen('run_test', { takeOver: true });
        assert.ok(reopened.ok);
        const again = scripted(mixed);
        const answered = store.calls('run_test').map(({ call_id }) => call_id);
        const outcome = await go(ground.request, reopened.value, { inner: again });
        assert.equal(
          canonicalJson(outcome as unknown as JsonObject),
          canonicalJson(whole.outcome as unknown as JsonObject),
        );
        assert.deepEqual(
          again.requests.filter(({ call_id }) => answered.includes(call_id)),
          [],
        );
        const row = store.find('run_test');
        assert.ok(row.ok);
        assert.equal(row.value.state, 'completed');
      }
    },
  );
});

describe('a cancelled run', () => {
  verifies(
    'rlm:tree:cancel',
    'ends as cancelled from every event on, with nothing alive, and is replayed as such',
    async () => {
      const ground = prepared(5);
      const whole = await run(ground, { inner: scripted(mixed) });
      const events = whole.store.events(whole.run_id).length;
      let cancelled = 0;
      for (let at = 1; at < events; at += 1) {
        const stop = new AbortController();
        let seen = 0;
        const wrap = (trace: RunTrace): RunTrace => ({
          ...dyingTrace(trace, Number.POSITIVE_INFINITY),
          emit: (event) => {
            seen += 1;
            if (seen === at) stop.abort();
            return trace.emit(event);
          },
        });
        const done = await run(ground, { wrap, signal: stop.signal, inner: scripted(mixed) });
        assertEnded(done.outcome);
        if (done.outcome.verdict === 'cancelled') cancelled += 1;
        const replay = await replayed(done);
        assert.equal('result' in replay ? replay.result : replay.reason, 'same');
        const row = done.store.find(done.run_id);
        assert.ok(row.ok);
        assert.deepEqual(verifyRun(readRunRecord(done.store, row.value)), []);
      }
      // After the last reply there is nothing left to stop.
      assert.ok(cancelled > events - 12, `${cancelled} of ${events}`);
    },
  );
});

function assertEnded(outcome: RunOutcome): void {
  assert.deepEqual(treeFaults(outcome.tree), []);
  if (outcome.verdict !== 'cancelled') return;
  assert.equal(outcome.run_state, 'cancelled');
  assert.equal(outcome.termination_reason, 'cancelled');
  assert.deepEqual(outcome.claims, []);
}
