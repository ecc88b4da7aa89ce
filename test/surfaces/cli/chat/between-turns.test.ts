import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ok } from '#base/result.ts';
import type { Learning, LearningOffer } from '#mind/learning/learning.ts';
import { BetweenTurns } from '#surfaces/cli/chat/chat-session.ts';
import { verifies } from '../../../verifies.ts';

const OFFER: LearningOffer = { id: 'prop_1', line: 'Keep the skill "release"?', text: '# release\n1. Run `make`' };

/** Learning as a surface sees it: one announcement, the given drafts, and what was done with them. */
function desk(offers: readonly LearningOffer[]) {
  const done: string[] = [];
  const said = ['Remembered: tabs. /undo takes it back.'];
  const learning = {
    announcements: () => said.splice(0),
    offers: () => offers,
    accept: async (id: string, options?: { readonly always?: boolean }) => {
      done.push(`accept ${id}${options?.always ? ' always' : ''}`);
      return ok('Kept.');
    },
    reject: async (id: string) => {
      done.push(`reject ${id}`);
      return ok('Dropped.');
    },
  };
  return { learning: learning as unknown as Learning, done };
}

function sourceOf(learning: Learning) {
  return { load: async () => learning, mayHaveNews: () => true };
}

function answering(...answers: readonly string[]) {
  const waiting = [...answers];
  return async () => waiting.shift();
}

const never = new AbortController().signal;

describe('between two turns', () => {
  verifies(['core:skills:confirm-create-and-delete'], 'a draft is kept only after a yes', async () => {
    for (const [answer, expected] of [
      ['y', ['accept prop_1']],
      ['n', ['reject prop_1']],
      ['always', ['accept prop_1 always']],
      ['', []],
    ] as const) {
      const { learning, done } = desk([OFFER]);
      const lines = await Array.fromAsync(new BetweenTurns(sourceOf(learning), answering(answer)).say(never));
      assert.deepEqual(done, expected, answer);
      assert.match(lines[0] ?? '', /Remembered/);
    }
  });

  test('five drafts at a time, and how many more there are', async () => {
    const offers = Array.from({ length: 12 }, (_, at) => ({ ...OFFER, id: `prop_${at}` }));
    const { learning, done } = desk(offers);
    const between = new BetweenTurns(sourceOf(learning), answering(...Array(12).fill('n')));
    const first = await Array.fromAsync(between.say(never));
    assert.equal(done.length, 5);
    assert.equal(first.at(-1), 'and 7 more: /pending list');
    assert.equal((await Array.fromAsync(between.say(never))).at(-1), 'and 2 more: /pending list');
    assert.doesNotMatch((await Array.fromAsync(between.say(never))).join('\n'), /more:/);
    assert.equal(done.length, 12);
  });

  test('show shows the whole draft and asks again', async () => {
    const { learning, done } = desk([OFFER]);
    const lines = await Array.fromAsync(new BetweenTurns(sourceOf(learning), answering('show', 'y')).say(never));
    assert.ok(lines.includes(OFFER.text));
    assert.deepEqual(done, ['accept prop_1']);
  });

  test('a line that is no answer is the next line; the draft waits and is asked about once', async () => {
    const { learning, done } = desk([OFFER]);
    const between = new BetweenTurns(sourceOf(learning), answering('read notes.txt', 'y'));
    const lines = await Array.fromAsync(between.say(never));
    assert.match(lines.at(-1) ?? '', /waits.*prop_1/);
    assert.equal(between.takeLine(), 'read notes.txt');
    assert.equal(between.takeLine(), undefined);
    assert.deepEqual(await Array.fromAsync(between.say(never)), []);
    assert.deepEqual(done, []);
  });

  test('where nobody can answer, it is said how to keep it', async () => {
    const { learning, done } = desk([OFFER]);
    const lines = await Array.fromAsync(new BetweenTurns(sourceOf(learning), undefined).say(never));
    assert.match(lines.at(-1) ?? '', /pending accept prop_1/);
    assert.deepEqual(done, []);
  });
});
