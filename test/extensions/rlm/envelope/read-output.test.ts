import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import fc from 'fast-check';
import { CALL_MODES } from '#extensions/rlm/envelope/call-mode.ts';
import type { HermesOutput } from '#extensions/rlm/envelope/output-schema.ts';
import { type ReadReply, readOutput, readReply } from '#extensions/rlm/envelope/read-output.ts';
import { verifies } from '../../../verifies.ts';
import { artifacts, asked, input, output } from './envelope-samples.ts';

const codes = (read: ReadReply) => (read.ok ? ['ok'] : read.problems.map(({ code, path }) => `${code} ${path}`));
const strict = (value: unknown, mode = asked.mode) => codes(readOutput(value, { ...asked, mode }, 'strict'));
const lenient = (value: unknown) => readOutput(value, asked, 'lenient');

verifies('rlm:envelope:output', 'a whole reply of each mode passes strictly and leniently, unchanged', () => {
  for (const mode of CALL_MODES) {
    for (const level of ['strict', 'lenient'] as const) {
      const read = readReply(JSON.stringify(output(mode)), { ...asked, mode }, { level });
      assert.deepEqual(read.ok ? [read.value, read.notes] : read.problems, [output(mode), []]);
    }
  }
});

verifies(['rlm:envelope:output', 'rlm:run:inner-bounded'], 'every fault of a reply has its code', () => {
  const whole = output();
  const reference = whole.evidence_references[0]!;
  const cases: readonly (readonly [Partial<Record<keyof HermesOutput | 'extra', unknown>>, string])[] = [
    [{ schema_version: 'v2' }, 'schema_version_mismatch schema_version'],
    [{ mode: 'summarize_chunk', artifacts: [artifacts.summarize_chunk] }, 'mode_mismatch mode'],
    [{ rlm_node_id: 'other' }, 'node_id_mismatch rlm_node_id'],
    [{ ac_node_id: 'other' }, 'node_id_mismatch ac_node_id'],
    [{ verdict: 'completed' }, 'verdict_not_allowed verdict'],
    [{ verdict: 'atomic' }, 'verdict_not_allowed verdict'],
    [{ confidence: 1.2 }, 'confidence_out_of_range confidence'],
    [{ confidence: '0.9' }, 'field_type confidence'],
    [{ confidence: undefined }, 'missing_field confidence'],
    [{ extra: 1 }, 'field_not_allowed extra'],
    [
      { evidence_references: [{ ...reference, chunk_id: 'b.txt:1-2' }] },
      'evidence_outside_context evidence_references.0.chunk_id',
    ],
    [{ evidence_references: [{ ...reference, start_line: 3 }] }, 'out_of_range evidence_references.0.end_line'],
    [{ evidence_references: [{ ...reference, chunk_id: '' }] }, 'out_of_range evidence_references.0.chunk_id'],
    [{ residual_gaps: [{ gap: 'g', impact: '', suggested_next_step: '' }] }, 'gaps_with_final_verdict residual_gaps'],
    [{ artifacts: [] }, 'artifact_missing artifacts'],
    [{ artifacts: [artifacts.execute_atomic, artifacts.execute_atomic] }, 'artifact_not_allowed artifacts'],
    [{ artifacts: [artifacts.execute_atomic, artifacts.summarize_chunk] }, 'artifact_not_allowed artifacts.1'],
    [
      { artifacts: [{ ...artifacts.execute_atomic, claims: [{ text: 'x' }] }] },
      'evidence_outside_context artifacts.0.claims.0',
    ],
    [{ control: { ...whole.control, suggested_next_mode: 'sleep' } }, 'value_not_allowed control.suggested_next_mode'],
  ];
  for (const [part, expected] of cases) assert.deepEqual(strict({ ...whole, ...part }), [expected]);
  assert.deepEqual(strict({ ...whole, verdict: 'failed', artifacts: [] }), ['ok']);
});

verifies(
  'rlm:envelope:output',
  'a decomposition is atomic with its reason, or two to five children that rest on earlier ones',
  () => {
    const whole = output('decompose_ac');
    const { proposed_child_acs: children } = artifacts.decompose_ac;
    const child = children[0]!;
    const decomposed = (artifact: object, verdict = 'decomposed') =>
      strict(
        {
          ...whole,
          verdict,
          artifacts: [{ type: 'decomposition', is_atomic: false, proposed_child_acs: children, ...artifact }],
        },
        'decompose_ac',
      );
    const at = 'artifacts.0.proposed_child_acs';
    assert.deepEqual(decomposed({}), ['ok']);
    assert.deepEqual(decomposed({ proposed_child_acs: [child] }), [`insufficient_children ${at}`]);
    assert.deepEqual(decomposed({ proposed_child_acs: Array(6).fill(child) }), [`too_many_children ${at}`]);
    assert.deepEqual(decomposed({ proposed_child_acs: [{ ...child, depends_on: [0] }, child] }), [
      `depends_on_later_sibling ${at}.0.depends_on`,
    ]);
    assert.deepEqual(decomposed({ proposed_child_acs: [{ ...child, success_criteria: [] }, child] }), [
      `out_of_range ${at}.0.success_criteria`,
    ]);
    assert.deepEqual(decomposed({}, 'atomic'), ['decomposition_verdict_mismatch artifacts.0.is_atomic']);
    assert.deepEqual(decomposed({ is_atomic: true, atomic_rationale: 'small', proposed_child_acs: [] }, 'atomic'), [
      'ok',
    ]);
    assert.deepEqual(decomposed({ is_atomic: true, proposed_child_acs: [] }, 'atomic'), [
      'missing_field artifacts.0.atomic_rationale',
    ]);
  },
);

test('summaries and syntheses cite only what was supplied', () => {
  const summary = {
    ...output('summarize_chunk'),
    artifacts: [{ ...artifacts.summarize_chunk, source_chunk_ids: ['z:1-1'] }],
  };
  assert.deepEqual(strict(summary, 'summarize_chunk'), ['evidence_outside_context artifacts.0.source_chunk_ids']);
  const synthesis = {
    ...output('synthesize_parent'),
    artifacts: [{ ...artifacts.synthesize_parent, child_result_ids: ['x:child_result:000'] }],
  };
  assert.deepEqual(strict(synthesis, 'synthesize_parent'), ['child_outside_context artifacts.0.child_result_ids']);
});

verifies('rlm:envelope:lenient', 'six fields are enough leniently, and each liberty is a note', () => {
  const read = lenient({
    mode: 'execute_atomic',
    verdict: 'Completed',
    confidence: 1,
    result: { summary: 's', retained_facts: [{ fact_id: 'F1' }] },
    evidence_references: [
      { evidence_chunk_id: 'a.txt:1-2', quoted_evidence: 'q', line_range: '1' },
      { claim: 'no chunk' },
      'prose',
    ],
    residual_gaps: ['not read: the rest'],
    thoughts: 'long',
  });
  assert.ok(read.ok);
  assert.equal(read.value.verdict, 'passed');
  assert.deepEqual(read.value.result, { summary: 's', details: { retained_facts: [{ fact_id: 'F1' }] } });
  assert.deepEqual(read.value.evidence_references, [
    { chunk_id: 'a.txt:1-2', source_path: null, start_line: null, end_line: null, claim: 'q' },
  ]);
  assert.deepEqual(read.value.residual_gaps, [{ gap: 'not read: the rest', impact: '', suggested_next_step: '' }]);
  const notes = read.notes.map(({ code, path }) => `${code} ${path}`);
  for (const note of [
    'field_not_allowed thoughts',
    'missing_field schema_version',
    'missing_field evidence_references.1.chunk_id',
    'missing_field evidence_references.2.chunk_id',
    'gaps_with_final_verdict residual_gaps',
    'artifact_missing artifacts',
  ]) {
    assert.ok(notes.includes(note), note);
  }
});

verifies(
  'rlm:envelope:lenient',
  'leniently too nothing passes that lacks a contract field, is of another node or cites what was not supplied',
  () => {
    const whole = output();
    for (const field of ['mode', 'verdict', 'confidence', 'result', 'evidence_references', 'residual_gaps'] as const) {
      const { [field]: _, ...rest } = whole;
      assert.deepEqual(codes(lenient(rest)), [`missing_field ${field}`]);
    }
    assert.deepEqual(codes(lenient({ ...whole, rlm_node_id: 'other' })), ['node_id_mismatch rlm_node_id']);
    assert.deepEqual(codes(lenient({ ...whole, mode: 'summarize_chunk' }))[0], 'mode_mismatch mode');
    assert.deepEqual(codes(lenient({ ...whole, evidence_references: [{ chunk_id: 'b:1-1' }] })), [
      'evidence_outside_context evidence_references.0.chunk_id',
    ]);
    assert.deepEqual(codes(lenient({ ...whole, verdict: 'maybe' })), ['verdict_not_allowed verdict']);
  },
);

verifies('rlm:envelope:output', 'prose, fences, cut-off, echoed and huge replies have their reason', () => {
  const text = JSON.stringify(output());
  const both = (reply: string) =>
    (['strict', 'lenient'] as const).map((level) => {
      const read = readReply(reply, asked, { level });
      return read.ok ? 'ok' : `${read.reason} ${read.problems[0]?.code}`;
    });
  assert.deepEqual(both(text), ['ok', 'ok']);
  assert.deepEqual(both(`Here you are:\n\`\`\`json\n${text}\n\`\`\``), ['invalid_json not_an_object', 'ok']);
  const none = ['invalid_json not_an_object', 'invalid_json not_an_object'];
  for (const reply of ['', 'I cannot do that.', text.slice(0, -20)]) assert.deepEqual(both(reply), none);
  assert.deepEqual(both(JSON.stringify(input())), ['contract_error prompt_echo', 'contract_error prompt_echo']);
  assert.deepEqual(both('[1]'), ['contract_error not_an_object', 'contract_error not_an_object']);
  assert.deepEqual(both(`{"a":"${'x'.repeat(10_000_000)}"}`), [
    'contract_error reply_too_large',
    'contract_error reply_too_large',
  ]);
});

test('property: any value is answered, and what passes strictly passes leniently with the same value', () => {
  const damaged = fc.tuple(
    fc.constantFrom(...CALL_MODES),
    fc.dictionary(fc.constantFrom(...Object.keys(output())), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 3 }),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.jsonValue(),
        damaged.map(([mode, part]) => ({ ...output(mode), ...part })),
      ),
      (value) => {
        const [exact, soft] = (['strict', 'lenient'] as const).map((level) => readOutput(value, asked, level));
        if (exact?.ok) assert.deepEqual(soft?.ok ? soft.value : soft?.problems, exact.value);
        for (const read of [exact, soft]) if (read?.ok === false) assert.ok(read.problems.length > 0);
      },
    ),
  );
});

test('the committed live synthesis is read leniently', {
  skip: process.env.TALARIA_DATA === undefined ? 'skipped: set TALARIA_DATA' : false,
}, () => {
  const artifact = JSON.parse(
    readFileSync(join(process.env.TALARIA_DATA ?? '', 'data/rlm/rlm-long-context-truncation-v1.json'), 'utf8'),
  );
  const { final_message: reply } = artifact.rlm_output.atomic_execution;
  const read = readReply(
    reply,
    { ...asked, mode: 'synthesize_parent', evidence_ids: artifact.rlm_output.selected_chunk_ids },
    { level: 'lenient' },
  );
  assert.ok(read.ok, JSON.stringify(codes(read)));
  assert.deepEqual(
    [read.value.verdict, read.value.confidence, read.value.evidence_references.length],
    ['passed', 0.97, 8],
  );
  assert.equal(readReply(reply, { ...asked, mode: 'synthesize_parent' }, { level: 'strict' }).ok, false);
});
