/** The chat as lines: what is typed, what comes out, and what Ctrl-C does, without a terminal. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, it, type TestContext } from 'node:test';
import { type Clock, systemClock } from '#base/clock.ts';
import type { ServerStep } from '#public/testing.ts';
import { type PlainChatOptions, runPlainChat } from '#surfaces/cli/plain-chat.ts';
import { UNREAD_MS } from '#surfaces/cli/questions.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { until } from '../../../ends.ts';
import { slow } from '../../../slow.ts';
import { verifies } from '../../../verifies.ts';
import { createTarget, openServed } from '../cli-fixture.ts';

async function startChat(
  t: TestContext,
  steps: readonly ServerStep[],
  { clock = systemClock, ...options }: Partial<PlainChatOptions> & { readonly clock?: Clock } = {},
) {
  const served = await openServed(t, steps, { clock });
  const stop = new AbortController();
  const { target, written } = createTarget(stop.signal);
  const input = new PassThrough();
  let interrupt: (() => boolean) | undefined;
  const ended = runPlainChat(
    served.app,
    {
      input,
      interactive: false,
      continueLast: false,
      greeting: ['Welcome.'],
      onInterrupt: (handler) => {
        interrupt = handler;
      },
      ...options,
    },
    target,
  );
  const shows = (text: string) => until(() => written.out.includes(text));
  return { ...served, written, input, ended, shows, stop, interrupt: () => interrupt?.() };
}

const risky = { calls: [{ name: 'terminal', arguments: { command: 'rm -rf build' } }] };

describe('plain chat', () => {
  verifies(
    ['core:cli:repl', 'core:cli:plain'],
    'answers line after line, skips empty ones, one line an event',
    async (t) => {
      const call = { calls: [{ name: 'terminal', arguments: { command: 'echo out' } }] };
      const { input, ended, written, server } = await startChat(t, [call, 'It says out.', 'Two.']);
      input.end('run it\n\n   \nsecond\n');
      assert.equal(await ended, 0);
      assert.equal(server.requests.length, 3);
      const lines = written.out.split('\n');
      assert.deepEqual([lines[0], lines[1], lines[3]], ['Welcome.', '> $ echo out', 'It says out.']);
      assert.match(lines[2] ?? '', /^< ok · exit 0/);
      assert.match(lines[4] ?? '', /^= 2 steps · openai\/m/);
      assert.equal(lines[5], 'Two.');
      assert.ok(!written.out.includes('\u001b'));
    },
  );

  it('first hour 7: /retry is answered before the next line, and its answer counts', async (t) => {
    const broken = { status: 400, body: { error: { message: 'not now' } } };
    const { input, ended, written } = await startChat(t, [broken, 'Second try.']);
    input.end('a question\n/retry\n');
    assert.equal(await ended, 0);
    assert.match(written.out, /= failed[\s\S]*taken back[\s\S]*\nSecond try\.\n= 1 step/);
  });

  verifies('core:cli:exit-words', 'exit and quit leave, what comes after is not read', async (t) => {
    for (const word of ['exit', 'quit', '/exit', '/quit']) {
      const { input, ended, server } = await startChat(t, []);
      input.write(`${word}\nnever sent\n`);
      assert.equal(await ended, 0, word);
      assert.equal(server.requests.length, 0);
    }
  });

  verifies('core:cli:multi-line', 'a backslash at the end goes on with the next line', async (t) => {
    const { input, ended, server } = await startChat(t, ['Ok.']);
    input.end('one\\\ntwo\\\nthree\n');
    await ended;
    assert.match(server.requests[0]?.raw ?? '', /one\\ntwo\\nthree/);
  });

  verifies(
    'core:approval:non-interactive-denies',
    'without a person a risky call is denied, and the code says how the last line ended',
    async (t) => {
      const { input, ended, written } = await startChat(t, [risky, 'I could not.']);
      input.end('clean up\n/frobnicate\n');
      assert.equal(await ended, 1);
      assert.match(written.out, /! not run \(denied\)/);
      assert.match(written.out, /! unknown command 'frobnicate'/);
    },
  );

  verifies.slow(
    'core:approval:risky-asks',
    'a person is asked, with the command, after the line of the call',
    async (t) => {
      const { input, ended, written, shows } = await startChat(t, [risky, 'Done.'], { interactive: true });
      input.write('clean up\n');
      await shows('answer: ');
      input.write('y\n');
      await shows('Done.');
      input.end();
      assert.equal(await ended, 0);
      assert.match(
        written.out,
        /> \$ rm -rf build\n\? terminal asks to run this:\n\? {3}rm -rf build\n\? why: [^\n]+\n\? y = once[^\n]+\nanswer: /,
      );
      assert.match(written.out, /session \S+ · talaria --resume \S+\n$/);
    },
  );

  verifies(
    'core:approval:read-before-answered',
    'what is typed with a question is dropped, and no line later',
    async (t) => {
      const clock = createManualClock();
      const modes: boolean[] = [];
      const input = Object.assign(new PassThrough(), { setRawMode: (raw: boolean) => modes.push(raw) });
      const chat = await startChat(t, [risky, 'Left.'], { interactive: true, input, clock });
      input.write('clean up\n');
      await chat.shows('> $ rm -rf build');
      await until(() => {
        void clock.advance(1);
        return chat.written.out.includes('? why: ');
      });
      input.write('y\ny');
      await until(() => input.readableLength === 0);
      await clock.advance(UNREAD_MS);
      await chat.shows('answer: ');
      assert.deepEqual(modes, [true, false], 'an unfinished line is taken from the terminal too');
      input.write('\n');
      await chat.shows('Left.');
      assert.match(chat.server.requests[1]?.raw ?? '', /the owner said no/);
      input.end();
      assert.equal(await chat.ended, 0);
      assert.equal(chat.server.requests.length, 2);
    },
  );

  verifies.slow(
    'core:cli:ctrl-c',
    'stops a turn that waits for an answer; the next line is no answer; when idle it leaves',
    async (t) => {
      const chat = await startChat(t, [risky, 'Next.'], { interactive: true });
      assert.equal(chat.interrupt(), false);
      chat.input.write('clean up\n');
      await chat.shows('answer: ');
      assert.equal(chat.interrupt(), true);
      await chat.shows('stopped on request');
      chat.input.write('and now?\n');
      await chat.shows('Next.');
      chat.input.end();
      assert.equal(await chat.ended, 0);
      assert.match(chat.server.requests.at(-1)?.raw ?? '', /and now\?/);
    },
  );

  it('a signal from outside ends the turn and the chat', async (t) => {
    const chat = await startChat(t, [{ fault: 'hang-after' }]);
    chat.input.write('hang\n');
    await until(() => chat.server.requests.length === 1);
    chat.stop.abort(new Error('SIGTERM'));
    await chat.ended;
    assert.match(chat.written.out, /stopped on request/);
  });

  verifies('core:cli:continue-resume', 'an unknown session is refused with code 3', async (t) => {
    const { ended, written } = await startChat(t, [], { resume: 'nope' });
    assert.equal(await ended, 3);
    assert.match(written.err, /There is no session nope/);
  });

  slow('a key is asked for in raw mode, and never shown', async (t) => {
    const modes: boolean[] = [];
    const input = Object.assign(new PassThrough(), { setRawMode: (raw: boolean) => modes.push(raw) });
    const { ended, written, shows, server } = await startChat(t, ['ready'], { interactive: true, input });
    input.write('/model add\n');
    await shows('answer: ');
    input.write(`${server.baseUrl}x\u007f\r`);
    await shows('it works');
    input.write('/model add\n');
    await until(() => modes.length === 3);
    input.write('half\u0003');
    await shows('No key and no URL');
    input.write('\nexit\n');
    await ended;
    assert.ok(!written.out.includes(server.baseUrl));
    assert.equal(server.requests.length, 1);
    assert.deepEqual(modes, [true, false, true, false]);
  });

  it('first hour 2: lines typed while a turn runs are answered in order, !command among them', async (t) => {
    const wait = { calls: [{ name: 'terminal', arguments: { command: 'while [ ! -e go ]; do sleep 0.05; done' } }] };
    const { input, ended, written, shows, app } = await startChat(t, [wait, 'It ran.', 'Last.']);
    input.write('work\n');
    await shows('> $ while');
    input.end("!printf '  `a` <b>\\n\\nc'; touch went\nlast\n");
    writeFileSync(join(app.environment.cwd, 'go'), '');
    assert.equal(await ended, 0);
    const lines = written.out.split('\n').filter((line) => !/^[<=]/.test(line));
    assert.deepEqual(lines.slice(2), [
      'It ran.',
      "> $ printf '  `a` <b>\\n\\nc'; touch went",
      '  `a` <b>',
      '',
      'c',
      'Last.',
      '',
    ]);
  });
});
