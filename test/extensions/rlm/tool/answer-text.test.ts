/** What the model reads of an answer: cited sentences and their sources, and apart from them what nothing supports. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { AskOutcome, Handle } from '#extensions/rlm/ask/ask-outcome.ts';
import { askText } from '#extensions/rlm/tool/ask-text.ts';
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
        '- [k3] computed by code: 1 over c2: 6',
        '',
        '',
      ].join('\n'),
    );
    assert.match(unsupported, /- It closes at nine\. \(nine\)/);
    assert.doesNotMatch(ask(), /not cited/);
  });

  verifies('rlm:ask:gaps', 'what was not read is named', () => {
    assert.match(ask(), /Not read or not done:\n- b\.bin: no text$/);
  });

  verifies('rlm:ask:cited', 'without a supported answer its sentences are told apart and no source is named', () => {
    const failed = ask({ verdict: 'unsupported', detail: null });
    assert.match(failed, /^No supported answer: the material supports nothing/);
    assert.doesNotMatch(failed, /Sources:/);
    assert.match(ask({ verdict: 'failed', detail: 'no model' }), /^No supported answer: no model/);
    assert.match(ask({ verdict: 'no_answer' }), /^No supported answer: the model never/);
  });

  verifies('rlm:ask:cited', 'what the answer repeats word for word is shown once', () => {
    const sentence = { text: 'Six: The harbour opens at six.', handles: ['s1'], status: 'cited', missing: [] } as const;
    assert.match(ask({ sentences: [sentence] }), /Sources:\n- \[s1\] docs\/a\.md:3-4\n/);
  });

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
