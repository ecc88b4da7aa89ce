/** What the model reads of an answer: cited sentences and their sources, and apart from them what nothing supports. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { askText } from '#extensions/rlm/ask/ask-lines.ts';
import type { AskOutcome, Handle } from '#extensions/rlm/outcome.ts';
import { verifies } from '../../../verifies.ts';

const place = { source_path: 'docs/a.md', start_line: 3, end_line: 4, start_byte: 10, end_byte: 50 };
const totals = { calls: 3, input_tokens: null, output_tokens: null, cost: null };

const HANDLES: readonly Handle[] = [
  { kind: 'span', id: 's1', place, quote: 'The harbour\n  opens at six.' },
  { kind: 'child', id: 'c2', call_id: 'ask:sub:001', text: 'opens at six', over: 's1' },
  { kind: 'computed', id: 'k3', code: '1', code_hash: 'h', inputs: ['c2'], output: '6', output_hash: 'o' },
  { kind: 'span', id: 's4', place: { ...place, start_line: 9, end_line: 9 }, quote: 'not cited' },
];

const BARE = { place: null, why: '', model: '' } as const;

function ask(changes: Partial<AskOutcome> = {}): string {
  return askText({
    schema_version: 'talaria.rlm.ask.v2',
    run_id: 'rlm_1',
    question: 'When?',
    verdict: 'answered',
    run_state: 'completed',
    detail: null,
    sentences: [
      { ...BARE, text: 'It opens at 6.', handles: ['k3'], grade: 'computed' },
      {
        ...BARE,
        text: 'It closes at nine.',
        handles: ['s1'],
        grade: 'not-supported',
        why: 'goes-beyond: no end',
        model: 'm/n',
      },
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
  verifies('rlm:ask:cited', 'the answer in its order with grades, and what it rests on down to the lines', () => {
    const [legend, answer = ''] = ask().split('\n\nIt opens');
    assert.match(legend ?? '', /^Each sentence with its grade\. quoted: .* does not make it untrue/);
    assert.equal(
      `It opens${answer}`,
      [
        'It opens at 6.',
        "    values of code; the sentence about them is the model's:",
        '      value  6',
        '      by: 1',
        'It closes at nine.',
        '    NOT SUPPORTED: goes-beyond: no end (read by m/n)',
        '    docs/a.md:3-4  "The harbour opens at six."',
        '',
        'Not read or not done:',
        '  b.bin: no text',
      ].join('\n'),
    );
    const quoted = { ...BARE, text: 'The harbour opens at six.', handles: [], grade: 'quoted', place } as const;
    assert.match(ask({ sentences: [quoted] }), /\nThe harbour opens at six\.\n {4}quoted: docs\/a\.md:3-4/);
  });
  verifies('rlm:ask:gaps', 'what was not read is named', () => {
    assert.match(ask(), /Not read or not done:\n {2}b\.bin: no text$/);
  });

  test('without a sentence it says why', () => {
    assert.match(ask({ sentences: [], verdict: 'failed', detail: 'no model' }), /^No answer: no model/);
  });

  test('an outcome of any size is a text of bounded size', () => {
    const sentences = Array.from({ length: 500 }, (_, n) => ({
      ...BARE,
      text: `Line ${n} ${'x'.repeat(5_000)}`,
      handles: [`s${n}`],
      grade: 'not-supported' as const,
      why: 'y'.repeat(9_000),
    }));
    const handles = sentences.map((_, n) => ({ kind: 'span' as const, id: `s${n}`, place, quote: 'q'.repeat(9_000) }));
    const text = ask({ sentences, handles, verdict: 'unsupported' });
    assert.ok(text.length < 130_000, String(text.length));
    assert.match(text, /and 460 sentences more/);
  });
});
