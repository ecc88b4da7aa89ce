import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  analyseText,
  contentStems,
  ENDS_AS_QUESTION,
  HAS_QUESTION,
  SAYS_HOW_MANY,
  SAYS_WHEN,
} from '#mind/sessions/search/analyse-text.ts';
import { typingErrors } from '#mind/sessions/search/word-variants.ts';
import { porterStem } from '#mind/sessions/search/words/porter-stem.ts';
import { relatedStems } from '#mind/sessions/search/words/related-words.ts';
import { splitWords } from '#mind/sessions/search/words/split-words.ts';
import { stemWord } from '#mind/sessions/search/words/stem-word.ts';

describe('words of the index', () => {
  test('stems follow the examples of the published algorithm', () => {
    const examples =
      'caresses caress ponies poni ties ti cats cat feed feed agreed agre plastered plaster motoring motor sing sing ' +
      'conflated conflat troubled troubl sized size hopping hop falling fall hissing hiss failing fail filing file happy happi ' +
      'sky sky relational relat conditional condit rational ration digitizer digit vietnamization vietnam operator oper ' +
      'hopefulness hope formality formal triplicate triplic formative form electrical electr goodness good revival reviv ' +
      'allowance allow inference infer airliner airlin adjustable adjust replacement replac adoption adopt effective effect ' +
      'probate probat rate rate cease ceas controlling control rolling roll';
    const words = examples.split(' ');
    for (let at = 0; at < words.length; at += 2) assert.equal(porterStem(words[at] ?? ''), words[at + 1], words[at]);
  });

  test('forms that no rule finds share a stem with their lemma', () => {
    const pairs = ['went go', 'bought buying', 'children child', 'wrote writing', 'taught teaches', 'mice mouse'];
    for (const [form = '', other = ''] of pairs.map((pair) => pair.split(' ')))
      assert.equal(stemWord(form), stemWord(other));
  });

  test('text is cut into words, whatever its script', () => {
    assert.deepEqual(splitWords("Anna's cat doesn’t like ÉCLAIRS"), ['anna', 'cat', 'doesnt', 'like', 'eclairs']);
    assert.deepEqual(splitWords('東京タワー'), ['東京', '京タ', 'タワ', 'ワー']);
    assert.deepEqual(splitWords('水 and 안녕하세요'), ['水', 'and', '안녕', '녕하', '하세', '세요']);
    assert.deepEqual(splitWords('run_turn parseTextCalls HTTPServer v2.3'), [
      ...['run', 'turn', 'parsetextcalls', 'parse', 'text', 'calls', 'httpserver', 'http', 'server', 'v2', '3'],
    ]);
    assert.deepEqual(splitWords('well 🎉 done'), ['well', '🎉', 'done']);
    assert.deepEqual(splitWords(' \0\u{d800} "*():^'), []);
  });

  test('a question and a text of the same word meet in one stem', () => {
    assert.deepEqual(contentStems('Is she camping?'), contentStems('camped'));
    assert.deepEqual(contentStems('what is the of and'), []);
  });

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
