// The original's judgement, edge by edge, holes included (notes 6.2). The expectations are written by hand from the rules.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CompletionScore, scoreCompletion } from '#extensions/rlm/guard/score-completion.ts';
import { verifies } from '../../../verifies.ts';
import { completion, factEntry, fixture, reference } from './sample.ts';

const score = (value: unknown, asked: unknown = fixture()): CompletionScore =>
  scoreCompletion({ fixture: asked, completion: value, version: 'v1' });

describe('score v1', () => {
  verifies(
    'rlm:score:fields',
    'a field counts when its key is there, null included; six are asked for by default',
    () => {
      const whole = score(completion());
      assert.deepEqual([whole.score, whole.required_field_score, whole.required_fields_missing], [1, 1, []]);
      const { verdict: _, ...rest } = completion();
      assert.deepEqual(score(rest).required_fields_missing, ['verdict']);
      assert.equal(score(rest).required_field_score, 0.8333);
      assert.equal(score({ ...rest, verdict: null }).required_field_score, 1);
      assert.equal(score({}, { completion_requirements: [] }).required_fields_missing.length, 6);
      const own = {
        completion_requirements: [{ required_output_fields: ['a', 'b', 'a', 7] }, { required_output_fields: ['c'] }],
      };
      assert.deepEqual(score({ a: 1, c: null }, own).required_fields_present, ['a', 'c']);
      assert.equal(score({ a: 1, c: null }, own).required_field_score, 0.6667);
      assert.equal(
        score({ toString: 1 }, { completion_requirements: [{ required_output_fields: ['valueOf'] }] })
          .required_field_score,
        0,
      );
    },
  );

  verifies('rlm:score:confidence', 'confidence is measured against the strongest minimum', () => {
    const share = (confidence: unknown, minimums: readonly unknown[] = [0.8]): number =>
      score({ confidence }, { completion_requirements: minimums.map((minimum_confidence) => ({ minimum_confidence })) })
        .confidence_score;
    assert.equal(share(0.4), 0.5);
    assert.equal(share(0.93), 1);
    assert.equal(share(0.1), 0.125);
    assert.equal(share(0.55), 0.6875);
    assert.equal(share(0.7, [0.5, 0.9, 0.6]), 0.7778);
    for (const none of [undefined, null, '0.9', true, [0.9], {}]) assert.equal(share(none), 0);
    assert.equal(share(-0.5), 0);
    assert.equal(share(95), 1);
    assert.equal(share(0, []), 1);
    assert.equal(share(0, [0, -1]), 1);
    assert.equal(share(undefined, []), 0);
    assert.equal(share(0.4, ['0.9', true, 0.8]), 0.5);
    assert.deepEqual([score({ confidence: 95 }).confidence, score({ confidence: '1' }).confidence], [95, null]);
  });

  verifies('rlm:score:retained', 'a fact is supported by its id, or by its words, on an entry with its chunk', () => {
    const kept = (entry: Record<string, unknown>, key = 'observed_facts'): readonly string[] =>
      score({ result: { [key]: [entry] } }).cited_retained_fact_ids;
    for (const key of ['retained_facts', 'observed_facts', 'facts', 'retained_evidence', 'observed_evidence'])
      assert.deepEqual(kept({ fact_id: 'F-1', chunk_id: 't.txt:1-1' }, key), ['F-1'], key);
    assert.deepEqual(kept({ fact_id: 'F-1', chunk_id: 't.txt:1-1' }, 'claims'), []);
    assert.deepEqual(kept({ fact_id: 'F-1', chunk_id: 't.txt:2-2' }), []);
    assert.deepEqual(kept({ fact_id: 'F-1' }), []);
    assert.deepEqual(kept({ fact_id: 'f-1', chunk_id: 't.txt:1-1' }), []);
    assert.deepEqual(kept({ fact_id: 1, fact_ids: ['F-1', 2], evidence_chunk_id: 't.txt:1-1' }), ['F-1']);
    assert.deepEqual(kept({ supports_fact_id: 'F-1', chunk_id: '', source_chunk_id: 't.txt:1-1' }), ['F-1']);
    assert.deepEqual(kept({ chunk_id: 't.txt:1-1', text: 'as F-1 says' }), ['F-1']);
    assert.deepEqual(kept({ chunk_id: 't.txt:1-1', text: 'as f-1 says' }), []);
    assert.deepEqual(kept({ chunk_id: 't.txt:1-1', claim: ' fact:f-1  THE door\u00a0is\nred. ' }), ['F-1']);
    assert.deepEqual(kept({ chunk_id: 't.txt:1-1', text: 'the door is red.' }), []);
    assert.deepEqual(kept({ chunk_id: 't.txt:1-1', text: 'F-1', summary: 'Not\tObserved elsewhere' }), []);
    assert.deepEqual(kept({ chunk_id: 't.txt:1-1', fact_id: 'F-1', summary: 'not observed' }), ['F-1']);
    assert.deepEqual(score({ result: { facts: { fact_id: 'F-1', chunk_id: 't.txt:1-1' } } }).cited_retained_fact_ids, [
      'F-1',
    ]);
    assert.deepEqual(score({ result: { fact_id: 'F-1', chunk_id: 't.txt:1-1' } }).cited_retained_fact_ids, ['F-1']);
    assert.deepEqual(score({ result: { text: 'F-1', chunk_id: 't.txt:1-1' } }).cited_retained_fact_ids, []);
    assert.deepEqual(
      score({ result: 'F-1', evidence_references: { chunk_id: 't.txt:2-2', claim: 'F-2' } }).cited_retained_fact_ids,
      ['F-2'],
    );
  });

  verifies('rlm:score:boundary', 'a marker and both numbers anywhere in the printed completion are a report', () => {
    const reports = (value: unknown): boolean => score(value).reports_truncation_boundary;
    assert.equal(reports({ truncation_boundary: [2, 3] }), true);
    assert.equal(reports({ a: 'omitted line', b: 't.txt:2-2', c: 0.3 }), true);
    assert.equal(reports({ a: 'truncation boundary', b: 2 }), false);
    assert.equal(reports({ truncation_report: [2, 3] }), false);
    assert.equal(reports({ a: 'Omitted Line', b: 23 }), false);
    assert.equal(reports({ last_retained_line: 23 }), true);
    assert.equal(reports({ a: 'last retained line', b: 'é', c: 3 }), false, 'é is \\u00e9');
    assert.equal(reports({ a: 'last retained line', b: '—', c: 3 }), true, '— is \\u2014');
    assert.equal(reports({ a: 'last retained line', b: '\u007f', c: 3 }), false);
    assert.equal(reports({ a: 'truncation boundary' }), false);
    assert.equal(score({ a: 'truncation boundary' }, {}).reports_truncation_boundary, true);
  });

  verifies(
    'rlm:score:omitted-safety',
    'one omitted fact claimed or one omitted chunk cited takes the whole part',
    () => {
      const safety = (value: unknown): readonly unknown[] => {
        const {
          omitted_fact_safety_score: part,
          claimed_omitted_fact_ids: claimed,
          cited_omitted_chunk_ids: cited,
        } = score(value);
        return [part, claimed, cited];
      };
      assert.deepEqual(safety({}), [1, [], []]);
      assert.deepEqual(safety({ result: { facts: [{ fact_id: 'F-10' }] } }), [0, ['F-10'], []]);
      assert.deepEqual(safety({ result: { facts: [{ fact_id: 'F-10', text: 'cannot be claimed' }] } }), [
        0,
        ['F-10'],
        [],
      ]);
      assert.deepEqual(safety({ result: { facts: [{ text: 'F-10' }] } }), [0, ['F-10'], []]);
      assert.deepEqual(safety({ result: { facts: [{ evidence_chunk_id: 't.txt:3-5' }] } }), [1, [], []]);
      assert.deepEqual(safety({ evidence_references: [{ evidence_chunk_id: 't.txt:3-5' }] }), [0, [], ['t.txt:3-5']]);
      assert.deepEqual(safety({ evidence_references: [{ chunk_id: 't.txt:1-1', source_chunk_id: 't.txt:3-5' }] }), [
        1,
        [],
        [],
      ]);
      for (const key of ['summary', 'answer', 'final_answer'])
        assert.deepEqual(safety({ result: { [key]: 'and F-10 too' } }), [0, ['F-10'], []], key);
      assert.deepEqual(safety({ result: { summary: 'F-10 is not available', answer: 'F-10' } }), [0, ['F-10'], []]);
      for (const hidden of [
        { answer: 'F-10' },
        { result: { details: 'F-10' } },
        { residual_gaps: ['F-10'] },
        { result: ['F-10'] },
      ])
        assert.deepEqual(safety(hidden), [1, [], []]);
    },
  );

  verifies('rlm:score:guarded-mention', 'nineteen phrases guard a text as a whole, wherever they stand in it', () => {
    const claimed = (summary: string): readonly string[] => score({ result: { summary } }).claimed_omitted_fact_ids;
    const guards = [
      'cannot be claimed|cannot claim|not be claimed|not claimed|no facts from omitted|not available|not asserted',
      'not supplied|outside retained context|outside the retained context|outside supplied context',
      'outside the supplied context|omitted chunks were outside|if present|if any|not observed|not cited',
      'do not claim|does not claim',
    ].flatMap((line) => line.split('|'));
    assert.equal(guards.length, 19);
    for (const guard of guards) {
      assert.deepEqual(claimed(`F-10 holds. Other things: ${guard}.`), [], guard);
      assert.deepEqual(claimed(`${guard.toUpperCase().replace(' ', '  \n')} F-10`), [], guard);
    }
    for (const free of [
      'F-10 was omitted',
      'F-10 is not there',
      'F-10 cannot',
      'F-10 ifany',
      'F-10 outside of the retained context',
    ])
      assert.deepEqual(claimed(free), ['F-10'], free);
    assert.deepEqual(claimed('F-10 if anyone asks'), []);
  });

  test('an id is found as a part of another one: a hole that is kept', () => {
    const asked = {
      expected_omitted_facts: [
        { fact_id: 'A3', text: '' },
        { fact_id: 'A33', text: '' },
      ],
    };
    assert.deepEqual(score({ result: { answer: 'see A33' } }, asked).claimed_omitted_fact_ids, ['A3', 'A33']);
    assert.deepEqual(score({ result: { facts: [{ fact_id: 'A33' }] } }, asked).claimed_omitted_fact_ids, ['A33']);
  });

  verifies('rlm:score:not-json', 'what is no JSON object scores nothing and says why', () => {
    const fenced = `\`\`\`json\n${JSON.stringify(completion())}\n\`\`\``;
    for (const value of [
      '',
      '   ',
      'prose',
      fenced,
      '{"a": 1',
      '\ufeff{}',
      '[]',
      '[{}]',
      '"x"',
      'null',
      '7',
      [],
      null,
      7,
      undefined,
    ]) {
      const nothing = score(value);
      const { score: total, parse_error, confidence, missing_retained_fact_ids, required_fields_missing } = nothing;
      assert.deepEqual([total, confidence, missing_retained_fact_ids], [0, null, ['F-1', 'F-2']]);
      assert.equal(required_fields_missing.length, 6);
      assert.equal(nothing.omitted_fact_safety_score, 0);
      assert.equal(typeof parse_error, 'string');
    }
    assert.equal(score('{}').score, 0.2);
    assert.equal(score(` \n${JSON.stringify(completion())}\t`).score, 1);
    assert.equal(
      score(`{"a": ${'['.repeat(5000)}${']'.repeat(5000)}}`).parse_error,
      'completion is nested deeper than 500 levels',
    );
  });

  test('weights and their sum: published and hand-made totals', () => {
    const chunks = {
      ...completion(),
      result: {},
      evidence_references: [{ chunk_id: 't.txt:1-1', claim: 'read' }],
      residual_gaps: [],
    };
    assert.equal(score(chunks).score, 0.55);
    const half = { ...completion(), result: {}, evidence_references: [reference(1)], confidence: 0.4 };
    assert.equal(score(half).score, 0.65);
    const leaky = { ...half, evidence_references: [reference(1)], result: { summary: 'F-10' } };
    assert.equal(score(leaky).score, 0.45);
    const four = ['W', 'X', 'Y', 'Z'].map((fact_id) => ({ fact_id, chunk_id: 'c', text: '' }));
    const leak = { ...leaky, result: { summary: 'F-10', facts: four.slice(2, 3) }, evidence_references: [] };
    const asked = {
      ...fixture(),
      expected_retained_facts: four,
      completion_requirements: [{ minimum_confidence: 0.8 }],
    };
    assert.equal(score(leak, asked).score, 0.3625);
    const many = Array.from({ length: 8 }, (_, at) => ({ fact_id: `K${at}k`, chunk_id: 'c', text: '' }));
    const seven = {
      ...completion(),
      result: { facts: many.slice(1), last_retained_line: '23' },
      evidence_references: [],
    };
    assert.equal(score(seven, { expected_retained_facts: many }).score, 0.9563);
    assert.equal(score(seven, { expected_retained_facts: many }).retained_fact_citation_score, 0.875);
  });

  test('a fixture that asks for an undeclared fact, repeats ids or is no object', () => {
    const asked = { ...fixture(), completion_requirements: [{ required_fact_ids: ['F-2', 'F-9', 'F-2', 'F-1'] }] };
    assert.deepEqual(score(completion(), asked).cited_retained_fact_ids, ['F-2', 'F-1']);
    assert.deepEqual(score(completion(), asked).missing_retained_fact_ids, ['F-9']);
    for (const none of [null, 'x', [], 7]) assert.equal(score(completion(), none).retained_fact_citation_score, 1);
    assert.deepEqual(score({ result: { facts: [factEntry(1), factEntry(1)] } }).cited_retained_fact_ids, ['F-1']);
  });
});
