import assert from 'node:assert/strict';
import test from 'node:test';
import { harbour, requestOver, run } from '../run/run-ground.ts';
import { reflexInner } from './reflex-inner.ts';

test('a run without any model ends accepted, each claim a quotation of its chunk', async () => {
  const { outcome } = await run(requestOver(harbour(9)), { inner: reflexInner });
  assert.deepEqual([outcome.verdict, outcome.refused, outcome.refused_facts], ['accepted', [], []]);
  assert.equal(outcome.claims.length, 9);
  for (const { text } of outcome.claims) assert.ok(harbour(9).includes(text));
});

test('of a question for one of nine facts only that one is claimed', async () => {
  const question = 'How many ships did the harbour master count at pier 4?';
  const { outcome } = await run(requestOver(harbour(9), { question }), { inner: reflexInner });
  assert.deepEqual(
    outcome.claims.map(({ fact_ids }) => fact_ids),
    [['HB-004']],
  );
});

test('a question that nothing answers ends without evidence and claims nothing', async () => {
  const { outcome } = await run(requestOver(harbour(3), { question: 'Which giraffes sleep?' }), { inner: reflexInner });
  assert.deepEqual([outcome.verdict, outcome.claims], ['no_evidence', []]);
});
