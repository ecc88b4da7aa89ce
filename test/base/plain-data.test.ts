/** Text, JSON, ids, queues: the small things that everything stands on. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { AbortedError, deadline, raceAbort } from '#base/abort.ts';
import { leapingClock, localDate, localMidnight } from '#base/clock.ts';
import { createAsyncQueue, createFabric } from '#base/fabric.ts';
import { newId, newSessionId } from '#base/ids.ts';
import { canonicalJson, parseJson, parseJsonObject } from '#base/json.ts';
import { ellipsize, estimateTokens, headTail, normalizeText, plural, sliceText } from '#base/text.ts';
import { createManualClock } from '#testing/manual-clock.ts';

describe('plain data', () => {
  test('no cut ever splits a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, max) => {
        for (const cut of [sliceText(text, max), ellipsize(text, max), headTail(text, max, max)])
          assert.ok(cut.isWellFormed());
        assert.ok(sliceText(text, max).length <= max);
      }),
    );
  });

  test('headTail keeps both ends and says how much is missing', () => {
    assert.equal(headTail('abcdefghij', 3, 2), 'abc\n[… 5 characters left out …]\nij');
    assert.equal(headTail('abc', 3, 2), 'abc');
  });

  test('normalising twice changes nothing more', () => {
    fc.assert(
      fc.property(fc.string(), (text) => assert.equal(normalizeText(normalizeText(text)), normalizeText(text))),
    );
  });

  test('JSON comes in as data or as a refusal, never as an exception', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const parsed = parseJson(text);
        if (!parsed.ok) assert.equal(parsed.reason, 'invalid-json');
      }),
    );
    assert.equal(parseJsonObject('[]').ok, false);
    assert.equal(canonicalJson({ b: [{ d: 1, c: 2 }], a: null }), '{"a":null,"b":[{"c":2,"d":1}]}');
    const odd = parseJson('{"z":1,"__proto__":{"b":2,"a":1}}');
    assert.equal(odd.ok && canonicalJson(odd.value), '{"__proto__":{"a":1,"b":2},"z":1}');
  });

  test('ids do not repeat; session ids have the known form', () => {
    const ids = new Set(Array.from({ length: 1_000 }, () => newId('x')));
    assert.equal(ids.size, 1_000);
    assert.match(newSessionId(createManualClock()), /^\d{8}_\d{6}_[0-9a-f]{6}$/);
    const day = localDate(localMidnight(2026, 2, 29));
    assert.deepEqual([day.month, day.day], [3, 1]);
  });

  test('a queue gives everything pushed before it was closed, in order', async () => {
    const queue = createAsyncQueue<number>();
    queue.push(1);
    const reading = Array.fromAsync(queue);
    queue.push(2);
    await Promise.resolve();
    queue.push(3);
    queue.close();
    queue.push(4);
    assert.deepEqual(await reading, [1, 2, 3]);
  });

  test('a failing subscriber is reported and does not reach the emitter', () => {
    const failures: unknown[] = [];
    const seen: number[] = [];
    const fabric = createFabric<number>((error) => failures.push(error));
    fabric.subscribe(() => {
      throw new Error('no');
    });
    const stop = fabric.subscribe((event) => seen.push(event));
    fabric.emit(1);
    stop();
    fabric.emit(2);
    assert.deepEqual(seen, [1]);
    assert.equal(failures.length, 2);
  });

  test('a deadline ends on time, later when touched, and with its parent', async () => {
    const clock = createManualClock();
    const parent = new AbortController();
    const limit = deadline(clock, parent.signal, 100, () => new AbortedError('late'));
    await clock.advance(90);
    limit.touch();
    await clock.advance(90);
    assert.equal(limit.signal.aborted, false);
    await clock.advance(20);
    assert.equal((limit.signal.reason as Error).message, 'late');
    const other = deadline(clock, parent.signal, 100, () => new AbortedError('late'));
    parent.abort(new AbortedError('parent'));
    assert.equal((other.signal.reason as Error).message, 'parent');
    await assert.rejects(raceAbort(new Promise(() => undefined), parent.signal), /parent/);
    other.clear();
    assert.equal(clock.pending, 0);
  });

  test('words', () => {
    assert.equal(plural(1, 'file'), '1 file');
    assert.equal(plural(0, 'file'), '0 files');
    assert.ok(estimateTokens('日本語日本語') > estimateTokens('abcdef'));
  });
});

describe('a leaping clock', () => {
  test('moves while somebody sleeps, from one due time to the next, whoever else sleeps or sets timers', async () => {
    const clock = leapingClock(1_000);
    const seen: string[] = [];
    const note = (what: string) => seen.push(`${what} ${clock.now()}`);
    clock.after(30, () => {
      note('a');
      clock.after(5, () => note('b'));
    });
    clock.after(20, () => note('cancelled'))();
    clock.after(200, () => note('never'));
    const short = async () => {
      for (let i = 0; i < 2; i += 1) await clock.sleep(40).then(() => note('short'));
    };
    await Promise.all([clock.sleep(100).then(() => note('long')), short()]);
    assert.deepEqual(seen, ['a 1030', 'b 1035', 'short 1040', 'short 1080', 'long 1100']);
    assert.equal(clock.monotonic() - leapingClock(1_000).monotonic(), 100);
  });

  test('a sleep that is broken off moves nothing', async () => {
    const clock = leapingClock(0);
    const controller = new AbortController();
    clock.after(10, () => controller.abort(new Error('up')));
    await assert.rejects(clock.sleep(1_000, controller.signal), /up/);
    await assert.rejects(clock.sleep(5, controller.signal), /up/);
    assert.equal(clock.now(), 10);
  });
});
