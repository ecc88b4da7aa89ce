import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { ok } from '#base/result.ts';
import type { InnerCall } from '#extensions/rlm/call/inner-call.ts';
import { openDemoPlace } from '#extensions/rlm/demo/demo-place.ts';
import type { DemoRun } from '#extensions/rlm/demo/demo-run.ts';
import {
  type DemoGround,
  faultStage,
  gateStage,
  repairStage,
  replayStage,
  runStage,
  splitStage,
  verifyStage,
} from '#extensions/rlm/demo/demo-stages.ts';
import { callByRule } from '#extensions/rlm/reflex/reflex-tasks.ts';
import { memoryTraceStore } from '#extensions/rlm/trace/memory-trace-store.ts';
import { createTempHome } from '#testing/temp-home.ts';

const signal = new AbortController().signal;

function groundOf(t: TestContext, change: (inner: InnerCall) => InnerCall = (inner) => inner): DemoGround {
  const { path } = createTempHome(t);
  const places = { home: join(path, 'never'), userHome: path };
  const open = () => Promise.reject(new Error('not asked for'));
  const place = openDemoPlace({ clock: systemClock, places, variables: {}, program: [], open }, join(path, 'kept'));
  assert.ok(place.ok);
  const inner = change(callByRule(systemClock));
  return { clock: systemClock, store: memoryTraceStore(), place: place.value, inner };
}

/** An inner call that answers a synthesis with this. */
function answering(synthesis: string): (inner: InnerCall) => InnerCall {
  return (inner) => ({
    family: inner.family,
    call: async (request, abort) => {
      const outcome = await inner.call(request, abort);
      const isSynthesis = outcome.ok && outcome.value.completion.includes('"synthesize_parent"');
      return isSynthesis ? ok({ ...outcome.value, completion: synthesis }) : outcome;
    },
  });
}

async function soundRun(t: TestContext): Promise<DemoRun> {
  const ground = groundOf(t);
  const { made } = await runStage(ground, (await splitStage(ground, signal)).made, signal);
  return made;
}

const failing = (stage: string) => ({ code: 'demo-failed', message: new RegExp(`^${stage}: `) });

describe('a stage of the demo that does not come out as it should', () => {
  test('gate: a run that was not accepted, and a claim that cites nothing', async (t) => {
    const run = await soundRun(t);
    assert.throws(() => gateStage({ ...run, outcome: { ...run.outcome, verdict: 'refused' } }), failing('gate'));
    const claims = [{ text: 'No.', fact_ids: ['f999'] }];
    assert.throws(() => gateStage({ ...run, outcome: { ...run.outcome, claims } }), failing('gate'));
    assert.throws(() => gateStage({ ...run, outcome: { ...run.outcome, claims: [] } }), failing('gate'));
  });

  test('replay and verify: a record that was changed', async (t) => {
    const run = await soundRun(t);
    const { record } = run;
    const calls = record.calls.map((call, at) => (at === 0 ? { ...call, completion: '{}' } : call));
    await assert.rejects(replayStage({ ...run, record: { ...record, calls } }, signal), failing('replay'));
    assert.throws(() => verifyStage([{ ...run, record: { ...record, calls } }]), failing('verify'));
    const row = { ...record.row, state_hash: `sha256:${'0'.repeat(64)}` };
    await assert.rejects(replayStage({ ...run, record: { ...record, row } }, signal), failing('replay'));
  });

  test('children: a model that does not answer', async (t) => {
    const ground = groundOf(t, ({ family }) => ({
      family,
      call: async () => ({ ok: false, reason: 'no_model', detail: 'none' }),
    }));
    const { made } = await splitStage(ground, signal);
    await assert.rejects(runStage(ground, made, signal), failing('children'));
  });

  test('fault and repair: a synthesis that has no fact to work on', async (t) => {
    const ground = groundOf(t, answering('{"mode":"synthesize_parent","result":{"summary":""}}'));
    const prepared = (await splitStage(ground, signal)).made;
    const { made: sound } = await runStage(ground, prepared, signal);
    await assert.rejects(faultStage(ground, { prepared, sound: sound.outcome }, signal), failing('fault'));
    await assert.rejects(repairStage(ground, { prepared, sound }, signal), failing('repair'));
  });
});
