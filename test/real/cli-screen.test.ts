/**
 * The interactive screen as a person has it: a real terminal (tmux), real keys, the real process, a provider on loopback.
 */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { type ServerStep, startScriptedServer } from '#testing/scripted-server.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { realClock } from '../ground.ts';
import { withoutWalls } from '../scenario/cli-process.ts';
import { verifies } from '../verifies.ts';

const MAIN = join(import.meta.dirname, '../../src/surfaces/cli/main.ts');
const hasTmux = spawnSync('tmux', ['-V']).status === 0;

interface Screen {
  readonly home: string;
  readonly work: string;
  /** Types text as it is, then presses the named keys. */
  type(text: string, ...keys: readonly string[]): void;
  press(...keys: readonly string[]): void;
  paste(text: string): void;
  resize(columns: number, rows: number): void;
  /** What is on the screen, blank lines at its end left out. */
  look(): string;
  /** Waits until the screen shows `expected`; resolves to the screen. */
  shows(expected: RegExp | string): Promise<string>;
  /** Process id of what runs in the shell of the terminal. */
  child(): number;
  /** Starts talaria in the shell of the terminal. */
  start(args?: string, env?: Readonly<Record<string, string>>): void;
}

function openTerminal(t: TestContext, columns = 90, rows = 30): Screen {
  const temp = createTempHome();
  const work = join(temp.path, 'work');
  mkdirSync(work);
  const socket = join(temp.path, 'tmux');
  const tmux = (...args: readonly string[]) => {
    const run = spawnSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' });
    assert.equal(run.status, 0, `tmux ${args.join(' ')}: ${run.stderr}`);
    return run.stdout;
  };
  const size = ['-x', String(columns), '-y', String(rows)];
  tmux(
    'new-session',
    '-d',
    '-s',
    's',
    ...size,
    '-c',
    work,
    'env -i PS1="$ " TERM="$TERM" PATH="$PATH" LC_ALL=C.UTF-8 sh',
  );
  t.after(() => {
    // As long as its socket is there.
    spawnSync('tmux', ['-S', socket, 'kill-server']);
    temp.remove();
  });
  const look = () => tmux('capture-pane', '-p', '-t', 's').trimEnd();
  const press = (...keys: readonly string[]) => tmux('send-keys', '-t', 's', ...keys);
  const type = (text: string, ...keys: readonly string[]) => {
    if (text !== '') tmux('send-keys', '-t', 's', '-l', text);
    if (keys.length > 0) press(...keys);
  };
  return {
    home: join(temp.path, 'home'),
    work,
    press,
    type,
    look,
    paste: (text) => {
      tmux('set-buffer', '-b', 'p', text);
      tmux('paste-buffer', '-p', '-b', 'p', '-t', 's');
    },
    resize: (x, y) => tmux('resize-window', '-t', 's', '-x', String(x), '-y', String(y)),
    shows: async (expected) => {
      const end = performance.now() + 15_000;
      for (;;) {
        const screen = look();
        if (typeof expected === 'string' ? screen.includes(expected) : expected.test(screen)) return screen;
        if (performance.now() > end) throw new Error(`not shown: ${expected}\n${screen}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    child: () => {
      const shell = tmux('display-message', '-p', '-t', 's', '#{pane_pid}').trim();
      return Number(spawnSync('pgrep', ['-P', shell], { encoding: 'utf8' }).stdout.trim());
    },
    start: (args = '', env = {}) => {
      withoutWalls({ root: join(temp.path, 'home') });
      const variables = { HOME: temp.path, TALARIA_HOME: join(temp.path, 'home'), ...env };
      const words = Object.entries(variables).map(([name, value]) => `${name}='${value}'`);
      type(`clear; ${words.join(' ')} '${process.execPath}' '${MAIN}' ${args}; echo "left with $?"`, 'Enter');
    },
  };
}

async function startChat(t: TestContext, steps: readonly ServerStep[], columns = 90, rows = 30) {
  const server = await startScriptedServer(steps, { models: ['m', 'other'], context: t });
  const screen = openTerminal(t, columns, rows);
  const env = { OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: 'a-key-for-tests' };
  const start = (args = '') => screen.start(args, env);
  start();
  await screen.shows('/help');
  return { server, screen, start };
}

function everyFile(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

const call = (command: string) => ({ calls: [{ name: 'terminal', arguments: { command } }] });

if (!hasTmux) test('the screen in a terminal', { skip: 'skipped: tmux is not installed' });
else
  describe('the screen in a terminal', () => {
    verifies(
      ['core:cli:repl', 'core:cli:streams', 'core:cli:header-names-model', 'core:approval:risky-asks'],
      'first screen, a tool, an approval, and the terminal given back',
      async (t) => {
        const { screen } = await startChat(t, [
          call('echo one; echo two'),
          'It said **two** lines.',
          call('rm -rf gone'),
          'Gone.',
        ]);
        const first = await screen.shows('/help');
        assert.match(first, /model {3}openai\/m \(T2\): OPENAI_API_KEY/);
        assert.match(first, /Try:\n {2}\S.*\n {2}\S.*\n {2}\S/);
        screen.type('run it', 'Enter');
        const tool = await screen.shows('2 steps');
        assert.match(tool, /› run it\n⏺ \$ echo one; echo two\n {2}⎿ ok · exit 0.*\nIt said two lines\./);
        screen.type('remove it', 'Enter');
        const asked = await screen.shows('waiting for your answer');
        assert.match(asked, /⏺ \$ rm -rf gone[\s\S]*terminal asks to run this:\n {2}rm -rf gone\nwhy: .*\ny = once/);
        screen.type('y', 'Enter');
        await screen.shows('Gone.');
        screen.press('C-d');
        const left = await screen.shows('left with 0');
        assert.match(left, /session (\S+) · talaria --resume \1\n/);
        assert.doesNotMatch(left, /────\nopenai/);
        screen.type('stty -a | tr ";" "\\n" | grep -c "[ ]icanon"; echo ok', 'Enter');
        await screen.shows(/1\nok/);
      },
    );

    test('first hour 7: --resume without an id lets one pick, and a prompt is the first line', async (t) => {
      const { screen, start } = await startChat(t, ['First answer.', 'Second answer.', 'Third answer.']);
      screen.type('the older talk', 'Enter');
      await screen.shows('First answer.');
      screen.press('C-d');
      await screen.shows('left with 0');
      start('"the newer talk"');
      await screen.shows('Second answer.');
      screen.press('C-d');
      await screen.shows('left with 0');
      start('--resume');
      const list = await screen.shows('Go on with which session?');
      assert.match(list, /→ the newer talk .* 2 messages\n {2}the older talk .* 2 messages/);
      screen.press('Escape');
      await screen.shows('left with 0');
      start('--resume');
      await screen.shows('Go on with which session?');
      screen.press('Down', 'Enter');
      await screen.shows(/› the older talk\s+First answer\./);
      screen.type('and on', 'Enter');
      await screen.shows('Third answer.');
    });

    verifies(
      'core:cli:multi-line',
      'several lines are one message; earlier lines come back, after a restart too',
      async (t) => {
        const { screen, server, start } = await startChat(t, ['A.', 'B.', 'C.']);
        screen.type('one\\', 'Enter');
        screen.type('two', 'Enter');
        await screen.shows('A.');
        screen.paste('three\nfour');
        await screen.shows('four');
        screen.press('Enter');
        await screen.shows('B.');
        const sent = server.requests.map((request) => request.raw);
        assert.match(sent[0] ?? '', /one\\ntwo/);
        assert.match(sent[1] ?? '', /three\\nfour/);
        screen.press('C-d');
        await screen.shows('left with 0');
        start('-c');
        await screen.shows(/› three\n› four\nB\./);
        screen.press('Up');
        screen.press('Enter');
        await screen.shows('C.');
        assert.equal(server.requests.length, 3);
      },
    );

    verifies('core:cli:ctrl-c', 'Ctrl-C stops the turn, twice leaves; the session can be gone on with', async (t) => {
      const { screen, start } = await startChat(t, [{ fault: 'hang-after' }, { fault: 'hang-after' }, 'Back.']);
      screen.type('never ends', 'Enter');
      await screen.shows(/answering · 1 s · Ctrl-C stops/);
      screen.press('C-c');
      await screen.shows('stopped on request');
      await new Promise((resolve) => setTimeout(resolve, 2_100));
      screen.type('nor this', 'Enter');
      await screen.shows(/answering/);
      screen.press('C-c');
      screen.press('C-c');
      await screen.shows('left with 0');
      start('-c');
      await screen.shows(/› nor this[\s\S]*\/help/);
      screen.type('are you back?', 'Enter');
      await screen.shows('Back.');
    });

    verifies(
      ['core:cli:slash-commands', 'core:cli:model-switch'],
      'slash commands are offered, run, and a key typed for one is never shown or kept',
      async (t) => {
        const { screen, server } = await startChat(t, ['ready']);
        screen.type('/mod');
        await screen.shows(/→ model .*show the model/);
        screen.press('C-c');
        screen.type('/help', 'Enter');
        await screen.shows(/\/cost +Show tokens/);
        screen.type('/frobnicate', 'Enter');
        await screen.shows("unknown command 'frobnicate'");
        screen.type(`/model add sentinel-key-77 --base-url ${server.baseUrl}`, 'Enter');
        const added = await screen.shows('it works; from now on: local/m');
        assert.doesNotMatch(added, /sentinel/);
        screen.type('/model add', 'Enter');
        await screen.shows('API key, or URL');
        // A question takes no key in its first moment.
        await realClock.sleep(500);
        screen.type('sentinel-key-78');
        assert.doesNotMatch(await screen.shows('•••'), /sentinel/);
        screen.press('Enter');
        assert.doesNotMatch(await screen.shows('Nothing was kept'), /sentinel/);
        screen.type('/quit', 'Enter');
        await screen.shows('left with 0');
        const holders = everyFile(screen.home).filter((path) => readFileSync(path).includes('sentinel-key'));
        assert.deepEqual(
          holders.map((path) => path.slice(screen.home.length + 1)),
          ['.env'],
        );
      },
    );

    test('first hour 7: /retry sends the line again, /copy draws nothing, /clear says how to come back', async (t) => {
      const { screen } = await startChat(t, ['A first answer.', 'A second answer.']);
      screen.type('a question', 'Enter');
      await screen.shows('A first answer.');
      screen.type('/retry', 'Enter');
      await screen.shows(/› \/retry\n[\s\S]*taken back[\s\S]*› a question\n+A second answer\./);
      screen.type('/copy', 'Enter');
      assert.doesNotMatch(await screen.shows(/copied 16 characters/), /\]52|QSBzZWNvbmQ/);
      screen.type('/clear', 'Enter');
      await screen.shows(/new session \S+ · the one before is kept: \/resume/);
    });

    verifies(
      'core:cli:wide-characters',
      'wide characters and a narrow window keep lines and cursor right',
      async (t) => {
        const answer = `${'日本語の文章です。'.repeat(8)}\n\n| 名前 | n |\n|---|---|\n| 日本 | 1 |\n| e\u0301t\u00e9 | 22 |`;
        const { screen } = await startChat(t, [answer], 40, 20);
        screen.type('日本語', 'Enter');
        const shown = await screen.shows('1 step');
        for (const line of shown.split('\n')) assert.ok([...line].length <= 40, line);
        const rows = shown.split('\n').filter((line) => /^[│┌├└]/.test(line));
        assert.equal(rows.length, 7);
        assert.match(shown, /│ 日本 │ 1 {2}│/);
        screen.resize(70, 24);
        await screen.shows(/(?:日本語の文章です。){3}日本語の文章です\n/);
        screen.type('入力かな');
        screen.press('Left', 'Left', 'BSpace');
        await screen.shows(/\n入かな\n/);
      },
    );

    for (const columns of [80, 140]) {
      test(`first hour 1: what a file holds is shown as it is, ${columns} columns wide`, async (t) => {
        const screen = openTerminal(t, columns, 30);
        const text = '    `a` <b> **c**\n\n\n# d\n';
        writeFileSync(join(screen.work, 'note.txt'), text);
        screen.start('-m reflex');
        await screen.shows('/help');
        screen.type('show me @note', 'Tab');
        await screen.shows('show me @note.txt');
        screen.press('Enter');
        assert.match(await screen.shows('2 steps'), /note\.txt:1-4\n {6}`a` <b> \*\*c\*\*\n\n\n {2}# d\n/);
        screen.type('!cat note.txt', 'Enter');
        assert.match(await screen.shows('ok · exit 0'), /⏺ \$ cat note\.txt\n {4}`a` <b> \*\*c\*\*\n\n\n# d\n {2}⎿ ok/);
      });

      test(`first hour 2: what is typed while a turn runs stands above the editor, ${columns} columns wide`, async (t) => {
        const slow = call('while [ ! -e go ]; do sleep 0.05; done');
        const { screen, server } = await startChat(t, [slow], columns);
        screen.type('work', 'Enter');
        await screen.shows('running');
        for (const line of ['be brief', 'look at @note.txt']) screen.type(line, 'Enter');
        writeFileSync(join(screen.work, 'note.txt'), 'a note\n');
        screen.type('x'.repeat(200), 'Enter');
        const rule = '─'.repeat(columns);
        const waiting = await screen.shows('› xxx');
        assert.ok(
          waiting.includes(`› look at @note.txt\n› ${'x'.repeat(columns - 3)}…\n\n${rule}\n\n${rule}`),
          waiting,
        );
        screen.press('Up');
        await screen.shows(/\nx{70,}\n/);
        screen.press('C-c');
        await screen.shows(/› work[\s\S]*stopped on request[\s\S]*\nbe brief\nlook at @note\.txt\nx{70}/);
        // The first one clears the line; then twice on an empty one.
        screen.press('C-c', 'C-c', 'C-c');
        await screen.shows('left with 0');
        assert.equal(server.requests.length, 1);
      });
    }

    verifies('core:cli:plain', 'NO_COLOR, a dumb terminal and --plain get lines without escape codes', async (t) => {
      for (const [args, env] of [
        ['', { NO_COLOR: '1' }],
        ['', { TERM: 'dumb' }],
        ['--plain', {}],
      ] as const) {
        const screen = openTerminal(t, 80, 24);
        writeFileSync(join(screen.work, 'note.txt'), 'the note\n');
        screen.start(`-m reflex ${args} | tee out`, env);
        await screen.shows(/you:$/);
        screen.type('read note.txt', 'Enter');
        await screen.shows(/the note[\s\S]*you:$/);
        screen.press('C-d');
        await screen.shows('left with');
        assert.ok(!readFileSync(join(screen.work, 'out'), 'utf8').includes('\u001b'));
      }
    });

    verifies('core:bad-input:sigterm', 'SIGTERM gives the terminal back, with the code of the signal', async (t) => {
      const { screen } = await startChat(t, [{ fault: 'hang-after' }]);
      screen.type('never ends', 'Enter');
      await screen.shows('answering');
      process.kill(screen.child(), 'SIGTERM');
      assert.match(await screen.shows('left with 143'), /session \S+ · talaria --resume/);
    });
  });
