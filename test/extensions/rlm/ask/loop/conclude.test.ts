import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { SpanHandle } from '#extensions/rlm/ask/ask-outcome.ts';
import { conclude, reachedHandles } from '#extensions/rlm/ask/loop/conclude.ts';
import { textSource } from '#extensions/rlm/repl/source/text-source.ts';
import { computed, span } from '../gate/handles.ts';

const SOURCE = textSource('The port is 8080.');

describe('what an answer may rest on', () => {
  const megabyte = 'The port is 8080. '.repeat(60_000);
  const reads: string[] = [];
  const long = (id: string): SpanHandle => ({
    ...span(id, ''),
    get quote() {
      reads.push(id);
      return megabyte;
    },
  });

  test('more than can be held is left out, counted, and not read', () => {
    const handles = Array.from({ length: 5_000 }, (_, at) => long(`h${at + 1}`));
    const answer = Array.from({ length: 50 }, (_, at) => ({
      text: `The port is 8080.`,
      handles: handles.slice(at * 5, at * 5 + 5).map(({ id }) => id),
    }));
    const { sentences, left_out, cited } = conclude(answer, handles, SOURCE);
    assert.deepEqual([sentences.length, left_out, cited], [1, 49, 1]);
    assert.ok(new Set(reads).size <= 10, `${new Set(reads).size} were read`);
    assert.equal(reachedHandles(sentences, handles).length, 5);
  });

  test('what it rests on counts too', () => {
    const handles = [...Array.from({ length: 9 }, (_, at) => long(`s${at}`))];
    const made = computed('c1', 9, { inputs: handles.map(({ id }) => id) });
    const judged = conclude([{ text: 'There are 9 ports.', handles: ['c1'] }], [...handles, made], SOURCE);
    assert.deepEqual([judged.sentences.length, judged.left_out], [0, 1]);
  });
});
