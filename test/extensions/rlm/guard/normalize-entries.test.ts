import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { normalizeEntries } from '#extensions/rlm/guard/normalize-entries.ts';

describe('entries for prompts and artifacts', () => {
  test('four fields, strings, one order, duplicates kept', () => {
    const last = { fact_id: 'F2', chunk_id: 'b', text: 't', child_call_id: 'c1', more: 'left out' };
    const given = [
      last,
      { fact_id: 'F2', chunk_id: 'a', text: null },
      { chunk_id: 3, child_call_id: true },
      last,
      { fact_id: 'F2', chunk_id: 'b', text: 'z' },
    ];
    const expected = [
      { fact_id: '', chunk_id: '3', text: '', child_call_id: 'True' },
      { fact_id: 'F2', chunk_id: 'a', text: 'None', child_call_id: null },
      { fact_id: 'F2', chunk_id: 'b', text: 'z', child_call_id: null },
      { fact_id: 'F2', chunk_id: 'b', text: 't', child_call_id: 'c1' },
      { fact_id: 'F2', chunk_id: 'b', text: 't', child_call_id: 'c1' },
    ];
    assert.deepEqual(normalizeEntries(given), expected);
    assert.deepEqual(normalizeEntries([...given].reverse()), expected);
    for (const wrong of [null, 'x', [], 1])
      assert.throws(() => normalizeEntries([wrong]), { code: 'rlm-manifest-invalid' });
  });

  test('characters beyond the first plane sort by code point', () => {
    const ids = ['\uffee', '\u{1F600}'].map((fact_id) => ({ fact_id }));
    assert.deepEqual(
      normalizeEntries(ids.reverse()).map(({ fact_id }) => fact_id),
      ['\uffee', '\u{1F600}'],
    );
  });
});
