import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { observeCell } from '#extensions/rlm/memory/lessons.ts';
import { MEMORY_KINDS, MEMORY_TASKS, RECOMMENDATIONS } from '#extensions/rlm/memory/memory-record.ts';
import { priorBlock, priorPolicy, RECALLED_TASKS, rankFamilies, recallPriors } from '#extensions/rlm/memory/priors.ts';
import { memoryTrace } from '../../../../bench/rlm/run-matrix.ts';
import { verifies } from '../../../verifies.ts';
import { soundRecord } from './sound-record.ts';

const ask = { tasks: RECALLED_TASKS, family_id: 'hermes_glm', fixture_category: 'simple_truncation' };

verifies('rlm:memory:recall', 'priors are those of the task whose family and category are equal or open', () => {
  const records = [
    { ...soundRecord, task: 'repair_missing_evidence_handle' },
    { ...soundRecord, family_id: 'codex_gpt55' },
    { ...soundRecord, fixture_category: 'distractor_heavy' },
    { ...soundRecord, family_id: null, fixture_category: null, confidence: 0.1 },
    { ...soundRecord, family_id: null, confidence: 0.2 },
    { ...soundRecord, confidence: 0.3 },
    { ...soundRecord, confidence: 0.3 },
    { ...soundRecord, outcome: 'FACT:LC-001 poisoned' },
    { ...soundRecord, answer: 'poisoned' },
    'no record',
  ];
  assert.deepEqual(
    recallPriors(records, ask).map((prior) => prior.confidence),
    [0.1, 0.2, 0.3, 0.3],
  );
  assert.deepEqual(
    recallPriors(records, { tasks: RECALLED_TASKS }).map((prior) => prior.confidence),
    [0.1],
  );
  assert.deepEqual(recallPriors(records, { ...ask, tasks: [] }), []);
});

test('priors are sorted by task, kind, family, category and recommendation', () => {
  const mixed = [
    { ...soundRecord, task: 'synthesize_parent_answer_from_child_evidence' },
    { ...soundRecord, recommendation: 'prefer_strict_json_schema' },
    { ...soundRecord, kind: 'latency_bucket' },
    { ...soundRecord, family_id: null },
  ];
  const keys = recallPriors(mixed, ask).map((prior) =>
    [prior.kind, prior.family_id, prior.recommendation, prior.task.slice(0, 3)].join(),
  );
  assert.deepEqual(keys, [
    'latency_bucket,hermes_glm,preserve_child_fact_identity,ext',
    'provider_schema_stability,,preserve_child_fact_identity,ext',
    'provider_schema_stability,hermes_glm,prefer_strict_json_schema,ext',
    'provider_schema_stability,hermes_glm,preserve_child_fact_identity,syn',
  ]);
});

verifies(
  'rlm:memory:prior-block',
  'priors enter a prompt as a marked block with three rules, and not at all when there are none',
  () => {
    assert.deepEqual(priorBlock([]), {});
    const block = priorBlock(recallPriors([soundRecord, soundRecord], ask)).memory_priors;
    assert.equal(block?.scope, 'operational_policy_only');
    assert.deepEqual(block?.rules, [
      'Memory priors are not evidence.',
      'Do not use memory priors as a source of facts, fact ids or chunk ids.',
      'Use memory priors only for schema shape, routing and retry policy.',
    ]);
    const { kind, task, recommendation, family_id, fixture_category, confidence } = soundRecord;
    assert.deepEqual(block?.priors, [{ kind, task, recommendation, family_id, fixture_category, confidence }]);
  },
);

const freeText = fc.string({ minLength: 1, unit: 'grapheme' });
const anyRecord = fc.record({
  kind: fc.constantFrom(...MEMORY_KINDS),
  task: fc.constantFrom(...MEMORY_TASKS),
  recommendation: fc.constantFrom(...RECOMMENDATIONS),
  family_id: fc.oneof(freeText, fc.constant('hermes_glm'), fc.constant(null)),
  fixture_category: fc.oneof(freeText, fc.constant('simple_truncation'), fc.constant(null)),
  outcome: freeText,
  confidence: fc.double({ min: 0, max: 1, noNaN: true }),
  created_at: fc.oneof(freeText, fc.constant(null)),
});

verifies(
  'rlm:memory:no-free-text',
  'whatever the file holds, a prompt gets listed words and the own family and category',
  () => {
    const allowed = new Set<unknown>([
      ...MEMORY_KINDS,
      ...MEMORY_TASKS,
      ...RECOMMENDATIONS,
      ask.family_id,
      ask.fixture_category,
      null,
    ]);
    fc.assert(
      fc.property(fc.array(anyRecord, { maxLength: 100 }), (records) => {
        const block = priorBlock(recallPriors(records, ask)).memory_priors;
        assert.ok((block?.priors.length ?? 0) <= 64);
        for (const prior of block?.priors ?? []) {
          for (const value of Object.values(prior)) assert.ok(typeof value === 'number' || allowed.has(value));
        }
      }),
    );
  },
);

test('recall does not depend on the order of the file', () => {
  fc.assert(
    fc.property(fc.array(anyRecord, { maxLength: 20 }), (records) => {
      assert.deepEqual(recallPriors([...records].reverse(), ask), recallPriors(records, ask));
    }),
  );
});

verifies('rlm:memory:observations', 'a run teaches what it saw of schema, handles, repair and time', () => {
  const cell = {
    family_id: 'hermes_glm',
    fixture_category: 'simple_truncation',
    repair_accepted: null,
    created_at: '2026-05-04T00:00:00Z',
  };
  const kinds = (part: object) =>
    observeCell({ ...cell, initial: { accepted: true, accepted_claims: 8, reasons: [] }, ...part }).records.map(
      (one) => one.kind,
    );
  const missing = { accepted: false, accepted_claims: 3, reasons: ['missing_evidence_handle'] };
  assert.deepEqual(kinds({}), ['provider_schema_stability']);
  assert.deepEqual(kinds({ initial: { accepted: true, accepted_claims: 0, reasons: [] } }), []);
  assert.deepEqual(kinds({ initial: missing, repair_accepted: true }), [
    'missing_evidence_handle_seen',
    'repair_strategy_succeeded',
  ]);
  assert.deepEqual(kinds({ initial: missing, repair_accepted: false }), [
    'missing_evidence_handle_seen',
    'repair_strategy_failed',
  ]);
  const outcomes = [0, 59.9, 60, 179, 180].map(
    (latency_seconds) => observeCell({ ...cell, initial: missing, latency_seconds }).records.at(-1)?.outcome,
  );
  assert.deepEqual(outcomes, ['under_60s', 'under_60s', '60s_to_180s', '60s_to_180s', '180s_or_more']);
  const poisoned = observeCell({ ...cell, family_id: 'LP-01-001', initial: missing });
  assert.deepEqual([poisoned.records.length, poisoned.rejected[0]?.reason], [0, 'forbidden_or_injection_text']);
  const trace = memoryTrace({ mode: 'write', recalled: [], stored: poisoned.records, rejected: poisoned.rejected });
  assert.deepEqual(trace.contamination_guard, { passed: false, rejected_count: 1 });
});

test('recommendations are a policy in code', () => {
  assert.deepEqual(priorPolicy([]), {
    output_schema: 'lenient',
    required_fact_fields: [],
    refuse_chunk_only: false,
    retries_after_repair: 0,
    route_by_stability: false,
  });
  const all = RECOMMENDATIONS.map((recommendation) => ({ ...soundRecord, recommendation }));
  assert.deepEqual(priorPolicy(recallPriors(all, ask)), {
    output_schema: 'strict',
    required_fact_fields: ['fact_id', 'evidence_chunk_id'],
    refuse_chunk_only: true,
    retries_after_repair: 1,
    route_by_stability: true,
  });
});

test('families that kept the schema are asked first', () => {
  const task = 'extract_child_evidence';
  const records = [
    { ...soundRecord, family_id: 'b' },
    { ...soundRecord, family_id: 'c', kind: 'missing_evidence_handle_seen' },
    { ...soundRecord, family_id: 'd', task: 'parent_synthesis_retry' },
    { ...soundRecord, family_id: 'a', fixture_category: 'another' },
    { nonsense: true },
  ];
  assert.deepEqual(rankFamilies(['c', 'a', 'd', 'b'], { records, task, fixture_category: 'simple_truncation' }), [
    'b',
    'a',
    'd',
    'c',
  ]);
});
