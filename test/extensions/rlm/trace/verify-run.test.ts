import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CallRecord } from '#extensions/rlm/call/call-record.ts';
import { runEngine } from '#extensions/rlm/engine.ts';
import { exportRun, readExport } from '#extensions/rlm/trace/export-run.ts';
import { replayRun } from '#extensions/rlm/trace/replay.ts';
import { jsonHash, type RunEvent, type RunRecord, textHash } from '#extensions/rlm/trace/run-record.ts';
import { verifyRun } from '#extensions/rlm/trace/verify-run.ts';
import { verifyRecords } from '../../../../bench/rlm/check-artifact.ts';
import { verifies } from '../../../verifies.ts';
import { plain, recorded, withData } from '../fixtures/recorded.ts';
import { harbour, recordOf, requestOver, run } from '../run/run-ground.ts';

const soundRecord = async (): Promise<RunRecord> => recordOf(await run(requestOver(harbour(3))));
const FALSE = 'The harbour master counted 45 ships at pier 1.';

const codes = (record: RunRecord): readonly string[] => [...new Set(verifyRun(record).map(({ code }) => code))].sort();

/** Changes the outcome, and its hash with it: who tampers may hash too. */
function withOutcome(record: RunRecord, change: (outcome: Record<string, unknown>) => void): RunRecord {
  const outcome = plain<Record<string, unknown>>(record.row.outcome);
  change(outcome);
  const outcome_hash = jsonHash(outcome as never);
  const last = record.events.at(-1) as RunEvent;
  const events = record.events.with(-1, { ...last, data: { ...last.data, outcome_hash } });
  return { ...record, events, row: { ...record.row, outcome: outcome as never, state_hash: outcome_hash } };
}

const withCall = (record: RunRecord, at: number, change: Partial<CallRecord>): RunRecord => ({
  ...record,
  calls: record.calls.map((call, index) => (index === at ? { ...call, ...change } : call)),
});
/** The first event of a type, or the last one. */
const placeOf = ({ events }: RunRecord, type: RunEvent['type'], which: 'first' | 'last' = 'first') =>
  which === 'first' ? events.findIndex((one) => one.type === type) : events.findLastIndex((one) => one.type === type);
const withEvent = (record: RunRecord, at: number, change: Partial<RunEvent>): RunRecord => ({
  ...record,
  events: record.events.map((event, index) => (index === at ? { ...event, ...change } : event)),
});

type Claims = { text: string; fact_ids: string[] }[];
type Facts = { text: string; chunk_id: string; child_call_id: string; place: unknown }[];

const TAMPERED: Readonly<Record<string, readonly [(record: RunRecord) => RunRecord, ...codes: string[]]>> = {
  'a flipped byte in a completion': [(r) => withCall(r, 0, { completion: FALSE }), 'response-hash'],
  'a flipped byte in a prompt': [(r) => withCall(r, 1, { prompt: 'x' }), 'prompt-hash'],
  'other rules': [(r) => withCall(r, 1, { system_prompt: 'Invent.' }), 'system-prompt-hash'],
  'a completion with its hash': [
    (r) => withCall(r, 0, { completion: 'Other.', response_hash: textHash('Other.') }),
    'call-disagrees',
  ],
  'a failure made a success': [
    (r) => withCall(r, 0, { success: false, adapter_error: null }),
    'call-disagrees',
    'call-outcome',
    'evidence-call',
  ],
  'a call of another run': [(r) => withCall(r, 0, { generation_id: 'rlm_other' }), 'call-of-other-run'],
  'a parent that is not there': [
    (r) => withCall(r, 0, { parent_call_id: 'nobody' }),
    'parent-call-missing',
    'parent-trace',
  ],
  'another parent trace': [(r) => withCall(r, 0, { parent_trace_id: 'rlm_trace_x' }), 'parent-trace'],
  'another depth': [(r) => withCall(r, 0, { depth: 0 }), 'call-depth', 'call-disagrees'],
  'a call twice': [(r) => ({ ...r, calls: [...r.calls, ...r.calls.slice(0, 1)] }), 'call-twice', 'totals'],
  'a deleted call': [(r) => ({ ...r, calls: r.calls.slice(1) }), 'call-without-record', 'evidence-call', 'totals'],
  'a deleted event': [
    (r) => ({ ...r, events: r.events.toSpliced(placeOf(r, 'rlm.hermes.call.started'), 1) }),
    'call-not-started',
    'causal-parent-missing',
    'seq-gap',
  ],
  'two events swapped': [
    (r) => ({ ...r, events: [...r.events.slice(0, 2), ...r.events.slice(2, 4).reverse(), ...r.events.slice(4)] }),
    'seq-gap',
  ],
  'a deleted end': [(r) => ({ ...r, events: r.events.slice(0, -1) }), 'finish-missing'],
  'an event after the end': [
    (r) => ({ ...r, events: [...r.events, { ...(r.events[1] as RunEvent), seq: r.events.length + 1 }] }),
    'event-after-finish',
    'event-id',
  ],
  'another question': [
    (r) => ({ ...r, row: { ...r.row, request: { ...r.row.request, question: '?' } } }),
    'request-hash',
  ],
  'an event of another run': [(r) => withEvent(r, 3, { run_id: 'x' }), 'event-of-other-run'],
  'an unknown event': [
    (r) => withEvent(r, placeOf(r, 'rlm.context.bound'), { type: 'rlm.node.sleeping' as never }),
    'event-type-unknown',
  ],
  'a cause that comes later': [
    (r) => withEvent(r, 1, { causal_parent_event_id: r.events[4]?.event_id ?? '' }),
    'causal-parent-late',
  ],
  'a node without an end': [
    (r) => withEvent(r, placeOf(r, 'rlm.node.terminal'), { type: 'rlm.state.committed' }),
    'node-not-terminal',
  ],
  'a node that ends twice': [
    (r) => withEvent(r, placeOf(r, 'rlm.node.terminal', 'last'), { node_id: 'rlm_node_atomic_chunk_001' }),
    'node-not-terminal',
    'node-terminal-twice',
  ],
  'a changed outcome': [
    (r) => ({ ...r, row: { ...r.row, outcome: { ...r.row.outcome, summary: 'Better.' } } }),
    'outcome-hash',
  ],
  'a changed claim with its hash': [
    (r) => withOutcome(r, ({ claims }) => Object.assign((claims as Claims)[0] ?? {}, { text: FALSE })),
    'claim-not-said',
  ],
  'a claim on another fact': [
    (r) => withOutcome(r, ({ claims }) => Object.assign((claims as Claims)[0] ?? {}, { fact_ids: ['HB-002'] })),
    'claim-not-said',
  ],
  'a claim on nothing': [
    (r) => withOutcome(r, ({ claims }) => Object.assign((claims as Claims)[0] ?? {}, { fact_ids: [] })),
    'claim-without-evidence',
  ],
  'evidence made up': [
    (r) =>
      withOutcome(r, ({ evidence, claims }) => {
        Object.assign((evidence as Facts)[0] ?? {}, { text: FALSE });
        Object.assign((claims as Claims)[0] ?? {}, { text: FALSE });
      }),
    'quote-not-in-chunk',
  ],
  'evidence of another chunk': [
    (r) =>
      withOutcome(r, ({ evidence }) => Object.assign((evidence as Facts)[0] ?? {}, { chunk_id: 'harbour.txt:3-4' })),
    'evidence-call',
    'quote-not-in-chunk',
  ],
  'evidence of a call that was never made': [
    (r) =>
      withOutcome(r, ({ evidence }) => Object.assign((evidence as Facts)[0] ?? {}, { child_call_id: 'rlm_call_x' })),
    'evidence-call',
  ],
  'a place beyond the chunk': [
    (r) =>
      withOutcome(r, ({ evidence }) =>
        Object.assign((evidence as Facts)[0] ?? {}, {
          place: { source_path: 'harbour.txt', start_line: 1, end_line: 9, start_byte: 0, end_byte: 5 },
        }),
      ),
    'evidence-call',
  ],
  'accepted without a claim': [
    (r) => withOutcome(r, (outcome) => Object.assign(outcome, { claims: [] })),
    'verdict-unfounded',
  ],
  'refused, made accepted in the row only': [
    (r) => withOutcome(r, (outcome) => Object.assign(outcome, { verdict: 'refused' })),
    'outcome-state',
    'verdict-unfounded',
  ],
  'another state': [(r) => ({ ...r, row: { ...r.row, state: 'failed' } }), 'outcome-state'],
  'another run in the outcome': [
    (r) => withOutcome(r, (outcome) => Object.assign(outcome, { run_id: 'x' })),
    'outcome-of-other-run',
  ],
  'fewer tokens': [
    (r) => withOutcome(r, ({ totals }) => Object.assign(totals as object, { input_tokens: 1 })),
    'totals',
  ],
  'a kept text that is gone': [(r) => ({ ...r, textOf: () => undefined }), 'text-missing'],
  'a kept text that is another': [
    (r) => ({ ...r, textOf: (hash) => `${r.textOf(hash)}!`.replace('counted 11', 'counted 12') }),
    'quote-not-in-chunk',
    'text-hash',
  ],
  'no outcome': [(r) => ({ ...r, row: { ...r.row, outcome: null } }), 'outcome-missing'],
  'an outcome of nothing we know': [
    (r) => withOutcome(r, (outcome) => Object.assign(outcome, { schema_version: 'x' })),
    'outcome-shape',
  ],
};

describe('check of a run', () => {
  verifies(
    'rlm:run:trace',
    'a run that nobody touched has no problem, and its record holds every call whole',
    async () => {
      const record = await soundRecord();
      assert.deepEqual(verifyRun(record), []);
      assert.equal(record.calls.length, 4);
      for (const call of record.calls) {
        assert.ok(call.prompt !== '' && call.completion !== null && call.started_at > 0);
        assert.deepEqual(
          [call.usage, call.cost, call.elapsed_ms],
          [{ input_tokens: 100, output_tokens: 20 }, 0.001, 1],
        );
      }
      const parents = record.calls.map(({ parent_call_id }) => parent_call_id);
      assert.deepEqual(parents, [...Array(3).fill('rlm_call_atomic_synthesis'), null]);
    },
  );

  for (const [what, [tamper, ...expected]] of Object.entries(TAMPERED)) {
    test(`found: ${what}`, async () => {
      const record = await soundRecord();
      assert.deepEqual(codes(tamper(record)), expected.toSorted());
    });
  }

  test('of a run that was cut, what the cut took is no problem; what is there must hold', async () => {
    const whole = await soundRecord();
    const open = { ended_at: null, state: 'running', outcome: null, state_hash: null, owner: '1 x' } as const;
    for (let events = 0; events < whole.events.length; events += 1) {
      const kept = whole.events.slice(0, events);
      const ended = kept.filter(({ type }) => type === 'rlm.hermes.call.completed').length;
      const cut = { ...whole, row: { ...whole.row, ...open }, events: kept, calls: whole.calls.slice(0, ended) };
      assert.deepEqual(verifyRun(cut), []);
    }
    const odd = { ...whole, row: { ...whole.row, ...open, state: 'completed' as const } };
    assert.ok(codes(odd).includes('state-unlikely'));
  });

  test('an exported run is the run: it verifies and replays without the store, and tampering shows', async () => {
    const record = await soundRecord();
    const text = exportRun(record);
    const read = readExport(JSON.parse(text));
    assert.ok(read.ok);
    assert.deepEqual(verifyRun(read.value.record), []);
    assert.equal(exportRun(read.value.record), text);
    const replay = await replayRun(read.value.record, { run: runEngine }, new AbortController().signal);
    assert.ok('result' in replay && replay.result === 'same');
    const other = readExport(JSON.parse(text.replaceAll('counted 11', 'counted 12')));
    assert.ok(other.ok);
    assert.ok(codes(other.value.record).includes('text-hash'));
    for (const wrong of [null, [], {}, { schema_version: 'talaria.rlm.export.v1' }])
      assert.equal(readExport(wrong as never).ok, false);
  });
});

interface Minimal {
  readonly trace_records: (CallRecord & Record<string, unknown>)[];
  readonly ac_tree: { readonly nodes: Record<string, Record<string, unknown>> };
}

describe('check of recorded calls', () => {
  const problems = (value: unknown) => {
    const verified = verifyRecords(value as never);
    assert.ok(verified.ok);
    return [...new Set(verified.value.problems.map(({ code }) => code))].sort();
  };

  test('the committed recursive run holds together', withData, () => {
    assert.deepEqual(problems(recorded('minimal_recursive_run.json')), []);
  });

  test('each broken link of it is found', withData, () => {
    const broken = (change: (run: Minimal) => void) => {
      const run = plain<Minimal>(recorded('minimal_recursive_run.json'));
      change(run);
      return problems(run);
    };
    const child = (change: Record<string, unknown>) =>
      broken(({ trace_records: [, second] }) => Object.assign(second ?? {}, change));
    assert.deepEqual(
      broken(({ trace_records }) => void trace_records.pop()),
      ['child-record-missing'],
    );
    assert.deepEqual(
      broken(({ trace_records }) => void trace_records.shift()),
      ['parent-call-missing'],
    );
    assert.deepEqual(child({ parent_call_id: 'x' }), [
      ...['causal-parent-missing', 'child-record-missing', 'parent-call-missing', 'parent-trace'],
    ]);
    assert.deepEqual(child({ parent_trace_id: 'x' }), ['child-tree', 'parent-trace']);
    assert.deepEqual(child({ causal_parent_event_id: 'x' }), ['causal-parent-missing']);
    assert.deepEqual(child({ ac_node_id: 'x' }), ['child-record-missing', 'child-tree']);
    assert.deepEqual(child({ generated_child_ac_node_ids: ['x'] }), ['child-record-missing', 'child-tree']);
    assert.deepEqual(child({ prompt_hash: 'sha256:0' }), ['call-outcome', 'prompt-hash']);
    assert.deepEqual(child({ depth: 0 }), ['call-depth', 'child-tree']);
    assert.deepEqual(child({ completion: null }), ['call-outcome']);
    assert.deepEqual(
      broken(({ ac_tree }) => void Object.assign(Object.values(ac_tree.nodes)[1] ?? {}, { parent_id: 'x' })),
      ['child-tree'],
    );
    assert.equal(verifyRecords({ trace_records: [] }).ok, false);
  });
});
