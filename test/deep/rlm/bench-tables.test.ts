// The tables of the benches: faults as published or as said beforehand, the engine's contracts with calls that were counted.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type BenchReport, figure, markdownReport } from '../../../bench/rlm/bench-report.ts';
import { ABLATION_CONTRACTS, ablationFixtures } from '../../../bench/rlm/contract-ablation.ts';
import { engineAblation, FAULTS, gateFaults } from '../../../bench/rlm/engine-ablation.ts';
import { claimAwareBench, syntheticBench } from '../../../bench/rlm/scorer-tables.ts';
import { never } from '../../extensions/rlm/bench/bench-place.ts';
import { verifies } from '../../verifies.ts';

describe('rlm/bench: faults', () => {
  verifies(
    'rlm:score:ablation',
    'the gate is really run on injected faults: strict leaves none, the original half',
    () => {
      const bench = gateFaults();
      assert.deepEqual([bench.fixture_count, bench.fault_count, bench.unexpected_count], [72, 17, 0]);
      assert.deepEqual(bench.harmful_accepted, { without_gate: 1, v1: 0.5, strict: 0 });
      for (const row of bench.fault_summary) {
        const fault = FAULTS.find(({ fault_id }) => fault_id === row.fault_id);
        assert.equal(row.strict_refused, fault?.strict === null ? 0 : 72, row.fault_id);
        assert.equal(row.v1_refused, fault?.v1 === null ? 0 : 72, row.fault_id);
      }
    },
  );

  test('each fault changes the sound completion, and only the sound ones are harmless', () => {
    const [generated] = ablationFixtures();
    assert.ok(generated);
    const sound = JSON.stringify(FAULTS[0]?.inject(generated));
    for (const fault of FAULTS.slice(1))
      assert.notEqual(JSON.stringify(fault.inject(generated)), sound, fault.fault_id);
    for (const fault of FAULTS) assert.equal(fault.isHarmful, fault.strict !== null, fault.fault_id);
  });

  verifies(
    'rlm:score:ablation',
    'on the engine calls are counted where they are made, and nothing unsupported is accepted',
    async () => {
      const fixtures = ablationFixtures().filter((_, at) => at % 12 === 0);
      const bench = await engineAblation(never(), fixtures);
      const chunks = fixtures.reduce((sum, { shape }) => sum + shape.retained_count, 0) / fixtures.length;
      const rows = new Map(bench.policy_summary.map((row) => [row.policy_id, row]));
      assert.equal(rows.size, ABLATION_CONTRACTS.length);
      for (const row of bench.policy_summary) assert.equal(row.unsupported_rate_with_gate, 0, row.policy_id);
      assert.equal(rows.get('single_call_loose')?.mean_call_count, 1);
      assert.deepEqual(
        [rows.get('hermes_rlm_evidence_gated')?.mean_call_count, rows.get('hermes_rlm_evidence_gated')?.accepted_count],
        [chunks + 1, fixtures.length],
      );
      // What the gate refuses is asked for once more.
      assert.deepEqual(
        [rows.get('hermes_rlm_without_gate')?.mean_call_count, rows.get('hermes_rlm_without_gate')?.accepted_count],
        [chunks + 2, 0],
      );
      assert.equal(rows.get('hermes_rlm_without_gate')?.unsupported_rate_without_gate, 1);
    },
  );
});

describe('rlm/bench: reports', () => {
  test('the scorer benches hold, and their tables have a cell for each column', () => {
    for (const report of [claimAwareBench(), syntheticBench()]) {
      assert.equal(report.passed, true, report.bench);
      for (const { columns, rows } of report.tables) for (const row of rows) assert.equal(row.length, columns.length);
    }
    assert.match(
      syntheticBench().notes[0] ?? '',
      /^108 fixtures, 7 strategies, 756 evaluations: 756 as they must be, 0 not/,
    );
    assert.match(claimAwareBench().notes[0] ?? '', /^7 of 7 cases pass/);
  });

  test('Markdown keeps cells in one line; what is not measured is a dash', () => {
    const tables = [{ title: 'T', columns: ['a', 'b'], rows: [['x|y', 'one\ntwo']] }];
    const report: BenchReport = { bench: 'b', notes: ['n'], tables, document: {}, passed: true };
    assert.equal(markdownReport(report), '## b\n\n- n\n\n### T\n\n| a | b |\n| --- | --- |\n| x\\|y | one two |\n');
    assert.deepEqual([null, undefined, 0, 1, 0.5, 0.11114].map(figure), ['-', '-', '0', '1', '0.5', '0.1111']);
  });
});
