import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { memoryTraceStore } from '#extensions/rlm/trace/memory-trace-store.ts';
import { createRecordedTrace } from '#extensions/rlm/trace/recorded-trace.ts';
import { type RunEngine, replayRun } from '#extensions/rlm/trace/replay/replay-run.ts';
import { type RunRecord, readRunRecord } from '#extensions/rlm/trace/run-record.ts';
import { verifies } from '../../../verifies.ts';
import { doSmallRun, goOn, quote, quotingInner, smallEngine, smallRun } from './small-engine.ts';

const signal = new AbortController().signal;
const engines = { run: smallEngine };

async function smallRecord(): Promise<RunRecord> {
  const store = memoryTraceStore();
  await doSmallRun(store);
  return recordOf(store);
}

function recordOf(store: ReturnType<typeof memoryTraceStore>, id = 'rlm_small'): RunRecord {
  const found = store.find(id);
  assert.ok(found.ok);
  return readRunRecord(store, found.value);
}

async function killedAt(calls: number): Promise<{ store: ReturnType<typeof memoryTraceStore>; record: RunRecord }> {
  const store = memoryTraceStore();
  let asked = 0;
  const dying = quotingInner((request) => {
    asked += 1;
    if (asked > calls) throw new Error('killed');
    return quote(request);
  });
  const stop = {
    ...dying,
    call: async (...args: Parameters<typeof dying.call>) =>
      asked >= calls ? new Promise<never>(() => {}) : dying.call(...args),
  };
  void doSmallRun(store, { inner: stop });
  await new Promise((resolve) => setImmediate(resolve));
  return { store, record: recordOf(store) };
}

describe('replay of a run', () => {
  verifies('rlm:run:replay', 'a stored run is done again without a model and comes to the same state', async () => {
    const record = await smallRecord();
    const replay = await replayRun(record, engines, signal);
    const { state_hash } = record.row;
    assert.deepEqual(replay, { result: 'same', events: record.events.length, calls: 4, state_hash });
  });

  test('what was answered otherwise is another run: the first difference is named', async () => {
    const record = await smallRecord();
    const calls = record.calls.map((call) =>
      call.call_id === 'rlm_call_atomic_chunk_002' ? { ...call, completion: 'The bridge opened' } : call,
    );
    const replay = await replayRun({ ...record, calls }, engines, signal);
    assert.ok('result' in replay && replay.result === 'different');
    assert.equal(replay.difference.seq, null);
    assert.equal(replay.difference.field, 'call rlm_call_atomic_synthesis, prompt');
    assert.match(String(replay.difference.replayed), /opened"/);
  });

  test('another event, another text, another outcome: each is found where it stands', async () => {
    const record = await smallRecord();
    const difference = async (changed: Partial<RunRecord>) => {
      const replay = await replayRun({ ...record, ...changed }, engines, signal);
      assert.ok('result' in replay && replay.result === 'different', JSON.stringify(replay));
      return [replay.difference.seq, replay.difference.field];
    };
    const { row, events } = record;
    const event = events[2];
    assert.ok(event);
    const other = events.with(2, { ...event, data: { ...event.data, mode: 'decompose_ac' } });
    assert.deepEqual(await difference({ events: other }), [3, 'data.mode']);
    assert.deepEqual(await difference({ events: events.toSpliced(2, 1) }), [3, 'type']);
    assert.deepEqual(await difference({ events: [...events, { ...event, seq: events.length + 1 }] }), [
      events.length + 1,
      'type',
    ]);
    assert.deepEqual(await difference({ textOf: () => 'another text' }), [
      null,
      'call rlm_call_atomic_chunk_001, prompt',
    ]);
    const outcome = { ...row.outcome, verdict: 'refused' };
    assert.deepEqual(await difference({ row: { ...row, outcome, state_hash: 'sha256:0' } }), [null, 'outcome.verdict']);
    assert.deepEqual(await difference({ row: { ...row, state: 'failed' } }), [null, 'state']);
    assert.deepEqual(await difference({ calls: record.calls.slice(0, 2) }), [null, 'call rlm_call_atomic_chunk_003']);
  });

  test('a killed run is the same up to where it was cut, and goes on from there to the same end', async () => {
    const whole = await smallRecord();
    for (const calls of [0, 1, 2, 3]) {
      const { store, record } = await killedAt(calls);
      const replay = await replayRun(record, engines, signal);
      assert.ok('result' in replay && replay.result === 'cut');
      assert.equal(replay.calls, calls);
      assert.equal(replay.missing_call, whole.calls[calls]?.call_id);
      const again = store.reopen('rlm_small', { takeOver: true });
      assert.ok(again.ok);
      let asked = 0;
      await goOn(
        store,
        again.value,
        quotingInner((request) => {
          asked += 1;
          return quote(request);
        }),
      );
      assert.equal(asked, 4 - calls);
      const { row } = recordOf(store);
      assert.equal(row.state_hash, whole.row.state_hash);
    }
  });

  test('nothing is written, and a kind that nobody does is refused', async () => {
    const store = memoryTraceStore();
    await doSmallRun(store);
    const before = recordOf(store);
    await replayRun(before, engines, signal);
    const after = recordOf(store);
    assert.deepEqual([after.row, after.events, after.calls], [before.row, before.events, before.calls]);
    const refused = await replayRun(before, {}, signal);
    assert.ok('reason' in refused && refused.reason === 'no-engine');
    assert.throws(() => createRecordedTrace(store, 'rlm_other'), { code: 'run-not-found' });
  });

  test('a source that changed is refused, a bug of the controller is thrown', async () => {
    const record = await smallRecord();
    const throwing = (code: string) => ({ run: async () => Promise.reject(Object.assign(new Error('x'), { code })) });
    const changed = await replayRun(record, throwing('context-changed'), signal);
    assert.ok('reason' in changed && changed.reason === 'context-changed');
    await assert.rejects(replayRun(record, throwing('bug'), signal), { code: 'bug' });
    const lazy = await replayRun(record, { run: async () => undefined }, signal);
    assert.ok('result' in lazy && lazy.result === 'different' && lazy.difference.seq === 1);
    const unending: RunEngine = async ({ trace }) => record.events.forEach((event) => void trace.emit(event));
    await assert.rejects(replayRun(record, { run: unending }, signal), { code: 'run-unended' });
  });

  test('two runs of the same request and replies have the same state, whatever their number', async () => {
    const store = memoryTraceStore();
    await doSmallRun(store, { run: smallRun('rlm_a') });
    const first = recordOf(store, 'rlm_a');
    const second = await smallRecord();
    const strip = (outcome: unknown) => JSON.stringify(outcome).replaceAll(/rlm_(a|small)/g, 'rlm');
    assert.equal(strip(first.row.outcome), strip(second.row.outcome));
  });
});
