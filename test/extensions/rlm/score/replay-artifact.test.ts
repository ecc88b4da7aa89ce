import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { replayArtifact } from '../../../../bench/rlm/compare-runs.ts';
import { verifies } from '../../../verifies.ts';
import { recorded, withData } from '../fixtures/recorded.ts';
import { completion, fixture } from './sample.ts';

const artifact = (score: number, parent: unknown = completion()) => ({
  benchmark_id: 'b',
  fixture_id: 'f',
  vanilla_output: { runner_output: { completion: JSON.stringify(completion()), hermes_subcall_count: 1 } },
  rlm_output: {
    atomic_execution: {
      final_message: JSON.stringify(parent),
      subcalls: [
        { mode: 'execute_atomic', exit_code: 0, success: true, chunk_id: 't.txt:1-1' },
        { mode: 'execute_atomic', exit_code: 0, success: true, chunk_id: 't.txt:2-2' },
        { mode: 'synthesize_parent', exit_code: 0, success: true, chunk_id: null },
      ],
    },
  },
  quality_comparison: { vanilla_quality: { score: 1 }, rlm_quality: { score }, score_delta: 0, winner: 'tie' },
});
const own = { ...fixture(), fixture_id: 'f' };

describe('replay of a stored comparison', () => {
  verifies('rlm:score:replay', 'the committed run gives its stated figures again, without a model', {
    options: withData,
    run: () => {
      const replay = replayArtifact({
        artifact: recorded('rlm-long-context-truncation-v1.json'),
        fixture: recorded('long_context_truncation.json'),
      });
      assert.ok(replay.ok && replay.value.agrees);
      assert.deepEqual(replay.value.lines, [
        'benchmark: rlm-shared-truncation-comparison-v1',
        'fixture: rlm-long-context-truncation-v1',
        'hermes_subcalls: vanilla=1, rlm=5',
        'chunks: selected=4, omitted=2',
        'quality: vanilla=1.00, rlm=1.00, delta=+0.00, rlm_outperforms_vanilla=False',
        'claimed_omitted_fact_ids: vanilla=[], rlm=[]',
        'omitted_fact_safety_score: vanilla=1.00, rlm=1.00',
      ]);
    },
  });

  test('what was recorded wrongly is said to disagree', () => {
    const agrees = (score: number, parent?: unknown) => {
      const replay = replayArtifact({ artifact: artifact(score, parent), fixture: own });
      return replay.ok ? [replay.value.agrees, replay.value.lines[4]] : replay.reason;
    };
    const tie = 'quality: vanilla=1.00, rlm=1.00, delta=+0.00, rlm_outperforms_vanilla=False';
    assert.deepEqual(agrees(1), [true, tie]);
    assert.deepEqual(agrees(0.9), [false, tie]);
    const claims = { ...completion(), result: { ...completion().result, answer: 'F-20' } };
    assert.deepEqual(agrees(1, claims), [
      false,
      'quality: vanilla=1.00, rlm=0.84, delta=-0.16, rlm_outperforms_vanilla=False',
    ]);
  });

  test('another file or another fixture is refused', () => {
    const reason = (stored: unknown, asked: unknown = own) => {
      const replay = replayArtifact({ artifact: stored, fixture: asked });
      return replay.ok ? 'replayed' : replay.reason;
    };
    for (const other of [null, [], {}, 'x', { ...artifact(1), rlm_output: {} }, { ...artifact(1), fixture_id: 7 }])
      assert.equal(reason(other), 'not_an_artifact');
    assert.equal(reason(artifact(1), fixture()), 'other_fixture');
    assert.equal(reason(artifact(1), null), 'other_fixture');
  });
});
