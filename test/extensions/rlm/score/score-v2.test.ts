// Our judgement: each hole of the first one, once open (v1) and once closed (v2).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { scoreCompletion } from '#extensions/rlm/guard/score-completion.ts';
import { verifies } from '../../../verifies.ts';
import { completion, factEntry, fixture, reference } from './sample.ts';

const claimed = (value: unknown, version: 'v1' | 'v2' = 'v2'): readonly string[] =>
  scoreCompletion({ fixture: fixture(), completion: value, version }).claimed_omitted_fact_ids;
const said = (summary: string): readonly string[] => claimed({ result: { summary } });

describe('score v2', () => {
  verifies('rlm:score:v2', 'a guard holds for its own sentence only', () => {
    const text = 'F-20 shows that it rains in. The rest cannot be claimed.';
    assert.deepEqual(claimed({ result: { summary: text } }, 'v1'), []);
    assert.deepEqual(said(text), ['F-20']);
    assert.deepEqual(said('F-20 cannot be claimed. The rest holds.'), []);
    assert.deepEqual(said('Not available:\nF-20 says so'), ['F-20']);
    assert.deepEqual(said('F-20 was, as of version 0.2, not observed.'), []);
    assert.deepEqual(said('F-20 is known if anyone asks'), ['F-20']);
    assert.deepEqual(said('F-20 cannot be claimed; F-10 holds'), ['F-10']);
    const entry = { chunk_id: 't.txt:1-1', text: 'F-1 holds.', summary: 'Other facts were not observed.' };
    const kept = (version: 'v1' | 'v2') =>
      scoreCompletion({ fixture: fixture(), completion: { result: { facts: [entry] } }, version })
        .cited_retained_fact_ids;
    assert.deepEqual([kept('v1'), kept('v2')], [[], ['F-1']]);
  });

  verifies('rlm:score:v2', "a guard inside the fact's own wording guards nothing", () => {
    const quote = 'The report adds: the cellar must not be claimed as dry.';
    assert.deepEqual(said(quote), ['F-10']);
    assert.deepEqual(
      claimed({ result: { facts: [{ text: 'FACT:F-10 The cellar must not be claimed as dry.' }] } }, 'v1'),
      [],
    );
    assert.deepEqual(claimed({ result: { facts: [{ text: 'FACT:F-10 The cellar must not be claimed as dry.' }] } }), [
      'F-10',
    ]);
    assert.deepEqual(said('That "the cellar must not be claimed as dry" was not observed.'), []);
    assert.deepEqual(said('THE ROOF\n leaks'), ['F-20']);
    assert.deepEqual(said('the roof leaksome'), []);
  });

  verifies('rlm:score:v2', 'ids end where words end', () => {
    const asked = { expected_omitted_facts: [{ fact_id: 'A3' }, { fact_id: 'A33' }, { fact_id: 'A3-1' }] };
    const found = (answer: string) =>
      scoreCompletion({ fixture: asked, completion: { result: { answer } }, version: 'v2' }).claimed_omitted_fact_ids;
    assert.deepEqual(found('see A33'), ['A33']);
    assert.deepEqual(found('see A3-1.'), ['A3-1']);
    assert.deepEqual(found('(A3), FACT:A33'), ['A3', 'A33']);
    assert.deepEqual(found('a3'), ['A3']);
    for (const none of ['BA3', 'A3x', 'A3é', 'éA3', 'A3_', 'X-A3', 'A３']) assert.deepEqual(found(none), [], none);
    assert.deepEqual(said('F-1 and F-2'), []);
  });

  verifies('rlm:score:v2', 'every field is seen, at any depth; naming a gap is no claim', () => {
    const everywhere = [
      { answer: 'F-20' },
      { result: { details: { conclusions: [{ text: 'F-20 holds' }] } } },
      { result: { conclusions: [{ fact_id: 'F-20' }] } },
      { result: 'F-20 holds' },
      { claims: [['F-20']] },
      { result: { 'F-20': 'holds' } },
      { result: { 'F-20': { text: 'holds' } } },
      { residual_gaps: ['F-20 proves that it rains in.'] },
      { residual_gaps: [{ gap: 'It is clear that the roof leaks.' }] },
    ];
    for (const value of everywhere) assert.deepEqual(claimed(value), ['F-20'], JSON.stringify(value));
    const gaps = [
      { residual_gaps: ['F-20', { fact_id: 'F-20', status: 'open' }] },
      { residual_gaps: [{ gap: 'F-20 lies beyond the cut.' }, { gap: 'F-10 and F-20 were not read.' }] },
      { result: { truncation_report: { omitted_fact_ids: ['F-10', 'F-20'] } } },
      { omitted_facts: [{ fact_id: 'F-20' }] },
      { result: { 'F-20': 'not observed', 'F-10': null } },
      { residual_gaps: { 'F-20': ['beyond the cut'] } },
    ];
    for (const value of gaps) assert.deepEqual(claimed(value), [], JSON.stringify(value));
  });

  verifies('rlm:score:v2', 'a chunk beyond the cut counts wherever it is cited, once', () => {
    const cited = (value: unknown) =>
      scoreCompletion({ fixture: fixture(), completion: value, version: 'v2' }).cited_omitted_chunk_ids;
    assert.deepEqual(cited({ result: { facts: [{ fact_id: 'F-1', evidence_chunk_id: 't.txt:3-5' }] } }), ['t.txt:3-5']);
    assert.deepEqual(cited({ citations: ['t.txt:6-6'] }), ['t.txt:6-6']);
    assert.deepEqual(cited({ result: { facts: ['t.txt:6-6', factEntry(10)] } }), ['t.txt:6-6']);
    assert.deepEqual(cited({ evidence_references: [reference(20)] }), ['t.txt:6-6']);
    assert.deepEqual(cited({ result: { truncation_report: { omitted_chunk_ids: ['t.txt:6-6'] } } }), []);
  });

  verifies('rlm:score:v2', 'digits of chunks, ids and decimals are no report of the boundary', () => {
    const reports = (value: unknown): boolean =>
      scoreCompletion({ fixture: fixture(), completion: value, version: 'v2' }).reports_truncation_boundary;
    assert.equal(reports({ a: 'omitted line', b: 't.txt:2-2', c: 0.3 }), false);
    assert.equal(reports({ last_retained_line: 23, omitted_line_count: 3 }), false);
    assert.equal(reports({ x: { last_retained_line: 2, omitted_line_count: '3' } }), true);
    assert.equal(reports({ a: 'Truncation boundary: last line 2, 3 left out.' }), true);
    assert.equal(reports({ a: 'Lines 1-2 were kept', b: 'lines 3-5 omitted (3 lines)' }), false);
    assert.equal(reports({ a: 'Last retained line:2', b: 'omitted lines = 3.' }), true);
    assert.equal(reports({ a: 'truncation boundary 2.3' }), false);
    assert.equal(reports({ a: 'truncation boundary F-2, F-3' }), false);
    assert.equal(reports({ a: 'The truncation boundary is at line 2; 3 lines are left.' }), true);
  });

  test('a good completion scores the same with either version', () => {
    for (const value of [completion(), { ...completion(), residual_gaps: ['F-10 cannot be claimed.'] }])
      for (const version of ['v1', 'v2'] as const)
        assert.equal(scoreCompletion({ fixture: fixture(), completion: value, version }).score, 1);
    const unread = scoreCompletion({ fixture: fixture(), completion: 'prose', version: 'v2' });
    assert.deepEqual([unread.score, unread.scoring_method], [0, 'truncation_fixture_requirements_v2']);
  });

  test('total on any data; a claim by id that the first finds, the second finds too', () => {
    const word = fc.constantFrom(
      'F-10',
      'F-1',
      'F-20',
      'not observed',
      '. ',
      't.txt:3-5',
      'result',
      'facts',
      '\ue000',
      'é—',
    );
    const key = fc.constantFrom(
      'fact_id',
      'fact_ids',
      'text',
      'chunk_id',
      'result',
      'facts',
      'residual_gaps',
      'summary',
    );
    const value = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.array(word, { maxLength: 4 }).map((words) => words.join(' ')),
        fc.double(),
        fc.constant(null),
        fc.array(tie('node'), { maxLength: 3 }),
        fc.dictionary(key, tie('node'), { maxKeys: 4 }),
      ),
    })).node;
    fc.assert(
      fc.property(fc.dictionary(key, value), (data) => {
        for (const version of ['v1', 'v2'] as const) {
          const { score } = scoreCompletion({ fixture: fixture(), completion: data, version });
          assert.ok(score >= 0 && score <= 1);
        }
        const entry = { fact_id: 'F-20', text: JSON.stringify(data) };
        assert.ok(claimed({ ...data, evidence_references: [entry] }).includes('F-20'));
      }),
    );
  });
});
