/** What is piped in: whole, capped, never waited for without end when the command line says what to do. */
import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { NO_INPUT, readPipedInput } from '#surfaces/cli/print/piped-input.ts';
import { verifies } from '../../../verifies.ts';

const signal = new AbortController().signal;
const bytes = (...texts: readonly string[]) => Readable.from(texts.map((text) => Buffer.from(text)));

describe('piped input', () => {
  verifies('core:cli:stdin-is-context', 'is read to its end, also when a character is cut in two', async () => {
    assert.deepEqual(await readPipedInput(bytes('one\n', 'two\n'), { signal }), {
      text: 'one\ntwo',
      whole: 'one\ntwo\n',
      leftOut: 0,
      silent: false,
      binary: false,
    });
    const snow = Buffer.from('☃');
    const halves = Readable.from([snow.subarray(0, 1), snow.subarray(1)]);
    assert.equal((await readPipedInput(halves, { signal })).text, '☃');
  });

  it('keeps head and tail of what is too long, saying how much is left out', async () => {
    const chunk = 'x'.repeat(1_000_000);
    const { text } = await readPipedInput(bytes('START', ...Array.from({ length: 5 }, () => chunk), 'END'), { signal });
    assert.ok(text.length < 401_000);
    assert.ok(text.startsWith('START') && text.endsWith('END'));
    const left = Number(/\[… (\d+) characters left out …\]/.exec(text)?.[1]);
    assert.equal(left + text.replace(/\n\[….*?…\]\n/, '').length, 5_000_008);
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
