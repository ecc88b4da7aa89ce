import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { cutStretches, type Mark } from '#extensions/rlm/page/source/cut-stretches.ts';
import { findQuote, findWords, type KeptChunk } from '#extensions/rlm/page/source/kept-chunk.ts';
import { ends } from '../../../ends.ts';
import { runs } from '../../../property-runs.ts';

const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', 'é', '👩'), minLength: 1, maxLength: 160 });
const marked = text.chain((all) => {
  const offset = fc.nat(all.length - 1);
  const mark = fc
    .tuple(offset, offset)
    .map(([one, other]) => [Math.min(one, other), Math.max(one, other) + 1] as const);
  return fc.record({
    all: fc.constant(all),
    ranges: fc.array(mark, { minLength: 1, maxLength: 5 }),
    around: fc.nat(3),
  });
});

describe('stretches around quotations', () => {
  test('what is lit for a mark is its text; lines are whole and under their own number; every mark begins once', () => {
    fc.assert(
      fc.property(marked, ({ all, ranges, around }) => {
        const marks: readonly Mark[] = ranges.map(([from, to], at) => ({ anchor: `e${at + 1}`, from, to }));
        const shown = cutStretches({ text: all, firstLine: 10, marks, around }).flatMap(({ lines }) => lines);
        const lines = all.split('\n');
        for (const { number, pieces } of shown)
          assert.equal(pieces.map((piece) => piece.text).join(''), lines[number - 10], 'a line is whole');
        for (const { anchor, from, to } of marks) {
          const lit = shown.flatMap(({ pieces }) => pieces.filter(({ anchors }) => anchors.includes(anchor)));
          assert.equal(lit.map((piece) => piece.text).join(''), all.slice(from, to).replaceAll('\n', ''));
          const begins = shown
            .flatMap(({ pieces }) => pieces.flatMap((piece) => piece.begins))
            .filter((one) => one === anchor);
          assert.ok(begins.length === 1 || all.slice(from, to).trim() === '', 'a mark has one place to go to');
        }
      }),
      { numRuns: runs(400) },
    );
  });

  test('lines between are counted', () => {
    const lines = Array.from({ length: 30 }, (_, at) => `line ${at + 1}`).join('\n');
    const at = (what: string) => ({ from: lines.indexOf(what), to: lines.indexOf(what) + what.length });
    const marks = [
      { anchor: 'e1', ...at('line 5') },
      { anchor: 'e2', ...at('line 20') },
    ];
    const stretches = cutStretches({ text: lines, firstLine: 1, marks, around: 1 });
    assert.deepEqual(
      stretches.map(({ skipped, lines: shown }) => [skipped, shown.map(({ number }) => number)]),
      [
        [3, [4, 5, 6]],
        [12, [19, 20, 21]],
      ],
    );
  });

  test('line ends of Windows are no part of a line', () => {
    const [stretch] = cutStretches({
      text: 'one\r\ntwo\r\n',
      firstLine: 1,
      marks: [{ anchor: 'e1', from: 0, to: 8 }],
      around: 0,
    });
    assert.deepEqual(
      stretch?.lines.map(({ pieces }) => pieces.map((piece) => piece.text)),
      [['one'], ['two']],
    );
  });
});

describe('where a quotation stands', () => {
  const chunk = (content: string, start_byte = 0): KeptChunk => ({
    chunk_id: 'a:1-9',
    start_line: 1,
    start_byte,
    text: content,
  });
  const place = (start_byte: number, end_byte: number) => ({
    source_path: 'a',
    start_line: 1,
    end_line: 1,
    start_byte,
    end_byte,
  });
  const said = (content: string, range: { readonly from: number; readonly to: number } | null) =>
    range && content.slice(range.from, range.to);

  test('bytes decide which of two equal quotations it is, also behind letters of several bytes', () => {
    const content = 'é same ü same 👩 same';
    const at = Buffer.byteLength('é same ü ');
    const range = findQuote(chunk(content, 1_000), 'same', place(1_000 + at, 1_004 + at));
    assert.equal(range?.from, content.indexOf('same', 8));
    assert.equal(said(content, range), 'same');
  });

  test('when the bytes point elsewhere the words decide; white space does not matter; what is not there is not found', () => {
    const content = 'first line\n   second  line';
    assert.equal(said(content, findQuote(chunk(content), 'line second line', place(0, 3))), 'line\n   second  line');
    assert.equal(findQuote(chunk(content), 'third', null), null);
    assert.equal(findWords(content, '  '), null);
    assert.equal(findQuote(chunk(content), 'first', place(5_000, 5_005))?.from, 0);
    assert.equal(findQuote(chunk(content), 'first', place(-9, -4))?.from, 0);
  });

  test('characters that mean something in a pattern are words as others', () => {
    const quote = 'a.b*c (x|y) [z] {1,2} ^$ \\d+ a-b /q/ #&~';
    const content = `before ${quote} after`;
    assert.equal(said(content, findWords(content, quote)), quote);
    assert.equal(findWords('axb', 'a.b'), null);
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '\u00a0', '(', '\\', '\u{10ffff}'), maxLength: 40 }),
        (words) => {
          const around = `x ${words.replaceAll(' ', ' \t')} y`;
          const found = findWords(around, words);
          assert.equal(found === null, words.trim() === '');
          if (found === null) return;
          const fold = (one: string) => one.replace(/\s+/g, ' ').trim();
          assert.equal(fold(said(around, found) ?? ''), fold(words));
          assert.equal(said(around, found), said(around, found)?.trim(), 'it begins and ends with a word');
        },
      ),
    );
  });

  test('a quotation of many words is looked for in linear time', () => {
    const words = 180_000;
    const many = 'a  '.repeat(600_000);
    ends('findWords', () => {
      assert.equal(findWords(many, `${'a '.repeat(words)}b`), null);
      assert.deepEqual(findWords(`  ${many}`, 'a '.repeat(words)), { from: 2, to: 2 + words * 3 - 2 });
    });
  });
});
