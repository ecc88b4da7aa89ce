/** Tables that fit the terminal, whatever is in them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { displayWidth, tableLines, wrapWords } from '#surfaces/cli/table-lines.ts';
import { verifies } from '../../verifies.ts';

describe('table lines', () => {
  it('wrap the last column under itself', () => {
    const lines = tableLines(['tool', 'what it does'], [['terminal', 'runs a command and shows what came of it']], 40);
    assert.deepEqual(lines, [
      'tool      what it does',
      'terminal  runs a command and shows what',
      '          came of it',
    ]);
  });

  it('put it on lines of its own where little room is left', () => {
    const lines = tableLines(['a long first column', 'text'], [['x', 'some words that do not fit there']], 30);
    assert.deepEqual(lines, ['a long first column  text', 'x', '    some words that do not fit', '    there']);
  });

  it('stay whole where the width is not known', () => {
    assert.deepEqual(tableLines(['a'], [['word '.repeat(60)]])[1]?.length, 299);
    assert.deepEqual(tableLines(['a'], [['some words']], 0), ['a', 'some words'], 'a pty without a size');
  });

  verifies('core:cli:wide-characters', 'no line is wider than the terminal, and no character is lost', () => {
    const cell = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.constantFrom('日本語', '👩‍💻', 'e\u0301', 'ﷺ'),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell), { maxLength: 5 }), fc.integer({ min: 8, max: 90 }), (rows, width) => {
        const lines = tableLines(['n', 'text'], rows, width);
        for (const line of lines) assert.ok(displayWidth(line) <= width, `${displayWidth(line)} > ${width}: ${line}`);
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 2, max: 40 }), (text, width) => {
        const bare = (given: string) => given.replace(/\s+/g, '');
        assert.equal(bare(wrapWords(text, width).join('')), bare(text));
      }),
    );
  });
});
