import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { contentStems, porterStem, splitWords, stemWord } from '#base/text/words.ts';

describe('words and stems', () => {
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
});
