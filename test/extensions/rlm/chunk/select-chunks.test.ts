import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { comparePaths, selectChunks } from '#extensions/rlm/scaffold/chunks.ts';
import { planChunks } from '#extensions/rlm/scaffold/plan-chunks.ts';
import { verifies } from '../../../verifies.ts';
import { anyLimits, anyText } from './chunk-cases.ts';

function plansOf(sources: Readonly<Record<string, string>>, limits: object) {
  return Object.entries(sources).map(([path, text]) => planChunks(path, Buffer.from(text), limits));
}

function select(sources: Readonly<Record<string, string>>, limits: object, max_chunks: number) {
  return selectChunks(plansOf(sources, limits), max_chunks);
}

verifies('rlm:chunk:named-drop', 'what does not fit is named, with the line where reading ended', () => {
  const { selected, dropped, boundaries } = select({ 'b.txt': '1\n2\n3\n4\n5', 'a.txt': '1\n2' }, { line_limit: 2 }, 2);
  assert.deepEqual(
    selected.map((span) => span.chunk_id),
    ['a.txt:1-2', 'b.txt:1-2'],
  );
  assert.deepEqual(
    dropped.map((span) => `${span.chunk_id} ${span.reason}`),
    ['b.txt:3-4 max_chunks', 'b.txt:5-5 max_chunks'],
  );
  assert.deepEqual(boundaries, [{ source_path: 'b.txt', last_retained_line: 2, omitted_line_count: 3 }]);
});

test('a line that is read in part only is not retained', () => {
  const { selected, dropped, boundaries } = select({ a: `x\n${'y'.repeat(20)}` }, { byte_limit: 8 }, 2);
  assert.deepEqual([selected.length, dropped.length, dropped[0]?.reason], [2, 2, 'max_chunks']);
  assert.deepEqual(boundaries, [{ source_path: 'a', last_retained_line: 1, omitted_line_count: 1 }]);
});

test('property: every byte of every source is selected or named as dropped', () => {
  fc.assert(
    fc.property(anyText, anyText, anyLimits, fc.integer({ min: 1, max: 9 }), (one, two, limits, max_chunks) => {
      const sources = { 'dir/one': one, two };
      const { selected, dropped } = select(sources, limits, max_chunks);
      assert.ok(selected.length <= max_chunks);
      const bytes = [...selected, ...dropped].reduce((sum, span) => sum + span.end_byte - span.core_start_byte, 0);
      assert.equal(bytes, Buffer.byteLength(one) + Buffer.byteLength(two));
    }),
  );
});

test('paths are sorted part by part', () => {
  assert.deepEqual(['b', 'a/b', 'a.txt', 'a/a/z', 'a', 'B'].sort(comparePaths), [
    'B',
    'a',
    'a/a/z',
    'a/b',
    'a.txt',
    'b',
  ]);
});
