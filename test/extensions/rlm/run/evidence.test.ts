import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { proseLines } from '#extensions/rlm/run/evidence/claimed-facts.ts';
import { quoteFinder } from '#extensions/rlm/run/evidence/quote-finder.ts';
import { ends } from '../../../ends.ts';

describe('a quotation', () => {
  for (const [text, quote, stands] of [
    ['The quick brown fox.', 'quick brown', true],
    ['The quick\n   brown\tfox.', 'quick brown fox.', true],
    ['The quick brown fox.', 'Quick brown', false],
    ['The quick brown fox.', 'uick brown', false],
    ['The quick brown fox.', 'quick bro', false],
    ['port 8080', 'port 80', false],
    ['it is 13.5 km', '3.5 km', false],
    ['it is 3.5 km', '5 km', false],
    ['it is 1,500 km', '500 km', false],
    ['it is -5 degrees', '5 degrees', false],
    ['pages 3-5 only', '5 only', true],
    ['version 2', 'version 2', true],
    ['version 2.1', 'version 2', false],
    ['5 then 15 then 5.', '5.', true],
    ['東京都は日本の首都です。', '日本の首都', true],
    ['naïve café', 'naïve caf', false],
    ['a 👍 b', '👍 b', true],
    ['anything', '...', false],
    ['anything', '', false],
    ['(see x)', 'see x', true],
  ] as const) {
    test(`${JSON.stringify(quote)} ${stands ? 'stands' : 'does not stand'} in ${JSON.stringify(text)}`, () => {
      assert.equal(quoteFinder(text).find(quote) !== undefined, stands);
    });
  }

  test('is found where it is, whatever the white space around and in it', () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/);
    const blank = fc.stringMatching(/^[ \n\t]{1,3}$/);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(word, blank), { minLength: 3, maxLength: 30 }),
        fc.nat(),
        fc.nat(),
        (pairs, a, b) => {
          const text = pairs.flat().join('');
          const from = a % pairs.length;
          const to = from + 1 + (b % (pairs.length - from));
          const words = pairs.slice(from, to).map(([one]) => one);
          const place = quoteFinder(text).find(`  ${words.join('\n ')} `);
          assert.ok(place);
          assert.deepEqual(text.slice(place.start, place.end).split(/\s+/), words);
        },
      ),
    );
  });

  test('is looked for in linear time, also when it nearly stands everywhere', () => {
    const finder = quoteFinder('ab'.repeat(2_000_000));
    assert.equal(
      ends('find', () => finder.find('ab'.repeat(100_000))),
      undefined,
    );
  });

  test('of prose is a line without its list mark and quotation marks', () => {
    assert.deepEqual(proseLines('- one two three four\n2. "five six seven"\nshort\n  * one two three four'), [
      'one two three four',
      'five six seven',
    ]);
  });
});
