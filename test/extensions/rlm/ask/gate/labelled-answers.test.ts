// The grades of labelled sentences (test/data/judgement/answers.jsonl) by four judges: one that knows the labels, always yes, always no, none.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gradeAnswer, type ReadByModel } from '#extensions/rlm/ask/grade-answer.ts';
import { textSource } from '#extensions/rlm/repl/file-bytes.ts';
import type { Verdict } from '#mind/evidence/judge.ts';

interface Item {
  readonly id: string;
  readonly honest: boolean;
  readonly verdict: Verdict;
  readonly wrong: string | null;
  readonly source: string;
  readonly sentence: string;
  readonly lines: readonly number[];
  readonly grade: 'quoted' | 'supported' | 'not-supported';
}

const ITEMS = readFileSync(join(import.meta.dirname, '../../../../data/judgement/answers.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Item);
const HONEST = ITEMS.filter(({ honest }) => honest);
const WRONG = ITEMS.filter(({ honest }) => !honest);

const saying =
  (verdict: Verdict): ReadByModel =>
  async (sentences) =>
    sentences.map(() => ({ verdict, why: verdict, model: 'm/n' }));

async function gradeOf({ sentence, source, lines }: Item, read: ReadByModel | null) {
  const from = textSource(source, 'a.md');
  const cited = lines
    .map((line) => from.lineBounds(line))
    .map(({ start_byte, end_byte }) => [start_byte, end_byte] as const);
  const [graded] = await gradeAnswer(
    [{ text: sentence, handles: ['h1'], cited, computed: [], fault: null }],
    from,
    read,
  );
  assert.ok(graded);
  return graded;
}

async function shown(items: readonly Item[], judge: (item: Item) => ReadByModel | null): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const item of items) {
    const { grade } = await gradeOf(item, judge(item));
    if (grade === 'quoted' || grade === 'supported') ids.push(item.id);
  }
  return ids;
}

describe('labelled sentences of answers', () => {
  test('a judge that knows the labels: nine in ten honest ones carry a grade, and none of the wrong', async () => {
    const found = await shown(HONEST, ({ verdict }) => saying(verdict));
    const lost = HONEST.filter(({ id }) => !found.includes(id)).map(({ id }) => id);
    assert.ok(found.length >= HONEST.length * 0.9, `${found.length} of ${HONEST.length}, not: ${lost.join(', ')}`);
    assert.deepEqual(await shown(WRONG, ({ verdict }) => saying(verdict)), []);
  });

  test('a judge that says yes to everything shows no wrong value that its lines do not hold', async () => {
    const wrong = WRONG.filter((item) => item.wrong === 'hard-value');
    // The number of this one stands in the line that it cites; it is said of another thing.
    assert.deepEqual(await shown(wrong, () => saying('supported')), ['ans-en-007']);
  });

  test('no false shortening is quoted, whatever the judge; without one only whole units are', async () => {
    for (const item of WRONG) assert.notEqual((await gradeOf(item, saying('supported'))).grade, 'quoted', item.id);
    const found = await shown(ITEMS, () => null);
    assert.ok(ITEMS.filter(({ id }) => found.includes(id)).every(({ honest }) => honest));
  });

  test('a judge that says no: what is not quoted stands in its place, marked', async () => {
    for (const item of ITEMS) {
      const { grade, text, why } = await gradeOf(item, saying('goes-beyond'));
      if (grade !== 'quoted')
        assert.deepEqual([grade, text, why !== ''], ['not-supported', item.sentence, true], item.id);
    }
  });
});
