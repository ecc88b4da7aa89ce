import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { foldText } from '#base/text/fold.ts';
import { isLeftOut, parseIgnoreFile, starTest } from '#base/text/glob.ts';
import { findQuote, foldQuote, isWholeUnit, WholeQuotes } from '#base/text/quotes.ts';
import { cutSentences, type SentenceRule, sentenceAt, sentencesOf } from '#base/text/sentences.ts';
import { findUnseen, spellUnseen } from '#base/text/unseen.ts';
import { ends } from '../ends.ts';
import { runs } from '../property-runs.ts';

const RULES: readonly SentenceRule[] = ['prose', 'said', 'clause', 'scored'];

describe('sentences', () => {
  test('prose is wrapped, has abbreviations, and ends in doubt nowhere', () => {
    const text = 'Dr. Wu met us on 14. May, e.g. at noon; she\nleft. "Go on!" he said.\n東京です。大阪です。';
    assert.deepEqual(sentencesOf(text, 'prose'), [
      'Dr. Wu met us on 14. May, e.g. at noon; she\nleft.',
      '"Go on!" he said.\n東京です。',
      '大阪です。',
    ]);
  });

  test('what is said ends with its line, and a clause with its semicolon', () => {
    const text = 'use pnpm. never npm; port 80.\nand vim (always!) too';
    assert.deepEqual(sentencesOf(text, 'said'), ['use pnpm.', 'never npm; port 80.', 'and vim (always!)', 'too']);
    assert.deepEqual(sentencesOf(text, 'clause').slice(1, 3), ['never npm;', 'port 80.']);
    const wrapped = 'this line is long enough to have been wrapped\nby hand. this one\n- is not';
    const cut = cutSentences(wrapped, 'clause', { wrapped: true }).map(({ start, end }) => wrapped.slice(start, end));
    assert.deepEqual(cut, ['this line is long enough to have been wrapped\nby hand.', 'this one', '- is not']);
  });

  test('one is found around a place, and says whether it is whole', () => {
    const text = 'One. Two is here. Three.';
    const { start, end, isWhole } = sentenceAt(text, text.indexOf('is'), 'said', 20);
    assert.deepEqual([text.slice(start, end), isWhole], ['Two is here.', true]);
    assert.equal(sentenceAt(`${'a'.repeat(50)} b`, 40, 'said', 10).isWhole, false);
  });

  test('they are stretches in order, by every rule, and any text ends', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom(...RULES), fc.boolean(), (text, rule, wrapped) => {
        let last = 0;
        for (const { start, end } of cutSentences(text, rule, { wrapped })) {
          assert.ok(last <= start && start < end && end <= text.length);
          assert.equal(text.slice(start, end), text.slice(start, end).trim());
          last = end;
        }
      }),
      { numRuns: runs(1_000) },
    );
    for (const unit of ['. ', '.)', '\n', '。', 'a\n', '! A'])
      for (const rule of RULES) ends(`${rule} ${unit}`, () => cutSentences(unit.repeat(60_000), rule));
  });
});

describe('the fold', () => {
  test('leaves nothing to fold', () => {
    const any = fc.string({ unit: 'binary' });
    const how = fc.constantFrom('words', 'name', 'seen', 'scored');
    const folds = fc.property(any, how, (text, one) =>
      assert.equal(foldText(foldText(text, one), one), foldText(text, one)),
    );
    fc.assert(folds, { numRuns: runs(500) });
  });

  test('makes equal what is named, and nothing else', () => {
    assert.equal(foldText('“Größe”  ist ٤٢'), '"größe" ist 42');
    assert.equal(foldText('Ａda\u200b', 'name'), 'ada');
    assert.equal(foldText('Ada', 'seen'), 'Ada');
    assert.equal(foldText('ignоre  “all”', 'looks'), 'ignore  "all"');
    assert.notEqual(foldText('a b', 'words'), foldText('ab', 'words'));
  });
});

describe('quotations', () => {
  test('stand at the edges of words and numbers', () => {
    assert.deepEqual(findQuote(foldText('port 8080, port 80.'), foldQuote('port 80')), [11]);
    assert.deepEqual(findQuote('3.5 GB', '5 GB'), []);
  });

  test('are whole when they are all of a sentence, a line or an item', () => {
    const text = 'The port is 8080. It is\nfinal.\n- the first item';
    const whole = (quote: string) => new WholeQuotes(text).find(quote)?.isWhole;
    assert.deepEqual(['It is final.', 'the first item', 'port is 8080'].map(whole), [true, true, false]);
    assert.equal(whole('nothing of it'), undefined);
    assert.equal(isWholeUnit('it is final', text), true);
    assert.equal(isWholeUnit('is final', text), false);
  });
});

test('what nobody sees is spelled out, but for what joins pictures', () => {
  const spell = (code: number) => `<${code.toString(16)}>`;
  assert.equal(spellUnseen('a\u202eb\u{E0041}\n👩‍🚀', spell), 'a<202e>b<e0041>\n👩‍🚀');
  assert.equal(findUnseen('می‌خواهم 👩‍🚀 \u{1F3F4}\u{E0067}\u{E007F}'), undefined);
  assert.equal(findUnseen('pay\u202epal'), 'U+202E at 3');
});

test('patterns: a star over all, and files left out with their folders', () => {
  assert.ok(starTest('@*:a.example')('@x/y:a.example'));
  assert.ok(!starTest('@*:a.example')('@x:aXexample'));
  const rules = parseIgnoreFile('assets/private\n*.log\n!keep.log');
  assert.deepEqual(
    ['assets/private/a/b', 'x/y.log', 'x/keep.log', 'assets/public'].map((path) => isLeftOut(path, rules)),
    [true, true, false, false],
  );
});
