// What is read out of words: kinds of sentences, relatives, dates, and the part of a text that is shown.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { localMidnight } from '#base/clock.ts';
import { stemWord } from '#base/text/words.ts';
import { makeSnippet } from '#mind/sessions/search/message-search.ts';
import { dateHints, relatedStems } from '#mind/sessions/search/query-plan.ts';
import {
  analyseText,
  ENDS_AS_QUESTION,
  HAS_QUESTION,
  SAYS_HOW_MANY,
  SAYS_WHEN,
} from '#mind/sessions/search/search-lane.ts';
import { typingErrors } from '#mind/sessions/search/word-variants.ts';
import { verifies } from '../../../verifies.ts';

describe('words of the index', () => {
  test('what kind of sentence it is', () => {
    const flags = (text: string) => analyseText(text).flags;
    assert.equal(flags('Where is it?') & ENDS_AS_QUESTION, ENDS_AS_QUESTION);
    assert.equal(flags('Why? Because of rain.') & (HAS_QUESTION | ENDS_AS_QUESTION), HAS_QUESTION);
    assert.equal(flags('We met last Tuesday') & SAYS_WHEN, SAYS_WHEN);
    assert.equal(flags('three of them') & SAYS_HOW_MANY, SAYS_HOW_MANY);
    assert.equal(flags('plain'), 0);
  });

  test('relatives are mutual and never the word itself', () => {
    const mother = relatedStems(stemWord('mother'));
    assert.ok((mother.get(stemWord('mom')) ?? 0) > 0);
    assert.ok(relatedStems(stemWord('mom')).has(stemWord('mother')));
    assert.ok(!mother.has(stemWord('mother')));
    assert.equal(relatedStems('zzzz').size, 0);
  });

  test('typing errors are counted with swaps, up to a limit', () => {
    assert.equal(typingErrors('museum', 'museum', 2), 0);
    assert.equal(typingErrors('musuem', 'museum', 2), 1);
    assert.equal(typingErrors('color', 'colour', 2), 1);
    assert.ok(typingErrors('kitten', 'sitting', 2) > 2);
  });
});

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

const at = (year: number, month: number, day: number) => localMidnight(year, month, day) + 10 * 3_600_000;
/** A Wednesday. */
const NOW = at(2026, 3, 18);

function fit(question: string, time: number): number {
  return Math.max(0, ...dateHints(question, NOW).map((hint) => hint.fit(time)));
}

describe('dates in a question', () => {
  test('a month fits any year, a named year only that one', () => {
    assert.equal(fit('what happened in July?', at(2023, 7, 9)), 1);
    assert.equal(fit('what happened in July?', at(2023, 8, 9)), 0);
    assert.equal(fit('in July 2022', at(2023, 7, 9)), 0);
    assert.ok(fit('in 2023', at(2023, 7, 9)) > 0);
    assert.equal(fit('in 2023', at(2022, 7, 9)), 0);
  });

  test('a whole day counts more than its month', () => {
    assert.ok(fit('on 9 July, 2023', at(2023, 7, 9)) > fit('on 9 July, 2023', at(2023, 7, 10)));
    assert.ok(fit('2023-07-09', at(2023, 7, 9)) > 1);
    assert.equal(fit('on Jul 9', at(2023, 7, 10)), 1);
  });

  test('may is a month only with a capital', () => {
    assert.equal(fit('what may she do', at(2026, 5, 5)), 0);
    assert.equal(fit('what did she do in May', at(2026, 5, 5)), 1);
  });

  test('words relative to now', () => {
    const inside: readonly (readonly [string, number])[] = [
      ['what did I say today', at(2026, 3, 18)],
      ['yesterday', at(2026, 3, 17)],
      ['last week', at(2026, 3, 10)],
      ['this week', at(2026, 3, 16)],
      ['last weekend', at(2026, 3, 14)],
      ['last month', at(2026, 2, 3)],
      ['last year', at(2025, 8, 3)],
      ['3 days ago', at(2026, 3, 15)],
      ['two weeks ago', at(2026, 3, 5)],
      ['a month ago', at(2026, 2, 20)],
      ['on Monday', at(2026, 3, 16)],
      ['lately', at(2026, 3, 10)],
    ];
    for (const [question, time] of inside) assert.equal(fit(question, time), 1, question);
    for (const [question] of inside) assert.equal(fit(question, at(2020, 1, 1)), 0, question);
    assert.equal(fit('yesterday', at(2026, 3, 18)), 0);
    assert.equal(fit('last week', at(2026, 3, 16)), 0);
  });

  test('a question without dates has no hint', () => {
    assert.deepEqual(dateHints('where is the key', NOW), []);
  });
});
