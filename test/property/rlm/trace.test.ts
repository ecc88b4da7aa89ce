// Whatever models reply, a run holds together and is the same when it is done again; whatever is changed in its record is found.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import fc from 'fast-check';
import type { CallRecord } from '#extensions/rlm/call/call-record.ts';
import { runEngine } from '#extensions/rlm/engine.ts';
import { exportRun, readExport } from '#extensions/rlm/trace/export-run.ts';
import { replayRun } from '#extensions/rlm/trace/replay.ts';
import type { RunRecord } from '#extensions/rlm/trace/run-record.ts';
import { verifyRun } from '#extensions/rlm/trace/verify-run.ts';
import {
  childReply,
  harbour,
  parentReply,
  recordOf,
  requestOver,
  run,
  type Script,
  scripted,
} from '../../extensions/rlm/run/run-ground.ts';
import { verifies } from '../../verifies.ts';

const signal = new AbortController().signal;
const limits = { max_depth: 3, max_iterations: 100, max_retries: 1 };

const fact = fc.record({
  fact_id: fc.constantFrom('HB-001', 'HB-002', 'HB-009', 'x', ''),
  text: fc.oneof(
    fc.constantFrom(
      'FACT:HB-001 The harbour master counted 11 ships at pier 1.',
      'Gulls circled above pier 2 all day.',
    ),
    fc.string({ unit: 'binary', maxLength: 30 }),
  ),
  evidence_chunk_id: fc.constantFrom('harbour.txt:1-2', 'harbour.txt:3-4', 'nowhere', null),
});
const facts = fc.array(fact, { maxLength: 3 });
/** Undefined: what the honest rule says. */
const reply = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  facts.map((found) => JSON.stringify(childReply(found as never))),
  facts.map((found) => JSON.stringify(parentReply(found as never))),
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.constantFrom(
    { refuse: 'timeout' as const },
    { refuse: 'reply_too_large' as const },
    { refuse: 'cancelled' as const },
  ),
);

async function recorded(replies: readonly unknown[], max_in_flight: number): Promise<RunRecord> {
  let at = 0;
  const script: Script = () => replies[at++ % Math.max(1, replies.length)] as ReturnType<Script>;
  const prepared = requestOver(harbour(4), { limits: { ...limits, max_in_flight } });
  return recordOf(await run(prepared, { inner: scripted(script) }));
}

const anyRun = { replies: fc.array(reply, { minLength: 1, maxLength: 8 }), window: fc.integer({ min: 1, max: 4 }) };

describe('trace: properties', () => {
  verifies('rlm:run:replay', 'replay equals run, and the run holds together, whatever was replied', () =>
    fc.assert(
      fc.asyncProperty(anyRun.replies, anyRun.window, async (replies, window) => {
        const record = await recorded(replies, window);
        assert.deepEqual(verifyRun(record), []);
        const exported = readExport(JSON.parse(exportRun(record)));
        assert.ok(exported.ok);
        for (const one of [record, exported.value.record]) {
          const replay = await replayRun(one, { run: runEngine }, signal);
          assert.ok('result' in replay && replay.result === 'same', JSON.stringify(replay));
        }
      }),
      { numRuns: 25 },
    ),
  );

  verifies('rlm:run:trace', 'a completion, a prompt or an event that was changed, or is gone, is found', () =>
    fc.assert(
      fc.asyncProperty(anyRun.replies, fc.nat(), fc.nat({ max: 4 }), async (replies, where, how) => {
        const record = await recorded(replies, 1);
        assert.notDeepEqual(verifyRun(tampered(record, where, how)), []);
      }),
      { numRuns: 25 },
    ),
  );
});

function tampered(record: RunRecord, where: number, how: number): RunRecord {
  const { calls, events } = record;
  const call = where % Math.max(1, calls.length);
  const event = where % events.length;
  const withCall = (change: (call: CallRecord) => Partial<CallRecord>): RunRecord => ({
    ...record,
    calls: calls.map((one, at) => (at === call ? { ...one, ...change(one) } : one)),
  });
  if (how === 0) return { ...record, events: events.toSpliced(event, 1) };
  if (how === 1) return withCall(({ prompt }) => ({ prompt: `${prompt} ` }));
  if (how === 2) return withCall(({ completion }) => ({ completion: `${completion ?? ''}.` }));
  if (how === 3) return { ...record, calls: calls.toSpliced(call, 1) };
  return { ...record, row: { ...record.row, outcome: { ...record.row.outcome, summary: 'All is well, they say.' } } };
}
