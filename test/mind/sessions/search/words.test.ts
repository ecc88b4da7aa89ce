import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stemWord } from '#base/text/stem-word.ts';
import {
  analyseText,
  ENDS_AS_QUESTION,
  HAS_QUESTION,
  SAYS_HOW_MANY,
  SAYS_WHEN,
} from '#mind/sessions/search/analyse-text.ts';
import { relatedStems } from '#mind/sessions/search/related-words.ts';
import { typingErrors } from '#mind/sessions/search/word-variants.ts';

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
