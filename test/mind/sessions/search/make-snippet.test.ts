import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { stemWord } from '#base/text/stem-word.ts';
import { makeSnippet } from '#mind/sessions/search/make-snippet.ts';
import { verifies } from '../../../verifies.ts';

const weights = (...words: readonly string[]) => new Map(words.map((word) => [stemWord(word), 1]));

describe('snippets', () => {
  verifies('core:session:snippet', 'matched words are marked in any of their forms', () => {
    assert.equal(
      makeSnippet('We went camping by the lake.', weights('go', 'camp')),
      'We >>>went<<< >>>camping<<< by the lake.',
    );
  });

  test('of a long text the part with the most matches is cut out', () => {
    const filler = 'nothing to see here. '.repeat(60);
    const snippet = makeSnippet(
      `${filler}the harbour light was painted red${filler}harbour`,
      weights('harbour', 'paint'),
    );
    assert.match(snippet, /^….*>>>harbour<<< light was >>>painted<<< red.*…$/s);
    assert.ok(snippet.length < 300);
  });

  test('without its marks and dots it is a piece of the text, and well formed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 800 }), fc.string({ maxLength: 12 }), (text, word) => {
        fc.pre(!/[<>…]/.test(text));
        const snippet = makeSnippet(text, weights(word), 80);
        const plain = snippet.replaceAll('>>>', '').replaceAll('<<<', '').replace(/^…|…$/g, '');
        assert.ok(text.includes(plain));
        assert.ok(snippet.isWellFormed());
      }),
      { numRuns: 300 },
    );
  });
});
