import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { FreshFact } from '#extensions/rlm/outcome.ts';
import { type ChunkText, checkFacts, FactLedger } from '#extensions/rlm/run/fresh-facts.ts';
import { proseLines } from '#extensions/rlm/run/read-leaf.ts';
import { ends } from '../../../ends.ts';
import { CUT_QUOTATIONS } from '../guard/cut-quotations.ts';

function chunkOf(text: string): ChunkText {
  const end_line = 6 + text.split('\n').length;
  return {
    chunk_id: `a.txt:7-${end_line}`,
    source_path: 'a.txt',
    start_line: 7,
    end_line,
    start_byte: 100,
    end_byte: 100 + Buffer.byteLength(text),
    token_estimate: 1,
    truncated: false,
    lossy: false,
    text,
  };
}

/** The evidence of one reply that quotes these. */
function harvest(text: string, quotes: readonly string[], fact_id: string | null = null): readonly FreshFact[] {
  const chunk = chunkOf(text);
  const claimed = quotes.map((quote) => ({ text: quote, fact_id, chunk_id: null }));
  const { facts } = checkFacts(claimed, [chunk]);
  return new FactLedger([chunk.chunk_id]).add(facts, 'call_1');
}

const asWritten = ([sentence, quote]: readonly [string, string]): readonly [string, string] => {
  const at = sentence.toLowerCase().indexOf(quote.toLowerCase());
  return [sentence, sentence.slice(at, at + quote.length)];
};

describe('a quotation of a child', () => {
  test('enters the evidence with its whole sentence, its bytes and its lines', () => {
    for (const [sentence, quote] of CUT_QUOTATIONS.map(asWritten)) {
      const text = `Thé lamp burns.\n\n- ${sentence}\n\nSo it is.`;
      const [fact, ...others] = harvest(text, [quote]);
      assert.deepEqual([fact?.text, others.length], [sentence, 0]);
      const place = fact?.place;
      assert.ok(place);
      const bytes = Buffer.from(text).subarray(place.start_byte - 100, place.end_byte - 100);
      assert.equal(bytes.toString(), sentence);
      assert.deepEqual([place.start_line, place.end_line], [9, 8 + sentence.split('\n').length]);
    }
  });

  test('enters with its line, item, row or sentence where that is all', () => {
    for (const [text, quote, taken] of [
      ['hello world\nTalaria needs Node 24.\nport is 8080', 'needs Node 24', 'Talaria needs Node 24.'],
      ['- Paris is the capital of France. It may rain.', 'capital of France', 'Paris is the capital of France.'],
      ['- only admins write\n- guests read', 'guests', 'guests read'],
      ['| bell | 90 s |\n| lamp | 14 l |', '14 l', '| lamp | 14 l |'],
      ['FACT:HB-1 The bell rings. It is old.', 'The bell rings.', 'The bell rings.'],
      ['FACT:HB-1 The bell rings. It is old.', 'FACT:HB-1 The bell', 'FACT:HB-1 The bell rings.'],
      ['东京都是日本的首都。大阪不是。', '日本的首都', '东京都是日本的首都。'],
    ] as const)
      assert.deepEqual(
        harvest(text, [quote]).map((fact) => fact.text),
        [taken],
      );
  });

  test('that stands in no chunk, says no word or belongs to too long a sentence is refused', () => {
    const reasonOf = (text: string, quote: string) =>
      checkFacts([{ text: quote, fact_id: null, chunk_id: null }], [chunkOf(text)]).refused[0]?.reason;
    for (const quote of ['The Lamp burns', 'amp burns', 'The lamp  burned', 'port 80', '0 % of it', '日'])
      assert.equal(reasonOf('The lamp burns. It is port 8080, 3.0 % of it.', quote), 'not_in_chunk', quote);
    assert.equal(reasonOf('The lamp burns.', '...'), 'no_words');
    assert.equal(reasonOf(`not ${'wörd '.repeat(1_000)}here`, 'here'), 'too_long');
    assert.equal(reasonOf('The lamp burns.', 'x'.repeat(2_001)), 'too_long');
  });

  test('is looked for in linear time, also when it nearly stands everywhere', () => {
    const text = 'ab '.repeat(500_000);
    const claimed = [{ text: `${'ab '.repeat(600)}c`, fact_id: null, chunk_id: null }];
    ends('the check', () => assert.equal(checkFacts(claimed, [chunkOf(text)]).facts.length, 0));
  });

  test('of prose is a line without its list mark and quotation marks', () => {
    assert.deepEqual(proseLines('- one two three four\n2. "five six seven"\nshort\n  * one two three four'), [
      'one two three four',
      'five six seven',
    ]);
  });

  test('two of one sentence are one fact with one id', () => {
    const text = 'Only admins of the town may delete a project. The lamp burns.';
    const facts = harvest(text, [
      'may delete a project',
      'The lamp burns',
      'admins of the town',
      'Only admins of the town',
    ]);
    assert.deepEqual(
      facts.map((fact) => [fact.fact_id, fact.text]),
      [
        ['f001.01', 'Only admins of the town may delete a project.'],
        ['f001.02', 'The lamp burns.'],
      ],
    );
    const chunk = chunkOf('F7 only admins may delete');
    const both = [
      { text: 'admins', fact_id: 'F7', chunk_id: null },
      { text: 'delete', fact_id: null, chunk_id: null },
    ];
    assert.deepEqual(
      checkFacts(both, [chunk]).facts.map((fact) => [fact.fact_id, fact.text]),
      [['F7', 'only admins may delete']],
    );
  });

  test('whatever the text, the place only grows and holds what was quoted; a second reading changes nothing', () => {
    const piece = fc.constantFrom(
      'only ',
      'not ',
      'lamp ',
      'burns',
      '. ',
      '\n',
      ', ',
      '; ',
      '- ',
      'Big ',
      '? ',
      '。',
      'é ',
      '\r\n',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.nat(40), fc.nat(40), (pieces, a, b) => {
        const text = pieces.join('');
        const quote = pieces
          .slice(a, a + b)
          .join('')
          .trim();
        for (const { text: found, place } of checkFacts(
          [{ text: quote, fact_id: null, chunk_id: null }],
          [chunkOf(text)],
        ).facts) {
          assert.equal(text.slice(place.start, place.end), found);
          assert.ok(found.replace(/\s+/g, ' ').includes(quote.replace(/\s+/g, ' ')));
          assert.deepEqual(harvest(text, [quote]), harvest(text, [quote]));
        }
      }),
    );
  });
});
