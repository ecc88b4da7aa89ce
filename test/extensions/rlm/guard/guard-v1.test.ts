/** The original's verdicts (notes 2.1 to 2.4), by hand and as recorded. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildManifest } from '#extensions/rlm/guard/manifest.ts';
import type { Validation } from '#extensions/rlm/guard/read-claims.ts';
import { validateParentSynthesis } from '#extensions/rlm/guard/validate-parent-synthesis.ts';
import { verifies } from '../../../verifies.ts';
import { readDemo, readPortability, readTruncationFixture, readTruncationRun, withRuns } from './recorded-runs.ts';

const entries = [
  { fact_id: 'F1', chunk_id: 'a:1-2', text: 'FACT:F1 one', child_call_id: 'c1' },
  { fact_id: 'F2', chunk_id: 'a:3-4', text: 'FACT:F2 two', child_call_id: null },
];
const manifest = buildManifest({ entries });
const v1 = (synthesis: unknown): Validation => validateParentSynthesis({ manifest, synthesis, mode: 'v1' });
const reasonsOf = ({ rejected_claims }: Validation): readonly string[] => rejected_claims.map(({ reason }) => reason);
const fact = (fact_id: unknown, evidence_chunk_id?: unknown): object => ({ fact_id, evidence_chunk_id });

describe('manifest', () => {
  verifies(['rlm:guard:manifest', 'rlm:guard:incomplete-entries'], 'of a fixture and of entries', () => {
    const fixture = {
      expected_retained_facts: [
        { fact_id: 'F1', chunk_id: 'a:1-2', text: 'one', line: 1 },
        { fact_id: 7, chunk_id: 'a:3-4', text: 'two' },
        'three',
        { fact_id: 'F4', chunk_id: 'a:5-6' },
        { fact_id: 'F5', chunk_id: 'a:7-8', text: '' },
      ],
    };
    assert.deepEqual(buildManifest(fixture), {
      entries: [
        { fact_id: 'F1', chunk_id: 'a:1-2', text: 'one', child_call_id: 'child_0001' },
        { fact_id: 'F5', chunk_id: 'a:7-8', text: '', child_call_id: 'child_0005' },
      ],
      required: ['F1', 'F5'],
    });
    assert.deepEqual(manifest, { entries, required: [] });
    assert.deepEqual(buildManifest({ entries: [null, { fact_id: 'F1' }], required: ['F9', 'F9'] }), {
      entries: [],
      required: ['F9'],
    });
    assert.deepEqual(buildManifest({}), { entries: [], required: [] });
    for (const wrong of [
      null,
      'x',
      [],
      { entries: {} },
      { entries: [], required: [1] },
      { expected_retained_facts: 'x' },
    ])
      assert.throws(() => buildManifest(wrong as object), { code: 'rlm-manifest-invalid' });
  });

  test('a manifest that was not built is judged like one that was', () => {
    const synthesis = { result: { facts: [fact('F1', 'a:1-2'), fact('F2')] } };
    for (const mode of ['v1', 'strict'] as const) {
      const built = validateParentSynthesis({ manifest, synthesis, mode });
      assert.deepEqual(validateParentSynthesis({ manifest: entries, synthesis, mode }), built);
      assert.deepEqual(validateParentSynthesis({ manifest: { entries }, synthesis, mode }), built);
    }
    assert.throws(() => validateParentSynthesis({ manifest: null as never, synthesis }), {
      code: 'rlm-manifest-invalid',
    });
  });
});

describe('TraceGuard v1', () => {
  verifies(['rlm:guard:surfaces', 'rlm:guard:accepted'], 'every surface, in the order listed', () => {
    const one = fact('F1', 'a:1-2');
    const result = {
      observed_evidence: [one],
      retained_evidence: one,
      facts: [one, 'F2', ['F2'], null, 3],
      observed_facts: [one],
      retained_facts: [one],
      fact_id: 'F1',
      chunk_id: 'a:1-2',
      claims: [fact('F9', 'x')],
      summary: 'F9 is a fact.',
    };
    const found = v1({ evidence_references: one, result, retained_facts: [fact('F9')], claims: [fact('F9')] });
    assert.ok(found.accepted);
    assert.deepEqual(
      found.accepted_claims.map(({ surface }) => surface),
      [
        'result.retained_facts',
        'result.observed_facts',
        'result.facts',
        'result.retained_evidence',
        'result.observed_evidence',
        'result',
        'evidence_references',
      ],
    );
    assert.equal(found.accepted_claims[5]?.text, 'F9 is a fact.');
    assert.deepEqual(v1({ result: { fact_id: 5, chunk_id: 'a:1-2' } }).rejected_claims, []);
    assert.deepEqual(reasonsOf(v1({ result: { fact_id: '', chunk_id: 'a:1-2' } })), ['chunk_handle_without_fact']);
  });

  verifies('rlm:guard:several-facts', 'ids from five fields, each once; chunk and text by their order', () => {
    const holder = {
      supported_fact_ids: ['F5', 'F1'],
      supports_fact_ids: ['F4', 4, ''],
      fact_ids: ['F3', 'F2', null],
      supports_fact_id: 'F2',
      fact_id: 'F1',
      source_chunk_id: 'last',
      evidence_chunk_id: 'a:1-2',
      chunk_id: '',
      summary: 's',
      claim: 'c',
      statement: '',
      text: 't',
      quoted_evidence: 'q',
    };
    const { accepted_claims, rejected_claims } = v1({ evidence_references: [holder] });
    const claims = [...accepted_claims, ...rejected_claims.map(({ claim }) => claim)];
    assert.deepEqual(
      claims.map(({ fact_id }) => fact_id),
      ['F1', 'F2', 'F3', 'F4', 'F5'],
    );
    for (const { chunk_id, text } of claims) assert.deepEqual([chunk_id, text], ['a:1-2', 'q\nt\nc\ns']);
    assert.deepEqual(v1({ evidence_references: [{ fact_ids: 'F1', text: 'neither' }] }).accepted_claims, []);
  });

  verifies(
    [
      'rlm:guard:unsupported-fact',
      'rlm:guard:chunk-without-fact',
      'rlm:guard:missing-handle',
      'rlm:guard:mismatch',
      'rlm:guard:all-or-nothing',
      'rlm:v1:compatible',
    ],
    'reasons in their order',
    () => {
      const vectors: readonly (readonly [object, string])[] = [
        [{ chunk_id: 'a:1-2', claim: 'prose' }, 'chunk_handle_without_fact'],
        [{ chunk_id: 'nowhere' }, 'chunk_handle_without_fact'],
        [{ fact_id: 1, chunk_id: 'a:1-2' }, 'chunk_handle_without_fact'],
        [fact('F9', 'a:1-2'), 'unsupported_fact_id'],
        [fact('F9'), 'unsupported_fact_id'],
        [fact('f1', 'a:1-2'), 'unsupported_fact_id'],
        [fact(' F1', 'a:1-2'), 'unsupported_fact_id'],
        [fact('__proto__', 'a:1-2'), 'unsupported_fact_id'],
        [fact('constructor', 'a:1-2'), 'unsupported_fact_id'],
        [fact('F1'), 'missing_evidence_handle'],
        [fact('F1', null), 'missing_evidence_handle'],
        [fact('F1', ''), 'missing_evidence_handle'],
        [fact('F1', 12), 'missing_evidence_handle'],
        [fact('F1', 'a:3-4'), 'evidence_handle_mismatch'],
        [fact('F1', 'A:1-2'), 'evidence_handle_mismatch'],
      ];
      for (const [claim, reason] of vectors) {
        const found = v1({ result: { facts: [fact('F2', 'a:3-4'), claim] } });
        assert.deepEqual([found.accepted, reasonsOf(found)], [false, [reason]], JSON.stringify(claim));
        assert.deepEqual([found.unsupported_claim_rate, found.accepted_claims.length], [0.5, 1]);
      }
      assert.equal(v1({ result: { facts: [{ ...fact('F1', 'a:1-2'), text: 'nonsense' }] } }).accepted, true);
      const half = v1({ evidence_references: [{ fact_ids: ['F1', 'F2'], chunk_id: 'a:1-2' }] });
      assert.deepEqual([half.accepted_claims.length, reasonsOf(half)], [1, ['evidence_handle_mismatch']]);
    },
  );

  verifies('rlm:guard:rate', 'four decimals, an exact half to the even digit', () => {
    const rate = (bad: number, all: number): number =>
      v1({ result: { facts: Array.from({ length: all }, (_, at) => fact(at < bad ? 'F9' : 'F1', 'a:1-2')) } })
        .unsupported_claim_rate;
    const figures = [
      [0, 3, 0],
      [1, 5, 0.2],
      [1, 9, 0.1111],
      [1, 23, 0.0435],
      [1, 15, 0.0667],
      [1, 7, 0.1429],
      [2, 2, 1],
      [1, 32, 0.0312],
      [3, 32, 0.0938],
      [5, 32, 0.1562],
      [3, 96, 0.0312],
      [1, 160, 0.0063],
      [1, 800, 0.0013],
      [2, 3, 0.6667],
    ] as const;
    for (const [bad, all, expected] of figures) assert.equal(rate(bad, all), expected, `${bad} of ${all}`);
    assert.equal(v1({}).unsupported_claim_rate, 0);
  });

  test('the hole of the original: without a claim everything is accepted', () => {
    for (const synthesis of [
      {},
      { result: { summary: 'All is well.' } },
      { required_schema: { facts: [fact('F9')] } },
      [],
      null,
    ])
      assert.equal(v1(synthesis).accepted, true);
  });

  test('of two entries for one fact the later counts, both chunks are listed', () => {
    const twice = [...entries, { fact_id: 'F1', chunk_id: 'a:9-9', text: 'again', child_call_id: null }];
    const judge = (chunk: string): Validation =>
      validateParentSynthesis({ manifest: twice, synthesis: { result: { facts: [fact('F1', chunk)] } }, mode: 'v1' });
    assert.deepEqual([judge('a:9-9').accepted, judge('a:1-2').accepted], [true, false]);
    assert.deepEqual(judge('a:9-9').allowed_fact_ids, ['F1', 'F2']);
    assert.deepEqual(judge('a:9-9').allowed_chunk_ids, ['a:1-2', 'a:3-4', 'a:9-9']);
  });
});

describe('TraceGuard on the recorded runs', withRuns, () => {
  verifies(
    [
      'rlm:guard:safe-parent',
      'rlm:guard:omitted-fact',
      'rlm:guard:chunk-only',
      'rlm:guard:result',
      'rlm:guard:deterministic',
    ],
    'the demo, in both modes',
    () => {
      const demo = readDemo();
      assert.equal(demo.results.length, 3);
      for (const { case_id, validation } of demo.results) {
        const synthesis = parentOf(validation);
        const given = { manifest: buildManifest({ entries: demo.evidence_manifest }), synthesis };
        assert.deepEqual(validateParentSynthesis({ ...given, mode: 'v1' }), validation, case_id);
        assert.deepEqual(validateParentSynthesis(given), validation, case_id);
      }
    },
  );

  verifies('rlm:matrix:eight-fixtures', 'eight fixtures: safe, unsafe and repairable parents', () => {
    const { fixtures, fixture_contract_results } = readPortability();
    assert.equal(fixtures.length, 8);
    for (const [at, fixture] of fixtures.entries()) {
      const { safe_traceguard, unsafe_traceguard } = fixture_contract_results[at]!;
      const judge = (synthesis: unknown, mode?: 'v1'): Validation =>
        validateParentSynthesis({ manifest: buildManifest(fixture), synthesis, ...(mode && { mode }) });
      assert.deepEqual(judge(fixture.safe_parent_synthesis, 'v1'), safe_traceguard);
      assert.deepEqual(judge(fixture.safe_parent_synthesis), safe_traceguard);
      assert.deepEqual(judge(fixture.unsafe_injected_synthesis, 'v1'), unsafe_traceguard);
      assert.equal(judge(fixture.unsafe_injected_synthesis).accepted, false);
      const repairable = fixture.repairable_missing_handle_parent_synthesis;
      if (repairable !== undefined) {
        assert.deepEqual(reasonsOf(judge(repairable, 'v1')), ['missing_evidence_handle']);
        assert.deepEqual(reasonsOf(judge(repairable)), ['missing_evidence_handle']);
      }
    }
  });

  test('the committed run: its parent is refused at rate 1, the single call is accepted with 8 claims', () => {
    const run = readTruncationRun();
    const fixture = buildManifest(readTruncationFixture());
    const parent = validateParentSynthesis({
      manifest: fixture,
      synthesis: run.rlm_output.atomic_execution.final_message_json,
      mode: 'v1',
    });
    const count = (reason: string): number => reasonsOf(parent).filter((one) => one === reason).length;
    assert.deepEqual(
      [parent.unsupported_claim_rate, count('chunk_handle_without_fact'), count('missing_evidence_handle')],
      [1, 8, 4],
    );
    for (const mode of ['v1', 'strict'] as const) {
      const synthesis = run.vanilla_output.runner_output.completion_json;
      const single = validateParentSynthesis({ manifest: fixture, synthesis, mode });
      assert.deepEqual([single.accepted, single.accepted_claims.length], [true, 8]);
    }
  });
});

/** The demo's file holds verdicts; a parent that makes the same claims. */
function parentOf({ accepted_claims, rejected_claims }: Validation): object {
  const claims = [...accepted_claims, ...rejected_claims.map(({ claim }) => claim)];
  const on = (surface: string): readonly object[] =>
    claims
      .filter((claim) => claim.surface === surface)
      .map(({ fact_id, chunk_id, text }) => ({ fact_id, chunk_id, text }));
  const result = {
    summary: 'Safe synthesis.',
    retained_facts: on('result.retained_facts'),
    observed_facts: on('result.observed_facts'),
  };
  return {
    mode: 'x',
    verdict: 'pass',
    confidence: 0.9,
    result,
    evidence_references: on('evidence_references'),
    residual_gaps: [],
  };
}
