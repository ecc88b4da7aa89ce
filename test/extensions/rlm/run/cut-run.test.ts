import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { verifyRun } from '#extensions/rlm/trace/verify-run.ts';
import { CUT_QUOTATIONS } from '../guard/cut-quotations.ts';
import {
  childReply,
  type Done,
  objectOf,
  parentReply,
  recordOf,
  requestOver,
  run,
  scripted,
  shownFacts,
} from './run-ground.ts';

/** Each sentence a chunk; its child quotes the part, and so does the parent, under the ids and chunks that it was shown. */
const CASES = CUT_QUOTATIONS.filter(([sentence, quote]) => sentence.includes(quote) && !sentence.includes('\n'));

function runOver(parentSays: 'parts' | 'sentences'): Promise<Done> {
  const text = CASES.map(([sentence], at) => `The lamp of pier ${at} burns.\n${sentence}\n`).join('\n');
  const quoteOf = (content: string): string => CASES.find(([sentence]) => content.includes(sentence))?.[1] ?? '';
  const inner = scripted((_, prompt) => {
    const context = objectOf(prompt.context);
    if (prompt.mode === 'synthesize_parent') {
      const shown = shownFacts(context);
      const cut = shown.map((fact) => ({ ...fact, text: quoteOf(String(fact.text)) }));
      return JSON.stringify(parentReply(parentSays === 'parts' ? cut : shown));
    }
    const quotes = CASES.filter(([sentence]) =>
      JSON.stringify(context).includes(JSON.stringify(sentence).slice(1, -1)),
    );
    return JSON.stringify(childReply(quotes.map(([, quote]) => ({ text: quote }))));
  });
  return run(requestOver(text, {}, 3), { inner });
}

describe('a run whose children and parent quote without the words that turn what they quote', () => {
  test('shows whole sentences as evidence and accepts no part of them', async () => {
    const { outcome } = await runOver('parts');
    assert.equal(outcome.verdict, 'refused');
    assert.deepEqual(outcome.claims, []);
    assert.deepEqual([...new Set(outcome.refused.map(({ reason }) => reason))], ['evidence_text_mismatch']);
    assert.deepEqual(new Set(outcome.evidence.map(({ text }) => text)), new Set(CASES.map(([sentence]) => sentence)));
  });

  test('accepts them when the parent says them whole, and the record verifies', async () => {
    const done = await runOver('sentences');
    const { outcome } = done;
    assert.equal(outcome.verdict, 'accepted');
    assert.deepEqual(new Set(outcome.claims.map(({ text }) => text)), new Set(CASES.map(([sentence]) => sentence)));
    assert.deepEqual(verifyRun(recordOf(done)), []);
  });
});
