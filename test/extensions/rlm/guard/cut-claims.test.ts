import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { validateParentSynthesis } from '#extensions/rlm/guard/validate-parent-synthesis.ts';
import { ends } from '../../../ends.ts';
import { verifies } from '../../../verifies.ts';
import { CUT_QUOTATIONS, SOUND_QUOTATIONS } from './cut-quotations.ts';

const NAME = { fact_id: 'only-1', evidence_chunk_id: 'a:1-2' };

function reasonsOf(text: string, piece: unknown): readonly string[] {
  const manifest = [{ fact_id: 'only-1', chunk_id: 'a:1-2', text }];
  const synthesis = { result: { facts: [NAME, piece] } };
  return validateParentSynthesis({ manifest, synthesis }).rejected_claims.map(({ reason }) => reason);
}

describe('a claim cut from the words that turn or limit it', () => {
  verifies(
    'rlm:strict:text-mismatch',
    'is refused in every field, also under its own id, and as a piece that cites nothing',
    () => {
      for (const [sentence, quote] of CUT_QUOTATIONS) {
        for (const field of ['text', 'statement', 'claim', 'summary', 'quoted_evidence']) {
          for (const said of [quote, `"${quote.toUpperCase()}"`, `FACT:only-1 ${quote}`]) {
            const claim = { ...NAME, [field]: said };
            assert.deepEqual(reasonsOf(sentence, claim), ['evidence_text_mismatch'], `${field}: ${said}`);
          }
        }
        assert.deepEqual(reasonsOf(`FACT:only-1 ${sentence}`, quote), ['claim_outside_schema'], quote);
        assert.deepEqual(reasonsOf(`The lamp burns. ${sentence} So it is.`, { ...NAME, text: quote }), [
          'evidence_text_mismatch',
        ]);
      }
    },
  );

  test('is accepted with its sentence, and a whole one among others', () => {
    for (const [sentence] of CUT_QUOTATIONS)
      assert.deepEqual(
        reasonsOf(`The lamp burns. ${sentence}`, { ...NAME, text: sentence, quoted_evidence: sentence }),
        [],
      );
    for (const [text, quote] of SOUND_QUOTATIONS) {
      assert.deepEqual(reasonsOf(text, { ...NAME, text: quote, quoted_evidence: quote }), [], quote);
      assert.deepEqual(reasonsOf(`FACT:only-1 ${text}`, { ...NAME, text: quote }), [], quote);
    }
  });

  test('is found in linear time', () => {
    const long = 'the lamp burns and '.repeat(50_000);
    const dots = `x${' '.repeat(200_000)}y${'.'.repeat(200_000)}`;
    ends('the search', () => {
      const lamp = { ...NAME, text: 'lamp burns and the lamp' };
      assert.deepEqual(reasonsOf(`${long} not`, lamp), ['evidence_text_mismatch']);
      assert.deepEqual(reasonsOf('a. '.repeat(200_000), { ...NAME, quoted_evidence: 'a. a.' }), [
        'evidence_text_mismatch',
      ]);
      assert.deepEqual(reasonsOf(dots, { ...NAME, quoted_evidence: 'x' }), ['evidence_text_mismatch']);
    });
  });
});
