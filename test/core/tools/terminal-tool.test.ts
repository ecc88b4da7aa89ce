import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { endHelper, warmHelper } from '#base/process/command-helper.ts';
import { isProcessAlive } from '#base/process/holder.ts';
import { createTerminalTool, type TerminalOptions } from '#core/tools/terminal/terminal-tool.ts';
import type { Message, Risk, ToolContext } from '#public/talaria.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { createPlainWalls } from '../../doubles/plain-walls.ts';
import { until } from '../../ends.ts';
import { verifies } from '../../verifies.ts';
import { makeToolPlace, type ToolPlaceForTest } from './place.ts';

describe('core/tools/terminal, commands started here', () => {
  before(endHelper);
  sameEitherWay();
});
describe('core/tools/terminal, commands started by the helper', () => {
  before(async () => assert.ok(await warmHelper()));
  sameEitherWay();
});

function sameEitherWay(): void {
  let place: ToolPlaceForTest;
  before(() => {
    place = makeToolPlace();
  });
  after(() => place.remove());

  const withTools = async (use: (run: Run) => Promise<void>, options: Partial<TerminalOptions> = {}) => {
    const made = createTerminalTool({
      walls: createPlainWalls(),
      env: { PATH: process.env.PATH, HOME: place.folder },
      ...options,
    });
    const [terminal, jobs] = made.tools;
    assert.ok(terminal && jobs);
    try {
      await use({
        terminal: (input, extra, signal) => place.run(terminal, input, extra, signal),
        jobs: (input, extra) => place.run(jobs, input, extra),
        risk: (input, extra) => place.risk(terminal, input, extra),
        available: () => terminal.available?.() ?? { ok: true, value: true },
        closeAll: made.closeAll,
      });
    } finally {
      await made.closeAll();
    }
  };

  verifies(['core:terminal:runs-shell', 'core:terminal:no-output', 'core:terminal:exit-status'], 'runs a command', () =>
    withTools(async ({ terminal }) => {
      const both = await terminal({ command: 'echo one; echo two >&2; echo three' });
      assert.deepEqual(both, { text: 'one\ntwo\nthree', exitCode: 0 });
      assert.deepEqual(await terminal({ command: 'true' }), { text: '(no output)\n[exit 0]', exitCode: 0 });
      const failed = await terminal({ command: 'echo bad; exit 3' });
      assert.deepEqual(failed, { text: 'bad\n[exit 3]', isError: true, exitCode: 3 });
    }),
  );

  it('takes 1 of grep and its kin as an answer', () =>
    withTools(async ({ terminal }) => {
      assert.equal((await terminal({ command: 'echo a | grep b' })).isError, undefined);
      assert.equal((await terminal({ command: 'grep x /no/such' })).isError, true);
      assert.equal((await terminal({ command: 'grep x /dev/null; false' })).isError, true);
    }));

  it('starts in the working folder each time, or in workdir', () =>
    withTools(async ({ terminal }) => {
      mkdirSync(join(place.cwd, 'sub'), { recursive: true });
      assert.equal((await terminal({ command: 'pwd; cd sub' })).text, place.cwd);
      assert.equal((await terminal({ command: 'pwd' })).text, place.cwd);
      assert.equal((await terminal({ command: 'pwd', workdir: 'sub' })).text, join(place.cwd, 'sub'));
      assert.match((await terminal({ command: 'pwd', workdir: 'nowhere' })).text, /there is no folder/);
      assert.equal((await terminal({ command: 'a\0b' })).isError, true);
    }));

  it('passes no argument, names lines as written, and takes syntax errors as output', () =>
    withTools(async ({ terminal }) => {
      assert.equal((await terminal({ command: 'echo "$#"' })).text, '0');
      assert.match((await terminal({ command: 'true\nnosuchprogram' })).text, /line 2: nosuchprogram/);
      assert.match((await terminal({ command: 'if' })).text, /syntax error/);
      assert.equal((await terminal({ command: "cat <<'EOF'\n$HOME\nEOF" })).text, '$HOME');
    }));

  it('hides keys and what concerns only this program', () =>
    withTools(
      async ({ terminal }) => {
        const { text } = await terminal({ command: 'env' });
        assert.ok(!text.includes('sk-sentinel') && !text.includes('/compile'));
        assert.match(text, /KEPT=yes/);
      },
      {
        env: { PATH: process.env.PATH, MY_KEY: 'sk-sentinel', NODE_COMPILE_CACHE: '/compile', KEPT: 'yes' },
        secretNames: ['MY_KEY'],
      },
    ));

  it('gives no input: a command that asks ends', () =>
    withTools(async ({ terminal }) => {
      assert.equal((await terminal({ command: 'read x; echo "got:$x"' })).text, 'got:');
    }));

  it('shows plain text: no colours, and progress bars as they ended', () =>
    withTools(async ({ terminal }) => {
      assert.equal(
        (await terminal({ command: "printf '\\033[31mred\\033[0m\\n1%%\\r50%%\\r100%%\\ndone\\r\\n'" })).text,
        'red\n100%\ndone',
      );
    }));

  it('streams to the surface', () =>
    withTools(async ({ terminal }) => {
      place.chunks.length = 0;
      await terminal({ command: 'echo live' });
      assert.equal(place.chunks.join(''), 'live\n');
    }));

  verifies('core:terminal:timeout', 'ends a command after its time-out and says so', () =>
    withTools(async ({ terminal }) => {
      const clock = createManualClock();
      place.chunks.length = 0;
      const running = terminal({ command: 'echo started; sleep 600', timeout: 120 }, { clock });
      await until(() => place.chunks.length > 0);
      await clock.advance(120_000);
      const output = await running;
      assert.match(output.text, /^started\n\[ended after its time-out of 120 s/);
      assert.equal(output.isError, true);
    }),
  );

  verifies('core:terminal:abort-kills-tree', 'an abort ends the command and its children', () =>
    withTools(async ({ terminal }) => {
      const control = new AbortController();
      const pidFile = join(place.cwd, 'pid');
      const running = terminal(
        { command: `(sleep 600 & echo $! > ${pidFile}; wait) ; echo after` },
        {},
        control.signal,
      );
      await until(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '');
      control.abort();
      const output = await running;
      assert.match(output.text, /stopped on request/);
      assert.ok(!isLiving(Number(readFileSync(pidFile, 'utf8'))));
    }),
  );

  it('ends what a command in front leaves running, and says how to keep it', () =>
    withTools(async ({ terminal }) => {
      const { text } = await terminal({ command: 'sleep 600 & echo $!' });
      assert.match(text, /^\d+\n\[processes that it left running were ended; use background: true/);
      assert.ok(!isLiving(Number.parseInt(text, 10)));
    }));

  it('spills what is too long and keeps head and tail', () =>
    withTools(async ({ terminal }) => {
      const output = await terminal({ command: 'seq 1 50000' });
      assert.equal(output.totalBytes, 288_894);
      assert.ok(output.text.startsWith('1\n2\n') && output.text.endsWith('49999\n50000'));
      assert.ok(output.text.length < 51_000);
      assert.equal(readFileSync(output.spill ?? '', 'utf8').split('\n').length, 50_001);
    }));

  it('keeps the output of calls of the same name apart, without known secrets', () =>
    withTools(async ({ terminal }) => {
      const redact = (text: string) => text.replaceAll('hunter2-sentinel', '[redacted]');
      const command = 'seq 1 50000; echo hunter2-sentinel; seq 1 50000';
      const spills = await Promise.all(
        ['s1', 's1', '../s2'].map((sessionId) => terminal({ command }, { sessionId, callId: 'a.b', redact })),
      );
      const files = spills.map(({ spill = '' }) => spill);
      const folder = place.context().spillFolder;
      const wanted = ['s1/a_b.txt', 's1/a_b-2.txt', '___s2/a_b.txt'].map((name) => join(folder, name));
      assert.deepEqual(files.toSorted(), wanted.toSorted());
      for (const file of files) assert.match(readFileSync(file, 'utf8'), /^1\n[\d\n]*\n50000\n\[redacted\]\n1\n/);
    }));

  verifies('core:terminal:background', 'runs commands in the background until they end or are ended', () =>
    withTools(async ({ terminal, jobs, closeAll }) => {
      assert.match((await jobs({ action: 'list' })).text, /no background commands/);
      assert.match((await terminal({ command: 'echo up; sleep 600', background: true })).text, /^job1 runs/);
      const done = await terminal({ command: 'echo quick; exit 4', background: true });
      assert.match(done.text, /^job2 runs/);
      const waited = await jobs({ action: 'wait', id: 'job2' });
      assert.match(waited.text, /^job2 {2}exit 4 after \d+ s {2}\$ echo quick; exit 4\nquick$/);
      assert.equal(waited.exitCode, 4);
      const log = async () => (await jobs({ action: 'log', id: 'job1' })).text;
      while (!(await log()).endsWith('\nup')) await new Promise((resolve) => setTimeout(resolve, 5));
      assert.match(await log(), /^job1 {2}running for \d+ s since .*\nup$/);
      assert.equal((await jobs({ action: 'list' })).text.split('\n').length, 2);
      assert.match((await jobs({ action: 'kill', id: 'job1' })).text, /^job1 {2}stopped after/);
      assert.match((await jobs({ action: 'log', id: 'job9' })).text, /no background command job9; known: job1, job2/);
      assert.match((await jobs({ action: 'log', id: 'job1' }, { sessionId: 'other' })).text, /known: none/);
      const sleeper = await terminal({ command: `echo $$ > ${join(place.cwd, 'job')}; sleep 600`, background: true });
      assert.match(sleeper.text, /^job3/);
      const note = join(place.cwd, 'job');
      await until(() => existsSync(note) && readFileSync(note, 'utf8') !== '');
      await closeAll();
      assert.ok(!isLiving(Number(readFileSync(note, 'utf8'))));
    }),
  );

  it('runs no hook that the settings of the account name when git only reads', (context) => {
    const home = createTempHome(context).path;
    const env = { PATH: process.env.PATH, HOME: home };
    writeFileSync(join(home, '.gitconfig'), '[core]\n\thooksPath = .githooks\n[user]\n\tname = a\n\temail = a@b\n');
    return withTools(
      async ({ terminal }) => {
        const hook = place.write('hooked/.githooks/post-index-change', '#!/bin/sh\ntouch was-run\n');
        chmodSync(hook, 0o755);
        const workdir = join(place.cwd, 'hooked');
        const inside = { cwd: workdir };
        await terminal(
          { command: 'git init -q . && echo a > a.txt && git add a.txt && touch -d 2001-01-01 a.txt && rm -f was-run' },
          inside,
        );
        await terminal({ command: 'git status' }, inside);
        assert.ok(!existsSync(join(workdir, 'was-run')));
        await terminal({ command: 'touch -d 2002-01-01 a.txt; git status' }, inside);
        assert.ok(existsSync(join(workdir, 'was-run')), 'what does more keeps its hooks');
      },
      { env },
    );
  });

  it('judges the command in the folder where it runs', () =>
    withTools(async ({ risk }) => {
      assert.equal(risk({ command: 'ls' }).level, 'none');
      assert.equal(risk({ command: 'rm -rf build' }).level, 'ask');
      assert.equal(risk({ command: 'rm -rf *', workdir: '/' }).level, 'never');
      const far = { command: 'touch x', workdir: '/opt' };
      assert.ok(keyOf(risk(far)));
      const page: Message = { role: 'user', parts: [{ type: 'text', text: 'a page', origin: 'foreign' }] };
      assert.equal(keyOf(risk(far, { history: () => [page] })), '', 'an old yes is none among foreign words');
      assert.ok(keyOf(risk({ command: 'rm -rf build' }, { history: () => [page] })));
    }));

  it('without walls, an old yes counts among foreign words where only the missing wall asks', () => {
    const history: () => readonly Message[] = () => [
      { role: 'user', parts: [{ type: 'text', text: 'a page', origin: 'foreign' }] },
    ];
    const walls = createPlainWalls({ kind: 'none', detail: 'none here' });
    return withTools(
      async ({ risk }) => {
        place.write('package.json', '{}');
        const key = keyOf(risk({ command: 'npm test' }));
        assert.ok(key);
        assert.equal(keyOf(risk({ command: 'npm test' }, { history })), key);
        assert.ok(keyOf(risk({ command: 'rm -rf build' }, { history })));
        place.write('package.json', '{"scripts":{"test":"other"}}');
        assert.notEqual(keyOf(risk({ command: 'npm test' }, { history })), key);
        for (const command of ['touch /opt/x', 'echo x >> .envrc', 'npm test && sudo ls']) {
          const far = risk({ command }, { history });
          assert.equal(keyOf(far), '', command);
          assert.match(far.level === 'ask' ? far.reason : '', /asked each time, since the agent has read/, command);
        }
      },
      { walls },
    );
  });

  it('asks before it deletes what was there before the session, and no more of what is new', () =>
    withTools(async ({ terminal, risk }) => {
      place.write('kept.txt', 'old');
      const elsewhere = place.write('../elsewhere.txt', 'old');
      // The file system's clock ticks in steps: a file of the next one is younger for sure.
      let ticks = 0;
      const birth = () => Math.floor(statSync(place.write(`tick-${++ticks}`, '')).birthtimeMs);
      const nextTick = () => {
        const before = birth();
        return until(() => birth() > before);
      };
      await nextTick();
      risk({ command: 'ls' });
      await nextTick();
      await terminal({ command: 'echo new > made.txt' });
      const deletes = (command: string) => {
        const found = risk({ command });
        return found.level === 'ask' ? [found.level, found.reach] : [found.level];
      };
      for (const command of ['rm kept.txt', 'unlink kept.txt', 'rm -f kept.txt', 'rm made.txt kept.txt'])
        assert.deepEqual(deletes(command), ['ask', 'folder'], command);
      assert.deepEqual(deletes('rm made.txt'), ['none']);
      assert.deepEqual(deletes(`rm ${elsewhere}`)[0], 'ask');
    }));
}

interface Run {
  readonly terminal: (input: unknown, extra?: object, signal?: AbortSignal) => ReturnType<ToolPlaceForTest['run']>;
  readonly jobs: (input: unknown, extra?: object) => ReturnType<ToolPlaceForTest['run']>;
  readonly risk: (input: unknown, extra?: Partial<ToolContext>) => ReturnType<ToolPlaceForTest['risk']>;
  readonly available: () => { readonly ok: boolean };
  readonly closeAll: (sessionId?: string) => Promise<void>;
}

function keyOf(risk: Risk): string | undefined {
  return risk.level === 'ask' ? risk.key : undefined;
}

function isLiving(pid: number): boolean {
  return isProcessAlive(pid) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}
