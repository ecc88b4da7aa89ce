/** Our rules: what the original lets pass (notes 2.5) and the strict mode of the interface does not. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildManifest } from '#extensions/rlm/guard/manifest.ts';
import type { RejectionReason, Validation } from '#extensions/rlm/guard/read-claims.ts';
import { validateParentSynthesis } from '#extensions/rlm/guard/validate-parent-synthesis.ts';
import { slow } from '../../../slow.ts';
import { verifies } from '../../../verifies.ts';

const manifest = buildManifest({
  entries: [
    {
      fact_id: 'F1',
      chunk_id: 'a:1-2',
      text: 'FACT:F1 The depth cap is 5 and the threshold is 0.2.',
      child_call_id: null,
    },
    { fact_id: 'F2', chunk_id: 'a:3-4', text: 'Hermes must not be invoked with tools.', child_call_id: null },
  ],
});
const judge = (synthesis: unknown): Validation => validateParentSynthesis({ manifest, synthesis });
const reasonsOf = ({ rejected_claims }: Validation): readonly RejectionReason[] =>
  rejected_claims.map(({ reason }) => reason);
const F1 = { fact_id: 'F1', evidence_chunk_id: 'a:1-2' };
const F2 = { fact_id: 'F2', evidence_chunk_id: 'a:3-4' };
const parent = (result: object, rest: object = {}): object => ({ result: { facts: [F1], ...result }, ...rest });
const withFact = (fields: object): object => ({ result: { facts: [{ ...F1, ...fields }] } });

describe('TraceGuard strict', () => {
  verifies('rlm:strict:no-claims', 'without a recognised claim nothing is accepted', () => {
    const echo = { task: 'synthesize', required_schema: { result: { retained_facts: [F1] } } };
    for (const synthesis of [
      {},
      { result: { summary: 'All is well.' } },
      { result: { facts: [] } },
      echo,
      [],
      [F1],
      null,
      'x',
      7,
    ]) {
      const found = judge(synthesis);
      assert.deepEqual([found.accepted, reasonsOf(found)], [false, ['no_claims']], JSON.stringify(synthesis));
      assert.equal(found.unsupported_claim_rate, 1);
    }
  });

  verifies('rlm:strict:outside-schema', 'objects and lists with text under other keys', () => {
    const held = [{ claim: 'x' }, { n: 1 }, ['x'], [['x']], [{ a: 1 }], [null, [[], [{ fact_id: 'F9' }]]]];
    const keys = ['claims', 'conclusions', 'answer', 'details', 'accepted_claims', 'x', 'constructor'];
    for (const key of keys) {
      for (const value of held) {
        const found = judge(parent({ [key]: value }));
        assert.deepEqual(reasonsOf(found), ['claim_outside_schema'], `${key} ${JSON.stringify(value)}`);
        assert.equal(found.rejected_claims[0]?.claim.surface, `result.${key}`);
      }
    }
    for (const key of keys.slice(0, 5))
      assert.deepEqual(reasonsOf(judge(parent({}, { [key]: ['x'] }))), ['claim_outside_schema']);
    for (const key of ['facts', 'retained_facts', 'observed_evidence'])
      assert.deepEqual(reasonsOf(judge(parent({}, { [key]: [{ ...F1, fact_id: 'F9' }] }))), ['claim_outside_schema']);
    const owned = JSON.parse('{"result":{"facts":[{"fact_id":"F1","chunk_id":"a:1-2"}],"__proto__":{"claim":"x"}}}');
    assert.deepEqual(reasonsOf(judge(owned)), ['claim_outside_schema']);
    assert.deepEqual(reasonsOf(judge({ result: [F1], evidence_references: [F1] })), ['claim_outside_schema']);
  });

  test('what stands outside is named in one order', () => {
    const surfaces = (result: object): readonly string[] =>
      judge(parent(result)).rejected_claims.map(({ claim }) => claim.surface);
    assert.deepEqual(surfaces({ y: ['x'], x: ['x'] }), ['result.x', 'result.y']);
    assert.deepEqual(surfaces({ x: ['x'], y: ['x'] }), ['result.x', 'result.y']);
  });

  verifies('rlm:strict:gaps-allowed', 'prose, gaps, the report and what holds no text are no claims', () => {
    const prose = { anything: ['F9 is true.', { fact_id: 'F9' }] };
    const beside = {
      summary: prose,
      truncation_report: prose,
      residual_gaps: prose,
      mode: prose,
      verdict: 'x',
      confidence: 1,
    };
    const empty = { counts: [1, 2, null], flags: [true, [false]], none: {}, nothing: [], blank: [' '], id: 'F9' };
    const found = judge({
      ...beside,
      evidence_references: [],
      result: { facts: [F1], ...beside, ...empty },
      artifacts: [],
    });
    assert.deepEqual([found.accepted, found.unsupported_claim_rate, found.rejected_claims], [true, 0, []]);
    assert.deepEqual(found.accepted_claims, [{ fact_id: 'F1', chunk_id: 'a:1-2', surface: 'result.facts', text: '' }]);
  });

  test('a piece of a surface that cites nothing is refused, unless it only repeats evidence or an id', () => {
    for (const piece of [
      'The moon is cheese.',
      { text: 'The moon is cheese.' },
      { fact_id: 9, claim: 'x' },
      [F1],
      ['x'],
    ])
      assert.deepEqual(
        reasonsOf(judge({ result: { facts: [F1, piece] } })),
        ['claim_outside_schema'],
        JSON.stringify(piece),
      );
    for (const piece of [
      '',
      3,
      null,
      {},
      [],
      'F2',
      'a:3-4',
      'hermes must not be invoked with tools',
      { text: 'FACT:F1 the depth cap is 5 and the threshold is 0.2' },
      { note: 1 },
    ])
      assert.equal(judge({ result: { facts: [F1, piece] } }).accepted, true, JSON.stringify(piece));
    assert.deepEqual(reasonsOf(judge(parent({ observed_facts: 'The moon is cheese.' }))), ['claim_outside_schema']);
  });

  verifies('rlm:strict:text-mismatch', 'what a claim says must be what its evidence says', () => {
    const said = [
      'FACT:F1 The depth cap is 5 and the threshold is 0.2.',
      'The depth cap is 5 and the threshold is 0.2.',
      '  the DEPTH cap\n is 5 and “the threshold” is 0.2. ',
      'fact:f1 the depth cap is 5 and the threshold is 0.2',
      '"The depth cap is 5 and the threshold is 0.2."',
      '',
      'FACT:F1',
    ];
    const unsaid = [
      'fact:f1 the depth cap is 5',
      'threshold is 0.2',
      'The child reports that the depth cap is 5 and the threshold is 0.2.',
      'The depth cap is 6 and the threshold is 0.2.',
      'The depth cap is 50',
      'depth cap is 5 and the threshold is 0',
      'epth cap is 5',
      'Hermes must not be invoked with tools.',
      'FACT:F2 The depth cap is 5',
      'The depth cap is 5 and the threshold is 0.2. So FACT:F9 holds.',
      'The depth cap is 5 and the threshold is 0.2. Port 8080 is open.',
      'It is false that the depth cap is 5 and the threshold is 0.2.',
      'The depth cap is 5 and the threshold is 0.2. The moon is made of green cheese, everybody knows that rather well indeed.',
    ];
    for (const field of ['text', 'statement', 'claim', 'summary']) {
      for (const text of said) assert.equal(judge(withFact({ [field]: text })).accepted, true, `${field} ${text}`);
      for (const text of [...unsaid, ['The moon is cheese.'], { a: 1 }])
        assert.deepEqual(reasonsOf(judge(withFact({ [field]: text }))), ['evidence_text_mismatch'], `${field} ${text}`);
    }
    const denied = { ...F2, text: 'be invoked with tools' };
    assert.deepEqual(reasonsOf(judge({ result: { facts: [denied] } })), ['evidence_text_mismatch']);
  });

  test('a quotation is whole, and holds nothing else', () => {
    const quoted = (quoted_evidence: string): boolean => judge(withFact({ quoted_evidence })).accepted;
    for (const quote of ['FACT:F1', '“the depth cap is 5 and the threshold is 0.2”'])
      assert.equal(quoted(quote), true, quote);
    for (const quote of [
      'The depth cap is 5 and the threshold is 0.2. Indeed.',
      'cap is 5 … 0.2',
      'ap is 5',
      'is 0',
      'is',
      'The depth',
    ])
      assert.equal(quoted(quote), false, quote);
    const both = { quoted_evidence: 'The depth cap is 5 and the threshold is 0.2.', text: 'Nonsense.' };
    assert.deepEqual(reasonsOf(judge(withFact(both))), ['evidence_text_mismatch']);
  });

  test('a result that is itself a claim keeps its summary as prose', () => {
    const result = {
      ...F1,
      text: 'The depth cap is 5 and the threshold is 0.2',
      summary: 'All went well.',
      fact_ids: ['F1'],
    };
    assert.equal(judge({ result }).accepted, true);
    assert.equal(judge({ result }).accepted_claims[0]?.text, 'The depth cap is 5 and the threshold is 0.2');
    assert.deepEqual(reasonsOf(judge({ result: { ...result, text: 'The depth cap is 6' } })), [
      'evidence_text_mismatch',
    ]);
    assert.deepEqual(reasonsOf(judge({ result: { fact_ids: ['F1'], chunk_id: 'a:1-2' } })), [
      'no_claims',
      'claim_outside_schema',
    ]);
  });

  test('an evidence without words supports no words', () => {
    const empty = buildManifest({ entries: [{ fact_id: 'F1', chunk_id: 'a:1-2', text: 'FACT:F1 ' }] });
    const found = validateParentSynthesis({ manifest: empty, synthesis: withFact({ text: 'The moon is cheese.' }) });
    assert.deepEqual(reasonsOf(found), ['evidence_text_mismatch']);
    assert.equal(validateParentSynthesis({ manifest: empty, synthesis: withFact({}) }).accepted, true);
  });

  verifies('rlm:strict:required-facts', 'a required fact that no claim names is missed', () => {
    const required = buildManifest({ entries: manifest.entries, required: ['F2', 'F3', 'F1'] });
    const found = validateParentSynthesis({ manifest: required, synthesis: { evidence_references: [F2] } });
    assert.deepEqual(
      found.rejected_claims.map(({ reason, claim }) => [reason, claim.fact_id]),
      [
        ['missing_required_fact', 'F3'],
        ['missing_required_fact', 'F1'],
      ],
    );
    assert.deepEqual([found.unsupported_claim_rate, found.accepted], [0.6667, false]);
    const handleLess = { result: { facts: [{ fact_id: 'F1' }, F2, { fact_id: 'F3' }] } };
    assert.deepEqual(reasonsOf(validateParentSynthesis({ manifest: required, synthesis: handleLess })), [
      'missing_evidence_handle',
      'unsupported_fact_id',
    ]);
  });

  verifies('rlm:strict:several-chunks', 'a fact rests on any of its chunks, with the words of that one', () => {
    const both = buildManifest({
      entries: [
        ...manifest.entries,
        { fact_id: 'F1', chunk_id: 'b:1-1', text: 'Depth five at most.', child_call_id: null },
        { fact_id: 'F1', chunk_id: 'b:1-1', text: 'No deeper than five.', child_call_id: null },
      ],
    });
    const at = (chunk_id: string, text: string): Validation =>
      validateParentSynthesis({
        manifest: both,
        synthesis: { evidence_references: [{ fact_id: 'F1', chunk_id, text }] },
      });
    assert.equal(at('a:1-2', 'the depth cap is 5 and the threshold is 0.2').accepted, true);
    assert.equal(at('b:1-1', 'Depth five at most.').accepted, true);
    assert.equal(at('b:1-1', 'no deeper than five').accepted, true);
    assert.deepEqual(reasonsOf(at('b:1-1', 'the depth cap is 5')), ['evidence_text_mismatch']);
    assert.deepEqual(reasonsOf(at('a:3-4', 'the depth cap is 5')), ['evidence_handle_mismatch']);
  });

  slow('depth, width, cycles and size are no danger', () => {
    let deep: unknown = 'x';
    for (let at = 0; at < 100_000; at += 1) deep = at % 2 === 0 ? [deep] : { a: deep };
    const lists = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    const loop: unknown[] = [];
    loop.push(loop);
    assert.equal(judge(parent({ x: deep })).accepted, false);
    assert.equal(judge(parent({ x: lists, y: loop })).accepted, true);
    assert.equal(judge(withFact({ text: 'long '.repeat(1_000_000) })).accepted, false);
    const many = Array.from({ length: 50_000 }, () => F1);
    assert.equal(judge({ result: { facts: many } }).accepted_claims.length, 50_000);
    assert.equal(
      judge({ evidence_references: { ...F1, fact_ids: Array.from({ length: 50_000 }, (_, at) => `F${at}`) } }).accepted,
      false,
    );
  });
});
