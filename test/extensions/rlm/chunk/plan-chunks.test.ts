import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import fc from 'fast-check';
import type { ChunkSpan } from '#extensions/rlm/scaffold/chunks.ts';
import { chunkId, parseChunkId, promptChunk, readChunk } from '#extensions/rlm/scaffold/chunks.ts';
import { planChunks } from '#extensions/rlm/scaffold/plan-chunks.ts';
import { ends } from '../../../ends.ts';
import { runs } from '../../../property-runs.ts';
import { verifies } from '../../../verifies.ts';
import { anyLimits, anyText, assertWhole, planned, textsOf } from './chunk-cases.ts';

const idsOf = (source: string | Uint8Array, limits: object = {}) =>
  planned(source, limits).spans.map((span) => span.chunk_id);

verifies('rlm:run:chunks', 'lines are parted into chunks whose ids are path and lines', () => {
  assert.deepEqual(idsOf('1\n2\n3\n4\n5\n', { line_limit: 2 }), ['a.txt:1-2', 'a.txt:3-4', 'a.txt:5-5']);
  assert.deepEqual(idsOf('1\r\n2\r\n3', { line_limit: 2 }), ['a.txt:1-2', 'a.txt:3-3']);
  assert.deepEqual(textsOf('1\r\n2\r3\n\n5', { line_limit: 1 }), ['1\r\n', '2\r', '3\n', '\n', '5']);
  assert.deepEqual(idsOf('1\n2\n3\n4\n5', { line_limit: 3, overlap_lines: 1 }), ['a.txt:1-3', 'a.txt:3-5']);
});

test('an empty source is one empty chunk', () => {
  const bytes = Buffer.alloc(0);
  const plan = planned(bytes);
  assert.deepEqual([plan.line_count, plan.spans.length], [0, 1]);
  const chunk = readChunk(bytes, plan.spans[0]!);
  assert.deepEqual([chunk.chunk_id, chunk.content, chunk.token_estimate, chunk.truncated], ['a.txt:1-1', '', 1, false]);
});

test('a chunk carries its content, its words, and whether more follows', () => {
  const bytes = Buffer.from('one two\n three\u00a0four \nfive');
  const [first, second] = planned(bytes, { line_limit: 2 }).spans.map((span) => readChunk(bytes, span));
  assert.deepEqual(first, {
    chunk_id: 'a.txt:1-2',
    source_path: 'a.txt',
    start_line: 1,
    end_line: 2,
    content: 'one two\n three\u00a0four \n',
    token_estimate: 4,
    truncated: true,
    lossy: false,
  });
  assert.deepEqual([second?.content, second?.token_estimate, second?.truncated], ['five', 1, false]);
  assert.deepEqual(
    [promptChunk('Why?\nHow?').chunk_id, promptChunk('a b').token_estimate, promptChunk('a\nb').end_line],
    ['prompt:target', 2, 2],
  );
});

test('a line over the bytes is parted between characters and its parts are numbered', () => {
  assert.deepEqual(idsOf(`a\n${'b'.repeat(10)}\nc`, { byte_limit: 5 }), [
    'a.txt:1-1',
    'a.txt:2-2#1',
    'a.txt:2-2#2',
    'a.txt:2-2#3',
    'a.txt:3-3',
  ]);
  assert.deepEqual(textsOf('ééé', { byte_limit: 5 }), ['éé', 'é']);
  assert.deepEqual(textsOf('😀😀', { byte_limit: 7 }), ['😀', '😀']);
  assert.deepEqual(textsOf('abcd\r\n', { byte_limit: 5 }), ['abcd', '\r\n']);
});

test('a byte order mark and bytes that are no text stay', () => {
  const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0x0a, 0xff, 0xfe, 0x80, 0x0a, 0xc3]);
  const plan = planned(bytes, { line_limit: 1 });
  assert.deepEqual(
    plan.spans.map((span) => readChunk(bytes, span)).map(({ content, lossy }) => [content, lossy]),
    [
      ['\uFEFFa\n', false],
      ['\uFFFD\uFFFD\uFFFD\n', true],
      ['\uFFFD', true],
    ],
  );
});

verifies('rlm:chunk:lossless', 'property: joined without overlap the chunks are the source, in every structure', () => {
  fc.assert(
    fc.property(anyText, anyLimits, (text, limits) => {
      const bytes = Buffer.from(text);
      const plan = planned(bytes, limits);
      assertWhole(bytes, plan, limits);
      assert.equal(plan.spans.map((span) => coreOf(bytes, span)).join(''), text);
      if (limits.overlap_lines === 0)
        assert.equal(plan.spans.map((span) => readChunk(bytes, span).content).join(''), text);
    }),
    { numRuns: runs(500) },
  );
});

verifies('rlm:chunk:lossless', 'property: any bytes lie in the chunks, whether they are text or not', () => {
  const anyBytes = fc
    .array(fc.oneof(fc.constantFrom(10, 13, 32, 35, 96, 0xc3, 0xa9, 0xff, 0xe2, 0x80), fc.nat({ max: 255 })), {
      maxLength: 200,
    })
    .map((list) => Uint8Array.from(list));
  fc.assert(
    fc.property(anyBytes, anyLimits, (bytes, limits) => assertWhole(bytes, planned(bytes, limits), limits)),
    { numRuns: runs(500) },
  );
});

test('property: a chunk id gives its path and lines back', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.integer({ min: 1, max: 1e9 }),
      fc.nat({ max: 1000 }),
      fc.option(fc.integer({ min: 1, max: 9 })),
      (path, start_line, more, part) => {
        const place = { path, start_line, end_line: start_line + more, part };
        assert.deepEqual(parseChunkId(chunkId(place)), place);
      },
    ),
  );
  for (const id of ['', 'a', 'a:1', 'a:0-1', 'a:1-2#', 'prompt:target', 'src:file-list'])
    assert.equal(parseChunkId(id), null);
});

test('twenty megabytes in one line are parted in linear time', () => {
  const bytes = Buffer.alloc(20_000_000, 'lorem ipsum ');
  const plan = ends('the plan', () => planned(bytes, { overlap_lines: 2, byte_limit: 65_536 }));
  assertWhole(bytes, plan, { line_limit: 80, byte_limit: 65_536 });
});

test('the committed fixture has the stated chunks', {
  skip: process.env.TALARIA_DATA === undefined ? 'skipped: set TALARIA_DATA' : false,
}, () => {
  const fixture = JSON.parse(
    readFileSync(join(process.env.TALARIA_DATA ?? '', 'data/rlm/long_context_truncation.json'), 'utf8'),
  );
  const plan = planChunks(fixture.target.path, Buffer.from(fixture.target.lines.join('\n')), { line_limit: 2 });
  const { expected_selected_chunk_ids: selected, expected_omitted_chunk_ids: omitted } = fixture.truncation_config;
  assert.deepEqual(
    plan.spans.map((span) => span.chunk_id),
    [...selected, ...omitted],
  );
});

/** Only what no earlier chunk holds. */
function coreOf(bytes: Uint8Array, { core_start_byte, end_byte }: ChunkSpan): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(core_start_byte, end_byte));
}
