/** What is piped in: whole, capped, never waited for without end when the command line says what to do. */
import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { forOneTurn, NO_INPUT, readPipedInput } from '#surfaces/cli/print/piped-input.ts';
import { verifies } from '../../../verifies.ts';

const signal = new AbortController().signal;
const bytes = (...texts: readonly string[]) => Readable.from(texts.map((text) => Buffer.from(text)));

describe('piped input', () => {
  verifies('core:cli:stdin-is-context', 'is read to its end, also when a character is cut in two', async () => {
    assert.deepEqual(await readPipedInput(bytes('one\n', 'two\n'), { signal }), {
      text: 'one\ntwo\n',
      total: 8,
      silent: false,
      binary: false,
    });
    const snow = Buffer.from('☃');
    const halves = Readable.from([snow.subarray(0, 1), snow.subarray(1)]);
    assert.equal((await readPipedInput(halves, { signal })).text, '☃');
  });

  it('keeps head and tail of what is too long, saying how much is left out', async () => {
    const chunk = 'x'.repeat(1_000_000);
    const long = await readPipedInput(bytes('START', ...Array.from({ length: 40 }, () => chunk), 'END'), { signal });
    for (const { text } of [long, forOneTurn(long, 1_000_000), forOneTurn(long, 8_000)]) {
      assert.ok(text.startsWith('START') && text.endsWith('END'));
      assert.match(text, /\[… \d+ characters left out …\]/);
    }
    assert.deepEqual([long.total, forOneTurn(long, 1_000_000).leftOut], [40_000_008, 39_600_008]);
    assert.ok(forOneTurn(long, 8_000).text.length < 13_000);
    const cjk = { ...NO_INPUT, text: '漢'.repeat(20_000), total: 20_000 };
    assert.ok(forOneTurn(cjk, 8_000).text.length < 5_000);
  });

  it('says so when it is no text', async () => {
    assert.equal((await readPipedInput(bytes('a\u0000b'), { signal })).binary, true);
  });

  it('is not waited for when nobody writes', async () => {
    const open = new PassThrough();
    assert.deepEqual(await readPipedInput(open, { patienceMs: 20, signal }), { ...NO_INPUT, silent: true });
    const slow = new PassThrough();
    slow.write('first');
    setTimeout(() => slow.end(' and last'), 60);
    assert.equal((await readPipedInput(slow, { patienceMs: 20, signal })).text, 'first and last');
  });

  it('ends with the signal', async () => {
    const stop = new AbortController();
    const reading = readPipedInput(new PassThrough(), { signal: stop.signal });
    stop.abort(new Error('stopped by the test'));
    await assert.rejects(reading, /stopped by the test/);
  });
});
