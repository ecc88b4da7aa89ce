import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunGap, RunOutcome } from '#extensions/rlm/outcome.ts';
import { type GapCall, gapLines, runLines } from '#extensions/rlm/page/run-text.ts';
import { samplePage } from '../page/sample-run.ts';

const CHUNKS = ['a.md:1-80', 'a.md:81-160', 'a.md:161-200'] as const;
const CALLS: readonly GapCall[] = [
  ...CHUNKS.map(
    (id, at): GapCall => ({
      call_id: `rlm_call_atomic_chunk_00${at + 1}`,
      mode: 'execute_atomic',
      selected_chunk_ids: [id],
    }),
  ),
  { call_id: 'rlm_call_atomic_synthesis', mode: 'synthesize_parent', selected_chunk_ids: [] },
];

const said = (what: string, chunk: number): RunGap => ({ what, why: `said by rlm_call_atomic_chunk_00${chunk}` });

function lines(...gaps: readonly RunGap[]): readonly string[] {
  return gapLines({ gaps, selected_chunk_ids: CHUNKS }, CALLS);
}

describe('rlm: gaps as a person reads them', () => {
  test('the same of several chunks is one line', () => {
    assert.deepEqual(lines(said('No passage fits.', 2), said('No passage fits.', 3)), [
      'No passage fits (a.md:81-160, a.md:161-200)',
    ]);
    const nothing = (at: 1 | 2 | 3) => said(`Nothing that fits in ${CHUNKS[at - 1]}`, at);
    assert.deepEqual(lines(nothing(2), nothing(3)), ['Nothing that fits in 2 of 3 chunks: a.md:81-160, a.md:161-200']);
    assert.deepEqual(lines(nothing(2)), ['Nothing that fits in a.md:81-160']);
    const budget = (at: number) => ({ what: CHUNKS[at] ?? '', why: 'not asked: budget_calls' });
    assert.deepEqual(lines(budget(0), budget(2)), ['a.md:1-80, a.md:161-200 (not asked: budget_calls)']);
  });

  test('no id of a call or a node is shown, and no full stop before a colon', () => {
    const shown = lines(
      said('No date is given.', 1),
      { what: 'Pier 9 is not described.', why: 'said by rlm_call_atomic_synthesis' },
      { what: 'rlm_node_root', why: 'its synthesis was refused (unsupported_fact_id)' },
      { what: 'rlm_node_group_d1_001', why: 'its synthesis was refused (form); its 4 quotations go up as they are' },
      { what: 'rlm_node_group_d1_005', why: 'timeout: no reply' },
      { what: CHUNKS[1], why: 'no usable reply: it is no JSON.' },
    );
    assert.deepEqual(shown, [
      'No date is given (a.md:1-80)',
      'Pier 9 is not described (so the synthesis)',
      'The synthesis was refused (unsupported_fact_id)',
      'The synthesis of a part was refused (form); its 4 quotations go up as they are',
      'The synthesis of a part failed (timeout: no reply)',
      'a.md:81-160 (no usable reply: it is no JSON.)',
    ]);
    assert.doesNotMatch(shown.join('\n'), /rlm_(?:call|node)_|\.:/);
  });

  test('of many chunks the first are named, and how many more there are', () => {
    const many = Array.from({ length: 30 }, (_, at) => ({ what: `b.md:${at + 1}-${at + 1}`, why: 'not asked' }));
    const [line = ''] = gapLines({ gaps: many, selected_chunk_ids: [] }, []);
    assert.match(line, /^b\.md:1-1, .* and 22 more \(not asked\)$/);
  });

  test('of many claims the first are said, and how many more there are', () => {
    const claims = Array.from({ length: 60 }, (_, at) => ({ text: `Claim ${at + 1}.`, fact_ids: [] }));
    const { outcome } = samplePage({ outcome: { claims } }).row;
    const shown = runLines(outcome as unknown as RunOutcome, []);
    assert.ok(shown.includes(' 40. Claim 40.') && !shown.includes(' 41. Claim 41.'));
    assert.ok(shown.includes('  … and 20 more (--json shows all)'));
  });
});
