import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type ChunkText, checkFacts } from '#extensions/rlm/run/evidence/check-facts.ts';
import { FactLedger } from '#extensions/rlm/run/evidence/fact-ledger.ts';
import type { FreshFact } from '#extensions/rlm/run/run-outcome.ts';
import { CUT_QUOTATIONS, SOUND_QUOTATIONS } from '../../guard/cut-quotations.ts';

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

describe('a quotation cut from the words that turn or limit it', () => {
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

  test('enters as it is where the rest turns nothing', () => {
    for (const [text, quote] of SOUND_QUOTATIONS.slice(0, -1)) assert.equal(harvest(text, [quote])[0]?.text, quote);
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
        ['f001.02', 'The lamp burns'],
      ],
    );
    const chunk = chunkOf('F7 only admins may delete');
    const both = [
      { text: 'admins', fact_id: 'F7', chunk_id: null },
      { text: 'delete', fact_id: null, chunk_id: null },
    ];
    assert.deepEqual(
      checkFacts(both, [chunk]).facts.map((fact) => [fact.fact_id, fact.text]),
      [['F7', 'F7 only admins may delete']],
    );
  });

  test('of a sentence without end the words near by enter', () => {
    const text = `${'wörd '.repeat(5_000)}not here ${'wörd '.repeat(5_000)}`;
    const [fact] = harvest(text, ['here']);
    assert.ok(fact?.text.includes('not here') && fact.text.length <= 2_010);
    assert.match(fact?.text ?? '', /^(?:wörd )+not here(?: wörd)+$/);
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
