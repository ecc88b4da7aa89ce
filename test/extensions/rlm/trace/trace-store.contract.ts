/** What every TraceStore does. `open` gives one and the clock that it reads; `again` opens the same material as another process would. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { jsonHash, textHash } from '#extensions/rlm/trace/run-record.ts';
import type { TraceStore } from '#extensions/rlm/trace/trace-store.ts';
import type { ManualClock } from '#public/testing.ts';
import { callRecord, endRun, newEvent, newRun, OUTCOME, writeRun } from './trace-samples.ts';

export interface TraceStoreUnderTest {
  readonly store: TraceStore;
  readonly clock: ManualClock;
}

const code = (expected: string) => (error: Error & { code?: string }) => error.code === expected;

export function traceStoreContract(name: string, open: (context: TestContext) => TraceStoreUnderTest): void {
  describe(`trace store: ${name}`, () => {
    test('a run comes back as it was written', (context) => {
      const { store, clock } = open(context);
      const trace = store.begin(newRun());
      writeRun(trace);
      clock.jump(1000);
      endRun(trace);
      const found = store.find('rlm_1');
      assert.ok(found.ok);
      const at = found.value.started_at;
      assert.deepEqual(found.value, {
        ...newRun(),
        started_at: at,
        ended_at: at + 1000,
        state: 'completed',
        outcome: OUTCOME,
        state_hash: jsonHash(OUTCOME),
        owner: null,
      });
      const events = store.events('rlm_1');
      assert.deepEqual(
        events.map(({ seq }) => seq),
        [1, 2, 3, 4, 5, 6, 7],
      );
      assert.deepEqual(events[1], {
        ...newEvent('rlm.context.bound', { chunk_id: 'a.txt:1-2', text_hash: textHash('one\ntwo\n') }),
        causal_parent_event_id: 'rlm_1:000001',
        ...{ run_id: 'rlm_1', seq: 2, event_id: 'rlm_1:000002', at },
      });
      assert.deepEqual(store.calls('rlm_1'), [
        callRecord('call_1', { generation_id: 'rlm_1' }),
        callRecord('call_2', { generation_id: 'rlm_1' }),
      ]);
      assert.equal(store.textOf(textHash('one\ntwo\n')), 'one\ntwo\n');
      assert.equal(store.textOf(textHash('other')), undefined);
    });

    test('texts are kept byte for byte, a call without a reply as such', (context) => {
      const { store } = open(context);
      const trace = store.begin(newRun());
      const odd = '\u0000\uFEFFzero \u0000 and \u{1F600}\r\n';
      trace.saveCall(callRecord('odd', { prompt: odd, completion: null, system_prompt: '' }));
      assert.deepEqual(store.calls('rlm_1'), [callRecord('odd', { prompt: odd, completion: null, system_prompt: '' })]);
      assert.equal(trace.textOf(trace.keepText(odd)), odd);
      endRun(trace);
      assert.equal(store.textOf(textHash(odd)), odd);
    });

    test('a call is kept once, and known at once', (context) => {
      const { store } = open(context);
      const trace = store.begin(newRun());
      assert.equal(trace.recorded('call_1'), undefined);
      trace.saveCall(callRecord('call_1'));
      assert.deepEqual(trace.recorded('call_1'), callRecord('call_1'));
      assert.throws(() => trace.saveCall(callRecord('call_1')), code('call-exists'));
      assert.equal(store.calls('rlm_1').length, 1);
    });

    test('events before a call stand when the call stands', (context) => {
      const { store } = open(context);
      const trace = store.begin(newRun());
      for (let at = 1; at <= 600; at += 1) trace.emit(newEvent('rlm.state.committed', { at }));
      trace.saveCall(callRecord('call_1'));
      assert.equal(store.events('rlm_1').length, 600);
    });

    test('a run that ends without its last event, or is ended twice, is refused', (context) => {
      const { store } = open(context);
      const trace = store.begin(newRun());
      assert.throws(() => trace.finish({ state: 'completed', outcome: {} }), code('trace-unfinished'));
      endRun(trace);
      assert.throws(() => trace.emit(newEvent('rlm.run.started')), code('run-ended'));
      assert.throws(() => trace.saveCall(callRecord('late')), code('run-ended'));
      assert.throws(() => trace.finish({ state: 'failed', outcome: {} }), code('run-ended'));
      assert.throws(() => store.begin(newRun()), code('run-exists'));
      assert.equal(store.list().length, 1);
    });

    test('a live run is not gone on with, a finished or unknown one neither', (context) => {
      const { store } = open(context);
      const trace = store.begin(newRun());
      const reason = (id: string) => {
        const reopened = store.reopen(id);
        return reopened.ok ? 'reopened' : reopened.reason;
      };
      assert.equal(reason('rlm_1'), 'run-alive');
      endRun(trace);
      assert.equal(reason('rlm_1'), 'run-ended');
      assert.equal(reason('rlm_2'), 'run-not-found');
    });

    test('a run that goes on says the same up to where it was cut, then more', (context) => {
      const { store } = open(context);
      writeRun(store.begin(newRun()), 1);
      const reopened = store.reopen('rlm_1', { takeOver: true });
      assert.ok(reopened.ok);
      writeRun(reopened.value, 2);
      endRun(reopened.value);
      assert.equal(store.events('rlm_1').length, 7);
      assert.equal(store.calls('rlm_1').length, 2);
    });

    test('a run that goes on and says something else is stopped, and what is stored stays', (context) => {
      const { store } = open(context);
      const first = store.begin(newRun());
      writeRun(first, 1);
      first.saveCall(callRecord('last'));
      const before = store.events('rlm_1');
      const others = [
        newEvent('rlm.run.started', { question: 'Another?' }),
        newEvent('rlm.node.scheduled', { question: 'What is said?' }),
        newEvent('rlm.run.started', { question: 'What is said?' }, { node_id: null }),
        newEvent('rlm.run.started', { question: 'What is said?' }, { causal_parent_event_id: 'x' }),
      ];
      for (const other of others) {
        const again = store.reopen('rlm_1', { takeOver: true });
        assert.ok(again.ok);
        const { value: trace } = again;
        assert.throws(() => trace.emit(other), code('trace-diverged'));
      }
      const short = store.reopen('rlm_1', { takeOver: true });
      assert.ok(short.ok);
      const { value: trace } = short;
      trace.emit(newEvent('rlm.run.started', { question: 'What is said?' }));
      assert.throws(() => endRun(trace), code('trace-diverged'));
      assert.deepEqual(store.events('rlm_1'), before);
    });

    test('runs are listed newest first, by kind, so many', (context) => {
      const { store, clock } = open(context);
      for (const [id, kind] of [
        ['rlm_a1', 'run'],
        ['rlm_a2', 'ask'],
        ['rlm_b1', 'run'],
      ] as const) {
        endRun(store.begin(newRun(id, { kind })));
        clock.jump(1000);
      }
      const ids = (listing?: Parameters<TraceStore['list']>[0]) => store.list(listing).map(({ run_id }) => run_id);
      assert.deepEqual(ids(), ['rlm_b1', 'rlm_a2', 'rlm_a1']);
      assert.deepEqual(ids({ limit: 2 }), ['rlm_b1', 'rlm_a2']);
      assert.deepEqual(ids({ kind: 'run', limit: 5 }), ['rlm_b1', 'rlm_a1']);
      assert.deepEqual(ids({ kind: 'vanilla' }), []);
    });

    test('a run is found by its id or by what only its id begins with', (context) => {
      const { store } = open(context);
      for (const id of ['rlm_a', 'rlm_ab', 'rlm_abc', 'rlm_%']) store.begin(newRun(id));
      const found = (text: string) => {
        const run = store.find(text);
        return run.ok ? run.value.run_id : run.reason;
      };
      assert.equal(found('rlm_a'), 'rlm_a');
      assert.equal(found('rlm_abc'), 'rlm_abc');
      assert.equal(found('rlm_'), 'run-ambiguous');
      assert.equal(found('rlm_%'), 'rlm_%');
      assert.equal(found(''), 'run-not-found');
      assert.equal(found('rlm_z'), 'run-not-found');
      const ambiguous = store.find('rlm_ab');
      assert.ok(ambiguous.ok);
      const many = store.find('r');
      assert.match(many.ok ? '' : many.detail, /4 runs begin with r: .*rlm_/);
    });

    test('old runs go with the texts that only they name; live, killed and new ones stay', (context) => {
      const { store, clock } = open(context);
      const old = store.begin(newRun('rlm_old'));
      old.saveCall(callRecord('own', { prompt: 'only here' }));
      old.saveCall(callRecord('same', { prompt: 'in both' }));
      endRun(old);
      store.begin(newRun('rlm_live'));
      clock.jump(10_000);
      const fresh = store.begin(newRun('rlm_new'));
      fresh.saveCall(callRecord('same', { prompt: 'in both' }));
      endRun(fresh);
      const before = clock.now() - 5000;
      assert.deepEqual(store.prune(before, { dryRun: true }), ['rlm_old']);
      assert.deepEqual(store.prune(before, { keep: 3 }), []);
      assert.equal(store.list().length, 3);
      assert.deepEqual(store.prune(before, { killed: true }), ['rlm_old']);
      assert.deepEqual(
        store.list().map(({ run_id }) => run_id),
        ['rlm_new', 'rlm_live'],
      );
      assert.equal(store.textOf(textHash('only here')), undefined);
      assert.equal(store.textOf(textHash('in both')), 'in both');
      assert.deepEqual([store.events('rlm_old'), store.calls('rlm_old')], [[], []]);
    });
  });
}
