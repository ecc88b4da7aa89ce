import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import fc from 'fast-check';
import { CALL_MODES } from '#extensions/rlm/scaffold/envelope.ts';
import { readReply } from '#extensions/rlm/scaffold/read-reply.ts';
import { verifies } from '../../../verifies.ts';
import { ARTIFACTS, asked, input, output } from './envelope-samples.ts';

const read = (value: unknown, mode = asked.mode) => readReply(JSON.stringify(value), { ...asked, mode });

/** Problems of a refused reply, liberties of another. */
const codes = (value: unknown, mode = asked.mode) => {
  const reply = read(value, mode);
  return (reply.ok ? reply.notes : reply.problems).map(({ code, path }) => `${code} ${path}`);
};

verifies('rlm:envelope:output', 'a whole reply of each mode passes, without a liberty', () => {
  for (const mode of CALL_MODES) {
    const whole = read(output(mode), mode);
    assert.deepEqual(whole.ok ? [whole.raw, whole.notes] : whole.problems, [output(mode), []]);
  }
});

verifies(['rlm:envelope:output', 'rlm:run:inner-bounded'], 'every fault of a reply has its code', () => {
  const whole = output();
  const cases: readonly (readonly [object, string])[] = [
    [{ schema_version: 'v2' }, 'schema_version_mismatch schema_version'],
    [{ mode: 'summarize_chunk' }, 'mode_mismatch mode'],
    [{ mode: 'think' }, 'mode_not_allowed mode'],
    [{ rlm_node_id: 'other' }, 'node_id_mismatch rlm_node_id'],
    [{ ac_node_id: 'other' }, 'node_id_mismatch ac_node_id'],
    [{ verdict: 'maybe' }, 'verdict_not_allowed verdict'],
    [{ verdict: 'atomic' }, 'verdict_not_allowed verdict'],
    [{ confidence: 1.2 }, 'confidence_out_of_range confidence'],
    [{ confidence: '0.9' }, 'field_type confidence'],
    [{ result: 7 }, 'field_type result'],
    [{ evidence_references: [{ chunk_id: 'b.txt:1-2' }] }, 'evidence_outside_context evidence_references.0.chunk_id'],
    ...['mode', 'verdict', 'confidence', 'result', 'evidence_references', 'residual_gaps'].map(
      (field) => [{ [field]: undefined }, `missing_field ${field}`] as const,
    ),
  ];
  for (const [part, expected] of cases) {
    assert.equal(read({ ...whole, ...part }).ok, false);
    assert.deepEqual(codes({ ...whole, ...part }), [expected]);
  }
});

verifies('rlm:envelope:lenient', 'six fields are enough, and each liberty is a note', () => {
  const reply = read({
    mode: 'execute_atomic',
    verdict: 'Completed',
    confidence: 1,
    result: { summary: 's', retained_facts: [{ fact_id: 'F1' }] },
    evidence_references: [{ evidence_chunk_id: 'a.txt:1-2', quoted_evidence: 'q' }, { claim: 'no chunk' }, 'prose'],
    residual_gaps: ['not read: the rest', { text: 'nor that', impact: 'small' }],
    thoughts: 'long',
  });
  assert.ok(reply.ok);
  const { verdict, result, residual_gaps, control } = reply.value;
  assert.deepEqual([verdict, result.summary, control.requires_retry], ['passed', 's', false]);
  assert.deepEqual(residual_gaps, [
    { gap: 'not read: the rest', impact: '', suggested_next_step: '' },
    { gap: 'nor that', impact: 'small', suggested_next_step: '' },
  ]);
  assert.deepEqual(
    reply.notes.map(({ code, path }) => `${code} ${path}`),
    [
      'field_not_allowed thoughts',
      ...['schema_version', 'rlm_node_id', 'ac_node_id', 'artifacts', 'control'].map((key) => `missing_field ${key}`),
      'missing_field evidence_references.1.chunk_id',
      'missing_field evidence_references.2.chunk_id',
      'gaps_with_final_verdict residual_gaps',
      'artifact_missing artifacts',
    ],
  );
  assert.deepEqual(codes({ ...output(), verdict: 'failed', artifacts: [] }), []);
  assert.deepEqual(codes({ ...output(), artifacts: [ARTIFACTS.summarize_chunk] }), ['artifact_missing artifacts']);
  assert.deepEqual(codes({ ...output(), result: 'short' }), []);
});

verifies('rlm:envelope:output', 'prose, fences, cut-off, echoed and huge replies have their reason', () => {
  const text = JSON.stringify(output());
  const reasons: readonly (readonly [reply: string, reason: string])[] = [
    [text, 'ok'],
    [`Here you are:\n\`\`\`json\n${text}\n\`\`\``, 'ok'],
    ['', 'invalid_json not_an_object'],
    ['I cannot do that.', 'invalid_json not_an_object'],
    [text.slice(0, -20), 'invalid_json not_an_object'],
    [JSON.stringify(input()), 'contract_error prompt_echo'],
    ['[1]', 'contract_error not_an_object'],
    [`{"a":"${'x'.repeat(10_000_000)}"}`, 'contract_error reply_too_large'],
  ];
  for (const [reply, reason] of reasons) {
    const found = readReply(reply, asked);
    assert.equal(found.ok ? 'ok' : `${found.reason} ${found.problems[0]?.code}`, reason);
  }
});

test('property: any value is answered', () => {
  const damaged = fc
    .dictionary(fc.constantFrom(...Object.keys(output())), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 3 })
    .map((part) => ({ ...output(), ...part }));
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), damaged), (value) => {
      const found = read(value);
      assert.ok(found.ok || found.problems.length > 0);
    }),
  );
});

test('the committed live synthesis is read', {
  skip: process.env.TALARIA_DATA === undefined ? 'skipped: set TALARIA_DATA' : false,
}, () => {
  const artifact = JSON.parse(
    readFileSync(join(process.env.TALARIA_DATA ?? '', 'data/rlm/rlm-long-context-truncation-v1.json'), 'utf8'),
  );
  const { final_message: reply } = artifact.rlm_output.atomic_execution;
  const evidence_ids = artifact.rlm_output.selected_chunk_ids;
  const found = readReply(reply, { ...asked, mode: 'synthesize_parent', evidence_ids });
  assert.ok(found.ok);
  const { verdict, confidence, evidence_references } = found.value;
  const left = found.notes.filter(({ path }) => path.startsWith('evidence_references.'));
  assert.deepEqual([verdict, confidence, evidence_references.length - left.length], ['passed', 0.97, 8]);
});
