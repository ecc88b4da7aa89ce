import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildManifest } from '#extensions/rlm/guard/manifest.ts';
import {
  type RepairBlock,
  type Repaired,
  type RepairInput,
  repairMissingHandles,
} from '#extensions/rlm/guard/repair-missing-handles.ts';
import { verifies } from '../../../verifies.ts';
import { readPortability, withRuns } from '../guard/recorded-runs.ts';

const manifest = buildManifest({
  entries: [
    { fact_id: 'F1', chunk_id: 'a:1-2', text: 'one' },
    { fact_id: 'F2', chunk_id: 'a:3-4', text: 'two' },
    { fact_id: 'F3', chunk_id: 'a:3-4', text: 'three' },
  ],
});
const child = (fact_id: string, chunk: string): object => ({
  call_id: `call ${fact_id}`,
  chunk_id: chunk,
  output: { observed_facts: [{ fact_id, text: 'seen', evidence_chunk_id: chunk }], residual_gaps: [] },
});
const childRecords = [child('F1', 'a:1-2'), child('F2', 'a:3-4'), child('F3', 'a:3-4')];
const repair = (synthesis: unknown, more: Partial<RepairInput> = {}): Repaired =>
  repairMissingHandles({ manifest, synthesis, childRecords, ...more });
const facts = (...items: readonly object[]): object => ({
  result: { summary: 's', retained_facts: items },
  residual_gaps: [],
});
const whole = { fact_id: 'F1', text: 'one', evidence_chunk_id: 'a:1-2' };

/** The fields that say what was decided. */
function decided({ repair: block }: Repaired): readonly unknown[] {
  return [block.repair_strategy, block.repair_attempted, block.failure_reason];
}

describe('repair of missing handles', () => {
  verifies(
    ['rlm:repair:fields-only', 'rlm:repair:validated-again'],
    'fills what is absent or null, in a copy, and changes nothing else',
    () => {
      const given = {
        evidence_references: { supports_fact_ids: ['F2', 'F3'], chunk_id: null, extra: { deep: [1] } },
        verdict: 'pass',
        result: {
          observed_facts: [7, { text: 'three', fact_id: 'F3' }, whole],
          fact_id: 'F1',
          evidence_chunk_id: null,
          summary: 's',
        },
      };
      const before = structuredClone(given);
      const { synthesis, repair: block } = repair(given);
      assert.deepEqual(given, before);
      const expected = {
        evidence_references: { ...given.evidence_references, evidence_chunk_id: 'a:3-4' },
        verdict: 'pass',
        result: {
          observed_facts: [7, { text: 'three', fact_id: 'F3', evidence_chunk_id: 'a:3-4' }, whole],
          fact_id: 'F1',
          evidence_chunk_id: 'a:1-2',
          summary: 's',
        },
      };
      assert.equal(JSON.stringify(synthesis), JSON.stringify(expected));
      assert.deepEqual(block.before_after_diff, [
        { path: 'result.observed_facts[1].evidence_chunk_id', before: 'absent', after: 'a:3-4' },
        { path: 'result.evidence_chunk_id', before: 'null', after: 'a:1-2' },
        { path: 'evidence_references.evidence_chunk_id', before: 'absent', after: 'a:3-4' },
      ]);
      assert.deepEqual([block.after_validation?.accepted, block.after_validation?.accepted_claims.length], [true, 5]);
    },
  );

  verifies('rlm:repair:missing-only', 'nothing to do, or nothing that it may do', () => {
    const outcomes: readonly (readonly [unknown, readonly unknown[]])[] = [
      [facts(whole), ['not_attempted_initial_traceguard_accept', false, null]],
      [{}, ['not_attempted_non_exclusive_traceguard_rejection', false, 'no_claims']],
      [null, ['not_attempted_non_exclusive_traceguard_rejection', false, 'no_claims']],
      [facts({ fact_id: 'F9' }), ['not_attempted_non_exclusive_traceguard_rejection', false, 'unsupported_fact_id']],
      [
        facts({ ...whole, evidence_chunk_id: 'a:3-4' }),
        ['not_attempted_non_exclusive_traceguard_rejection', false, 'evidence_handle_mismatch'],
      ],
      [facts({ fact_ids: ['F1', 'F2'] }), unresolved],
    ];
    for (const [given, expected] of outcomes) {
      const done = repair(given);
      assert.deepEqual(decided(done), expected, JSON.stringify(given));
      assert.equal(done.synthesis, given);
      assert.deepEqual([done.repair.after_validation, done.repair.before_after_diff], [null, []]);
    }
  });

  verifies('rlm:repair:mixed-refused', 'one refusal of another kind and nothing is repaired', () => {
    for (const other of [{ fact_id: 'F9' }, { chunk_id: 'a:1-2' }, { ...whole, text: 'lie' }, 'a lie']) {
      const done = repair({ result: { facts: [{ fact_id: 'F1', text: 'one' }, other] } });
      assert.deepEqual(decided(done), [
        'not_attempted_non_exclusive_traceguard_rejection',
        false,
        'mixed_traceguard_rejection_reasons',
      ]);
    }
  });

  verifies('rlm:repair:from-children', 'a handle that no child of this run reported stays missing', () => {
    const given = facts({ fact_id: 'F1', text: 'one' });
    for (const records of [
      [child('F2', 'a:1-2'), child('F3', 'a:3-4')],
      [child('F1', 'a:3-4'), { chunk_id: 'a:1-2', output: '{"observed_facts":' }],
    ])
      assert.deepEqual(decided(repair(given, { childRecords: records })), unresolved);
    const uncovered = ['not_attempted_non_repairable_traceguard_rejection', false, 'selected_chunk_coverage_failed'];
    for (const records of [[], [child('F1', 'a:1-2')], [null, 'x', { output: '{"observed_facts":' }]])
      assert.deepEqual(decided(repair(given, { childRecords: records })), uncovered);
    const spoken = [
      [{ output: '```json\n{"observed_facts":[{"fact_id":"F1","evidence_chunk_id":"a:1-2"}]}\n```' }],
      [{ completion: '{"result":{"retained_facts":[{"fact_id":"F1","evidence_chunk_id":"a:1-2"}]}}' }],
      [{ evidence_references: [{ supports_fact_ids: ['F1'], chunk_id: 'a:1-2' }] }],
      [{ fact_id: 'F1', chunk_id: 'a:1-2', text: 'one' }],
      [{ observed_facts: { fact_id: 'F1', evidence_chunk_id: 'a:1-2' } }],
    ];
    for (const [answer] of spoken) {
      const records = [answer, child('F2', 'a:3-4')];
      assert.equal(repair(given, { childRecords: records }).repair.repair_accept, true);
    }
    const twoChunks = { entries: [...manifest.entries, { fact_id: 'F1', chunk_id: 'b:1-1', text: 'one' }] };
    const both = [...childRecords, child('F1', 'b:1-1')];
    assert.deepEqual(decided(repair(given, { manifest: twoChunks, childRecords: both })), unresolved);
    const half = { manifest: twoChunks, childRecords: [...childRecords, { chunk_id: 'b:1-1', output: '{}' }] };
    assert.equal(repair(given, half).repair.repair_accept, true);
    const later = repair(given, { manifest: twoChunks, childRecords: both, mode: 'v1' });
    assert.deepEqual(later.repair.allowed_evidence_handle_set, ['b:1-1']);
  });

  verifies('rlm:repair:empty-string', 'an empty or wrong handle is an answer', () => {
    for (const wrong of ['', 7, [], {}]) {
      assert.deepEqual(decided(repair(facts({ fact_id: 'F1', text: 'one', evidence_chunk_id: wrong }))), unresolved);
      // Only this field is the handle that is filled in.
      assert.equal(repair(facts({ fact_id: 'F1', text: 'one', chunk_id: wrong })).repair.repair_accept, true);
    }
  });

  verifies('rlm:repair:once', 'one attempt, and the repaired parent is not repaired again', () => {
    const given = facts({ fact_id: 'F1', text: 'one' });
    const first = repair(given);
    assert.equal(first.repair.subsequent_repair_skip_reason, 'one_repair_attempt_per_synthesis');
    const second = repair(first.synthesis);
    assert.equal(second.synthesis, first.synthesis);
    assert.deepEqual(decided(second), ['not_attempted_initial_traceguard_accept', false, null]);
    const again = repair(given, { attempted: true });
    assert.deepEqual(decided(again), [
      'not_attempted_non_repairable_traceguard_rejection',
      false,
      'repair_already_attempted',
    ]);
    const lie = repair(facts({ fact_id: 'F1', text: 'a lie' }));
    assert.deepEqual(decided(lie), ['patch_missing_evidence_handle_fields', true, 'traceguard_repair_rejected']);
    assert.deepEqual(lie.synthesis, facts({ fact_id: 'F1', text: 'a lie' }));
  });

  test('a chunk that was selected and has no child record stops repair', () => {
    const given = facts({ fact_id: 'F1', text: 'one' });
    assert.equal(repair(given, { selectedChunkIds: ['a:1-2', 'a:3-4'] }).repair.repair_accept, true);
    const missed = repair(given, { selectedChunkIds: ['a:1-2', 'a:9-9'] });
    assert.deepEqual(decided(missed), [
      'not_attempted_non_repairable_traceguard_rejection',
      false,
      'selected_chunk_coverage_failed',
    ]);
  });

  verifies('rlm:repair:recorded', 'every field of the block', () => {
    const block = repair(facts({ fact_id: 'F1', text: 'one' }, { fact_id: 'F2', evidence_chunk_id: null })).repair;
    const { before_validation, after_validation, before_after_diff, ...rest } = block;
    assert.deepEqual(
      [before_validation.accepted, after_validation?.accepted, before_after_diff.length],
      [false, true, 2],
    );
    assert.deepEqual(rest, {
      failure_reason: null,
      initial_accept: false,
      repair_eligible: true,
      repair_attempted: true,
      initial_failure_reason: 'missing_evidence_handle',
      repair_strategy: 'patch_missing_evidence_handle_fields',
      repair_accept: true,
      repair_failure_reason: null,
      repair_runtime_error: null,
      patch_fidelity_errors: [],
      parent_synthesis_retry_attempted: false,
      parent_synthesis_retry_accept: null,
      parent_synthesis_retry_failure_reason: null,
      parent_synthesis_retry_runtime_error: null,
      parent_synthesis_retry_validation: null,
      parent_synthesis_retry_patch_fidelity_errors: [],
      subsequent_repair_attempted: false,
      subsequent_repair_skip_reason: 'one_repair_attempt_per_synthesis',
      initial_rejection_reasons: ['missing_evidence_handle', 'missing_evidence_handle'],
      initial_rejection_exclusive_missing_evidence_handle: true,
      initial_rejection_exclusive_repairable_missing_evidence_handle: true,
      missing_evidence_handle_resolution_pass: true,
      missing_evidence_handle_references: [
        {
          fact_ids: ['F1'],
          surface: 'result.retained_facts',
          text: 'one',
          path: 'result.retained_facts[0].evidence_chunk_id',
          allowed_evidence_chunk_id: 'a:1-2',
        },
        {
          fact_ids: ['F2'],
          surface: 'result.retained_facts',
          text: '',
          path: 'result.retained_facts[1].evidence_chunk_id',
          allowed_evidence_chunk_id: 'a:3-4',
        },
      ],
      allowed_evidence_handle_set: ['a:1-2', 'a:3-4'],
    } satisfies Omit<RepairBlock, 'before_validation' | 'after_validation' | 'before_after_diff'>);
  });

  test('the repairable parent of the recorded fixtures becomes its safe parent', withRuns, () => {
    const fixtures = readPortability().fixtures.filter(
      (one) => one.repairable_missing_handle_parent_synthesis !== undefined,
    );
    assert.equal(fixtures.length, 1);
    for (const fixture of fixtures) {
      const built = buildManifest(fixture);
      const records = built.entries.map(({ fact_id, chunk_id }) => child(fact_id, chunk_id));
      const synthesis = fixture.repairable_missing_handle_parent_synthesis;
      for (const mode of ['v1', 'strict'] as const) {
        const done = repairMissingHandles({ manifest: built, synthesis, childRecords: records, mode });
        assert.deepEqual(done.synthesis, fixture.safe_parent_synthesis);
      }
    }
  });
});

const unresolved = ['not_attempted_non_repairable_traceguard_rejection', false, 'missing_evidence_handle_unresolved'];
