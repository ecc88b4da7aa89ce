/** What the model reads of an answer: cited sentences and their sources, and apart from them what nothing supports. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { AskOutcome, Handle } from '#extensions/rlm/ask/ask-outcome.ts';
import type { RunOutcome } from '#extensions/rlm/run/run-outcome.ts';
import { askText } from '#extensions/rlm/tool/ask-text.ts';
import { runText } from '#extensions/rlm/tool/run-text.ts';
import { verifies } from '../../../verifies.ts';

const place = { source_path: 'docs/a.md', start_line: 3, end_line: 4, start_byte: 10, end_byte: 50 };
const totals = { calls: 3, input_tokens: null, output_tokens: null, cost: null };

const HANDLES: readonly Handle[] = [
  { kind: 'span', id: 's1', place, quote: 'The harbour\n  opens at six.' },
  { kind: 'child', id: 'c2', call_id: 'ask:sub:001', text: 'opens at six', over: 's1' },
  { kind: 'computed', id: 'k3', code: '1', code_hash: 'h', inputs: ['c2'], output: '6', output_hash: 'o' },
  { kind: 'span', id: 's4', place: { ...place, start_line: 9, end_line: 9 }, quote: 'not cited' },
];

function ask(changes: Partial<AskOutcome> = {}): string {
  return askText({
    schema_version: 'talaria.rlm.ask.v1',
    run_id: 'rlm_1',
    question: 'When?',
    verdict: 'answered',
    run_state: 'completed',
    detail: null,
    sentences: [
      { text: 'It opens at six.', handles: ['k3'], status: 'cited', missing: [] },
      { text: 'It closes at nine.', handles: ['s1'], status: 'not_supported', missing: ['nine'] },
    ],
    handles: HANDLES,
    gaps: [{ what: 'b.bin', why: 'no text' }],
    bytes_read: 40,
    bytes_total: 100,
    steps: 2,
    totals,
    ...changes,
  });
}

const fact = { fact_id: 'F1', chunk_id: 'a.md:1-9', text: 'opens at six', child_call_id: 'child_0001', place };

function run(changes: Partial<RunOutcome> = {}): string {
  const outcome = {
    schema_version: 'talaria.rlm.run.v1',
    run_id: 'rlm_1',
    question: 'When?',
    verdict: 'accepted',
    run_state: 'completed',
    detail: null,
    summary: 'SUMMARY PROSE',
    claims: [{ text: 'It opens at six.', fact_ids: ['F1'] }],
    refused: [],
    refused_facts: [],
    evidence: [fact, { ...fact, fact_id: 'F2', text: 'closes late', place: null }],
    gaps: [],
    selected_chunk_ids: [],
    omitted: [],
    boundaries: [],
    repair: null,
    totals,
    ...changes,
  };
  return runText(outcome as unknown as RunOutcome);
}

describe('rlm/tool: texts', () => {
  verifies('rlm:ask:cited', 'cited sentences with what they rest on, down to the lines of the source', () => {
    const [answer, unsupported = ''] = ask().split('Not supported');
    assert.equal(
      answer,
      [
        'It opens at six. [k3]',
        '',
        'Sources:',
        '- [s1] docs/a.md:3-4 "The harbour opens at six."',
        '- [c2] found in docs/a.md:3-4: "opens at six"',
        '- [k3] computed from c2: 6',
        '',
        '',
      ].join('\n'),
    );
    assert.match(unsupported, /- It closes at nine\. \(nine\)/);
    assert.doesNotMatch(ask(), /not cited/);
  });

  verifies('rlm:ask:gaps', 'what was not read is named', () => {
    assert.match(ask(), /Not read or not done:\n- b\.bin: no text$/);
    const omitted = [1, 2, 3].map((n) => ({ chunk_id: `a.md:${n}0-${n}9`, reason: 'max_chunks' as const }));
    assert.match(run({ omitted }), /Not read or not done:\n- a\.md:10-19 and 2 more stretches \(max_chunks\)/);
  });

  verifies(
    'rlm:run:refused-parent',
    'a refused synthesis shows its reasons and the quotations, nothing as said',
    () => {
      const claim = { fact_id: 'F9', chunk_id: null, surface: 'result.retained_facts', text: 'It closes at nine.' };
      const text = run({
        verdict: 'refused',
        claims: [],
        refused: [{ reason: 'unsupported_fact_id', claim, detail: 'F9 is no fact of this run' }],
      });
      assert.match(text, /^No supported answer: the evidence gate refused/);
      assert.match(text, /word for word:\n- \[F1\] docs\/a\.md:3-4 "opens at six"\n- \[F2\] a\.md:1-9 "closes late"/);
      assert.match(text, /do not state it as fact:\n- It closes at nine\. \(unsupported_fact_id: F9/);
      assert.doesNotMatch(text, /SUMMARY PROSE/);
      assert.doesNotMatch(run(), /SUMMARY PROSE|closes late/);
      const failed = ask({ verdict: 'unsupported', detail: null });
      assert.match(failed, /^No supported answer: the material supports nothing/);
      assert.match(ask({ verdict: 'failed', detail: 'no model' }), /^No supported answer: no model/);
    },
  );

  verifies('rlm:ask:cited', 'an outcome of any size is a text of bounded size', () => {
    const sentences = Array.from({ length: 500 }, (_, n) => ({
      text: `Line ${n} ${'x'.repeat(5_000)}`,
      handles: [`s${n}`],
      status: 'not_supported' as const,
      missing: ['y'.repeat(9_000)],
    }));
    const handles = sentences.map((_, n) => ({ kind: 'span' as const, id: `s${n}`, place, quote: 'q'.repeat(9_000) }));
    const text = ask({ sentences, handles, verdict: 'unsupported' });
    assert.ok(text.length < 50_000, String(text.length));
    assert.match(text, /and 460 more/);
  });
});
