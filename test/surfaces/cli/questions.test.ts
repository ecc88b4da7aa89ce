/** One question at a time, none left over when a turn is stopped. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QuestionQueue, UNREAD_MS } from '#surfaces/cli/questions.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { verifies } from '../../verifies.ts';

const live = () => new AbortController().signal;

function openQueue(onChange: () => void = () => undefined) {
  const clock = createManualClock();
  const opened: (string | undefined)[] = [];
  const queue = new QuestionQueue({ onChange, onOpen: () => opened.push(queue.current?.lines[0]), clock });
  /** It is drawn, and read. */
  const read = async () => {
    queue.drawn();
    await clock.advance(UNREAD_MS);
  };
  return { queue, clock, opened, read };
}

describe('questions', () => {
  it('are asked one after the other, and answered in that order', async () => {
    const seen: (string | undefined)[] = [];
    const { queue, read } = openQueue(() => seen.push(queue.current?.lines[0]));
    const first = queue.ask({ lines: ['one'] }, live());
    const second = queue.ask({ lines: ['two'] }, live());
    await read();
    assert.equal(queue.answer('1'), true);
    assert.equal(queue.answer('2'), false, 'the second is not on the screen yet');
    await read();
    assert.equal(queue.answer('2'), true);
    assert.deepEqual([await first, await second], ['1', '2']);
    assert.deepEqual(seen, ['one', 'two', undefined]);
    assert.equal(queue.answer('3'), false);
  });

  verifies('core:cli:ctrl-c', 'of a stopped turn wait no longer: the next line is no answer', async () => {
    const { queue, read } = openQueue();
    const stop = new AbortController();
    const asked = queue.ask({ lines: ['run it?'] }, stop.signal);
    const other = queue.ask({ lines: ['and this?'] }, live());
    stop.abort(new Error('stopped'));
    await assert.rejects(asked, /stopped/);
    assert.deepEqual(queue.current?.lines, ['and this?']);
    await read();
    queue.answer('yes');
    assert.equal(await other, 'yes');
    await assert.rejects(queue.ask({ lines: ['late'] }, stop.signal), /stopped/);
    assert.equal(queue.current, undefined);
  });

  verifies(
    'core:approval:read-before-answered',
    'take no answer before they are drawn, nor in the moment after',
    async () => {
      const { queue, clock, opened } = openQueue();
      const asked = queue.ask({ lines: ['run it?'] }, live());
      await clock.advance(10_000);
      assert.deepEqual([queue.answer('y'), queue.isUnread, queue.isOpen], [false, false, false]);
      queue.drawn();
      await clock.advance(UNREAD_MS - 1);
      assert.deepEqual([queue.answer('y'), queue.isUnread, opened], [false, true, []]);
      await clock.advance(1);
      assert.deepEqual([queue.isUnread, queue.isOpen, opened], [false, true, ['run it?']]);
      assert.equal(queue.answer('n'), true);
      assert.equal(await asked, 'n');
    },
  );

  verifies(
    'core:approval:read-before-answered',
    'begin anew with each: one that takes its place is unread',
    async () => {
      const { queue, clock, opened } = openQueue();
      const stop = new AbortController();
      const first = queue.ask({ lines: ['one'] }, stop.signal);
      const second = queue.ask({ lines: ['two'] }, live());
      queue.drawn();
      await clock.advance(UNREAD_MS / 2);
      stop.abort(new Error('stopped'));
      await assert.rejects(first, /stopped/);
      await clock.advance(UNREAD_MS);
      assert.deepEqual([queue.answer('y'), opened], [false, []]);
      queue.drawn();
      await clock.advance(UNREAD_MS);
      queue.answer('y');
      assert.equal(await second, 'y');
    },
  );

  it('are skipped whether read or not', async () => {
    const { queue } = openQueue();
    const asked = queue.ask({ lines: ['the key?'], secret: true }, live());
    queue.skip();
    assert.equal(await asked, '');
  });

  it('stay unanswered when the person leaves', async () => {
    const { queue } = openQueue();
    const asked = queue.ask({ lines: ['?'] }, live());
    queue.close();
    assert.equal(await asked, undefined);
    assert.equal(await queue.ask({ lines: ['??'] }, live()), undefined);
  });
});
