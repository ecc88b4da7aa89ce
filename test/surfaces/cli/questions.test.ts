/** One question at a time, none left over when a turn is stopped. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QuestionQueue } from '#surfaces/cli/questions.ts';
import { verifies } from '../../verifies.ts';

const live = () => new AbortController().signal;

describe('questions', () => {
  it('are asked one after the other, and answered in that order', async () => {
    const seen: (string | undefined)[] = [];
    const queue = new QuestionQueue(() => seen.push(queue.current?.lines[0]));
    const first = queue.ask({ lines: ['one'] }, live());
    const second = queue.ask({ lines: ['two'] }, live());
    assert.equal(queue.answer('1'), true);
    assert.equal(queue.answer('2'), true);
    assert.deepEqual([await first, await second], ['1', '2']);
    assert.deepEqual(seen, ['one', 'two', undefined]);
    assert.equal(queue.answer('3'), false);
  });

  verifies('core:cli:ctrl-c', 'of a stopped turn wait no longer: the next line is no answer', async () => {
    const queue = new QuestionQueue(() => undefined);
    const stop = new AbortController();
    const asked = queue.ask({ lines: ['run it?'] }, stop.signal);
    const other = queue.ask({ lines: ['and this?'] }, live());
    stop.abort(new Error('stopped'));
    await assert.rejects(asked, /stopped/);
    assert.deepEqual(queue.current?.lines, ['and this?']);
    queue.answer('yes');
    assert.equal(await other, 'yes');
    await assert.rejects(queue.ask({ lines: ['late'] }, stop.signal), /stopped/);
    assert.equal(queue.current, undefined);
  });

  it('stay unanswered when the person leaves', async () => {
    const queue = new QuestionQueue(() => undefined);
    const asked = queue.ask({ lines: ['?'] }, live());
    queue.close();
    assert.equal(await asked, undefined);
    assert.equal(await queue.ask({ lines: ['??'] }, live()), undefined);
  });
});
