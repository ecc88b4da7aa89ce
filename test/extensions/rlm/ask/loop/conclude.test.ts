import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { conclude, reachedHandles } from '#extensions/rlm/ask/conclude.ts';
import type { Handle, SpanHandle } from '#extensions/rlm/outcome.ts';
import { textSource } from '#extensions/rlm/repl/file-bytes.ts';
import { computed, span } from '../handles.ts';

const TEXT = 'The port is 8080.';
const SOURCE = textSource(TEXT, 'notes.md');

async function gradesOf(handles: readonly Handle[], ...ids: readonly string[]) {
  const ground = { handles, source: SOURCE, read: null, quotedOnly: false };
  const { sentences } = await conclude([{ text: 'It has one port.', handles: ids }], ground);
  return sentences.map(({ grade, why }) => `${grade}: ${why}`);
}

describe('what an answer may rest on', () => {
  const megabyte = 'The port is 8080. '.repeat(60_000);
  const reads: string[] = [];
  const long = (id: string): SpanHandle => ({
    ...span(id, TEXT),
    get quote() {
      reads.push(id);
      return megabyte;
    },
  });

  test('more than can be held is left out, counted, and not read', async () => {
    const handles = Array.from({ length: 5_000 }, (_, at) => long(`h${at + 1}`));
    const answer = Array.from({ length: 50 }, (_, at) => ({
      text: TEXT,
      handles: handles.slice(at * 5, at * 5 + 5).map(({ id }) => id),
    }));
    const { sentences, left_out } = await conclude(answer, { handles, source: SOURCE, read: null, quotedOnly: false });
    assert.deepEqual([sentences.map(({ grade }) => grade), left_out], [['quoted'], 49]);
    assert.ok(new Set(reads).size <= 10, `${new Set(reads).size} were read`);
    assert.equal(reachedHandles(sentences, handles).length, 5);
  });

  test('what was computed from the context is shown, what was computed from nothing carries nothing', async () => {
    const made = [computed('c1', 9), computed('c2', 9, []), computed('c3', 9, ['c1', 'c2']), computed('c4', 9, ['c1'])];
    const nothing = ['not-supported: what it cites rests on nothing of the context'];
    assert.deepEqual(await gradesOf(made, 'c1'), ['computed: ']);
    assert.deepEqual(await gradesOf(made, 'c4'), ['computed: ']);
    assert.deepEqual(await gradesOf(made, 'c2'), nothing);
    assert.deepEqual(await gradesOf(made, 'c3'), nothing);
  });

  test('handles in a circle, forty deep or a thousand times each are no danger', async () => {
    const round = [computed('a', 1, ['b']), computed('b', 1, ['a'])];
    assert.deepEqual(await gradesOf(round, 'a'), ['not-supported: what it cites rests on nothing of the context']);
    const deep = Array.from({ length: 60 }, (_, at) => computed(`d${at}`, at, at === 0 ? ['context'] : [`d${at - 1}`]));
    assert.match((await gradesOf(deep, 'd59'))[0] ?? '', /^not-supported/);
    const wide = Array.from({ length: 35 }, (_, at) =>
      computed(`w${at}`, at, at === 0 ? ['context'] : Array.from({ length: 50 }, () => `w${at - 1}`)),
    );
    assert.deepEqual(await gradesOf(wide, 'w34'), ['computed: ']);
  });

  test('it cites nothing, or what is not there', async () => {
    assert.deepEqual(await gradesOf([]), ['not-supported: it cites nothing']);
    assert.deepEqual(await gradesOf([], 'h7'), ['not-supported: there is no handle h7']);
  });
});
