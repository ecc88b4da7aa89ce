// The contract of ContextSource, run by every implementation. The reference is the plainest code over the whole bytes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ContextSource } from '#extensions/rlm/repl/parted-source.ts';

export interface OpenedSource {
  readonly source: ContextSource;
  readonly close: () => void | Promise<void>;
}

const TEXTS: Readonly<Record<string, string>> = {
  'one line': 'only this',
  'lines with LF': 'one\ntwo\n\nfour\n',
  'lines with CRLF': 'one\r\ntwo\r\n\r\nfour',
  'lone CR': 'one\rtwo\r\rfour\r',
  'a byte order mark': '\uFEFFone\ntwo\n',
  'characters of many bytes': 'äöü€\n𝄞𝄞 ends\nпривет\n',
  'only line ends': '\n\r\n\r\r\n',
  'a line longer than a page': `${'ab€'.repeat(60_000)}\nshort\n${'x'.repeat(70_000)}`,
  'a CRLF across the border of a page': `${'x'.repeat(65_535)}\r\ny\r\nz`,
};

const LINE = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 12 }), fc.constantFrom('', '\uFEFF', 'ß', '€uro', '𝄞'));
const TEXT = fc
  .array(fc.tuple(LINE, fc.constantFrom('\n', '\r\n', '\r', '')), { minLength: 1, maxLength: 20 })
  .map((lines) => lines.flat().join('').toWellFormed())
  .filter((text) => text.length > 0);

export function contextSourceContract(open: (text: string) => Promise<OpenedSource>): void {
  const withSource = async (text: string, run: (source: ContextSource, bytes: Buffer) => void) => {
    const { source, close } = await open(text);
    try {
      run(source, Buffer.from(text));
    } finally {
      await close();
    }
  };

  for (const [name, text] of Object.entries(TEXTS))
    test(`${name}: every line, every border`, () =>
      withSource(text, (source, bytes) => {
        agrees(source, bytes);
        for (let at = 0; at < Math.min(bytes.length, 40); at += 1) sliceAgrees(source, bytes, at, at + 3);
      }));

  test('any text: lines, slices, places and finds are those of the whole', async () => {
    const at = fc.nat(120);
    await fc.assert(
      fc.asyncProperty(TEXT, at, at, fc.string({ maxLength: 3 }), async (text, from, length, needle) =>
        withSource(text, (source, bytes) => {
          agrees(source, bytes);
          sliceAgrees(source, bytes, from, from + length);
          const wanted = needle.toWellFormed();
          assert.equal(source.find(wanted, from), bytes.indexOf(wanted, Math.min(from, bytes.length)));
        }),
      ),
      { numRuns: 60 },
    );
  });

  test('ranges beyond the ends are cut, empty ones are empty', () =>
    withSource('one\ntwo', (source) => {
      assert.equal(source.slice(-5, 999).text, 'one\ntwo');
      assert.equal(source.slice(5, 2).text, '');
      assert.equal(source.slice(7, 9).text, '');
      assert.equal(source.find('one', 1), -1);
      assert.equal(source.find('two', 4), 4);
    }));

  test('the stamp is the hash of the bytes, and the same text has the same', async () => {
    const stamps: unknown[] = [];
    for (let run = 0; run < 2; run += 1)
      await withSource('abc', (source) => stamps.push(source.stamps.map(({ bytes, hash }) => ({ bytes, hash }))));
    const hash = 'sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
    assert.deepEqual(stamps, [[{ bytes: 3, hash }], [{ bytes: 3, hash }]]);
  });
}

function agrees(source: ContextSource, bytes: Buffer): void {
  const lines = linesOf(bytes);
  assert.equal(source.byte_count, bytes.length);
  assert.equal(source.line_count, lines.length);
  const step = Math.max(1, Math.floor(lines.length / 200));
  for (let at = 0; at < lines.length; at += step) {
    const { start, end } = lines[at]!;
    assert.deepEqual(source.lineBounds(at + 1), { start_byte: start, end_byte: end });
    assert.equal(source.slice(start, end).text, bytes.toString('utf8', start, end));
    const place = source.place(start, Math.max(start + 1, end));
    assert.deepEqual([place.start_line, place.start_byte], [at + 1, Math.min(start, bytes.length)]);
  }
}

function sliceAgrees(source: ContextSource, bytes: Buffer, start: number, end: number): void {
  const found = source.slice(start, end);
  assert.ok(found.start_byte <= Math.min(start, bytes.length) && found.start_byte > Math.min(start, bytes.length) - 4);
  assert.ok(found.end_byte <= Math.max(found.start_byte, end + 3));
  assert.equal(found.text, bytes.toString('utf8', found.start_byte, found.end_byte));
  assert.ok(!found.text.includes('\uFFFD'), 'no character of valid text is cut');
  if (start < end && start < bytes.length) assert.ok(found.end_byte >= Math.min(end, bytes.length));
}

/** Text of each line without its end; a byte order mark is no part of the first. */
function linesOf(bytes: Buffer): { readonly start: number; readonly end: number }[] {
  const text = bytes.toString('latin1');
  const lines: { start: number; end: number }[] = [];
  for (const found of text.matchAll(/([^\r\n]*)(\r\n|\n|\r|$)/g)) {
    if (found[0] === '' && found.index === text.length) break;
    const mark = found.index === 0 && text.startsWith('\xef\xbb\xbf') ? 3 : 0;
    lines.push({ start: found.index + mark, end: found.index + found[1]!.length });
  }
  return lines;
}
