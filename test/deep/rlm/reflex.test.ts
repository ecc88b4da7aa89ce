import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { DOCUMENT_QUESTIONS, LATER_QUESTIONS } from '../../extensions/rlm/reflex/questions.ts';
import { askByRule } from '../../extensions/rlm/reflex/reflex-ask.ts';

const ROOT = join(import.meta.dirname, '../../..');

test('of thirty-five questions over our own documents asking answers twenty-eight', async () => {
  const missed: string[] = [];
  for (const { document, question, answer } of [...DOCUMENT_QUESTIONS, ...LATER_QUESTIONS]) {
    const outcome = await askByRule(readFileSync(join(ROOT, document), 'utf8'), question);
    const cited = outcome.sentences.filter(({ grade }) => grade === 'quoted').map(({ text }) => text);
    if (!cited.join(' ').includes(answer)) missed.push(question);
  }
  assert.ok(missed.length <= 7, missed.join('\n'));
});
