import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openDescribed, textSource } from '#extensions/rlm/repl/file-bytes.ts';
import { contextSourceContract } from './context-source.contract.ts';

describe('a source over a text', () => {
  contextSourceContract(async (text) => ({ source: textSource(text), close: () => undefined }));

  test('half characters become U+FFFD, so that bytes and text agree', () => {
    assert.equal(textSource('a\ud800b').slice(0, 9).text, 'a\ufffdb');
  });

  test('an empty text has no line and no byte', () => {
    const source = textSource('');
    assert.deepEqual([source.byte_count, source.line_count], [0, 0]);
    assert.equal(source.slice(0, 5).text, '');
    assert.equal(source.find('a', 0), -1);
  });

  test('opened again from its description it is the same', () => {
    const source = textSource('one\ntwo', 'piece');
    const again = openDescribed(structuredClone(source.description));
    assert.deepEqual(again.stamps, source.stamps);
    assert.equal(again.slice(4, 7).text, 'two');
  });
});
