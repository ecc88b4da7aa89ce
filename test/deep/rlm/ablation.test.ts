// The whole ablation on the engine: 72 fixtures, six contracts, every call counted.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { ablationBench, engineAblation } from '../../../bench/rlm/engine-ablation.ts';
import { verifies } from '../../verifies.ts';

const never = () => new AbortController().signal;

describe('rlm/bench: the whole ablation', () => {
  verifies('rlm:score:ablation', '432 evaluations: counted calls, nothing unsupported in the state', async () => {
    const bench = await engineAblation(never());
    assert.deepEqual([bench.fixture_count, bench.evaluation_count], [72, 432]);
    const rows = bench.policy_summary.map((row) => [
      row.policy_id,
      row.mean_call_count,
      row.accepted_count,
      row.unsupported_rate_without_gate,
      row.unsupported_rate_with_gate,
    ]);
    assert.deepEqual(rows, [
      ['single_call_loose', 1, 0, 1, 0],
      ['single_call_guarded', 1, 72, 0, 0],
      ['flat_map_reduce_chunk_only', 9.5, 0, 0, 0],
      ['flat_map_reduce_with_leak', 9.5, 0, 1, 0],
      ['hermes_rlm_evidence_gated', 8.5, 72, 0, 0],
      ['hermes_rlm_without_gate', 9.5, 0, 1, 0],
    ]);
    assert.equal((await ablationBench(never())).passed, true);
  });
});
