/** The command line around the turns: usage errors, piped chats, readers that go away, a quick version. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, type TestContext } from 'node:test';
import { startScriptedServer } from '#testing/scripted-server.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { COMPILE_CACHE, createCliStage, MAIN, withoutWalls } from '../scenario/cli-process.ts';
import { verifies } from '../verifies.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Runs a line of shell in a throw-away folder; resolves to what it printed and its exit code. */
function shell(
  t: TestContext,
  line: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly out: string; readonly code: number | null }> {
  const temp = createTempHome(t);
  const cwd = join(temp.path, 'work');
  mkdirSync(cwd);
  const talaria = `'${process.execPath}' '${join(ROOT, 'src/surfaces/cli/main.ts')}'`;
  const script = `talaria() { ${talaria} "$@"; }\n${line}`;
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', script], {
      cwd,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: temp.path,
        TALARIA_HOME: join(temp.path, 'home'),
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString('utf8');
    });
    child.stderr.on('data', (chunk: Buffer) => {
      out += chunk.toString('utf8');
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ out, code }));
  });
}

describe('the command line', () => {
  verifies(
    ['core:bad-input:unknown-flag', 'core:cli:exit-codes'],
    'an unknown command or flag names the nearest and leaves with 2, a refusal with 3, help with 0',
    async (t) => {
      const stage = createCliStage(t);
      const cases: readonly [readonly string[], number, RegExp][] = [
        [['sesions', 'list'], 2, /unknown command 'sesions'[\s\S]*Did you mean sessions/],
        [['--modle', 'x'], 2, /unknown option '--modle'[\s\S]*--model/],
        [['sessions', '--limit', 'many'], 2, /limit.*'many' is invalid.*number/],
        [['-p', 'hi', '--resume', 'nope'], 3, /no session nope/],
        [['help'], 0, /Usage: talaria[\s\S]*sessions[\s\S]*Exit codes/],
        [['memory'], 0, /MEMORY\.md/],
      ];
      for (const [args, code, expected] of cases) {
        const run = await stage.run(args);
        assert.equal(run.code, code, `${args.join(' ')}: ${run.err}`);
        assert.match(run.out + run.err, expected, args.join(' '));
      }
    },
  );

  verifies(
    ['core:cli:plain', 'core:cli:repl', 'core:cli:exit-words', 'core:cli:header-names-model'],
    'piped lines are a chat without escape codes, whatever the tools print',
    async (t) => {
      const evil = {
        calls: [{ name: 'terminal', arguments: { command: "printf '\\033]0;own\\007\\033[31mred\\n'; false" } }],
      };
      const server = await startScriptedServer([evil, 'It was \u001b[2Jred.', 'Bye.'], { models: ['m'], context: t });
      const stage = withoutWalls(createCliStage(t));
      const env = { OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: 'a-key-for-tests' };
      const run = await stage.run([], { stdin: 'colour\n\nbye\nexit\nnever sent\n', env });
      assert.equal(run.code, 0, run.err);
      assert.ok(!run.out.includes('\u001b'));
      assert.match(run.out, /^Talaria: /);
      assert.match(run.out, /model {3}openai\/m \(T2\): OPENAI_API_KEY.*\n/);
      assert.equal(/Try:\n((?: {2}.+\n)+)/.exec(run.out)?.[1]?.trimEnd().split('\n').length, 3);
      assert.match(run.out, /! failed · exit 1 [^\n]*red [^\n]*\nIt was red\.\n/);
      assert.match(run.out, /Bye\.\n= 1 step/);
    },
  );

  verifies(
    'core:cli:exit-codes',
    'a reader that goes away is no failure, an open pipe is not waited for',
    async (t) => {
      const long = 'A line of a long answer.\n'.repeat(5_000);
      const server = await startScriptedServer([long, 'Ok.'], { models: ['m'], context: t });
      const env = { OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: 'a-key-for-tests' };
      const cut = await shell(t, 'set -o pipefail; talaria -p "long" | head -n 1; echo "code $?"', env);
      assert.equal(cut.out, 'A line of a long answer.\ncode 0\n');
      const open = await shell(t, 'mkfifo pipe; exec 3<>pipe; talaria -p "hi" <pipe; echo "code $?"', env);
      assert.match(open.out, /nothing came through the pipe[\s\S]*Ok\.\ncode 0/);
    },
  );

  verifies('core:cli:exit-codes', 'an output that cannot be written is one line and a failure', async (t) => {
    const full = await shell(t, 'talaria help 2>&1 >/dev/full; echo "code $?"', {});
    assert.match(full.out, /^talaria: the output could not be written: .*(?:ENOSPC|the disk is full).*\ncode 1\n$/);
    const version = await shell(t, 'talaria --version 2>&1 >/dev/full; echo "code $?"', {});
    assert.match(version.out, /^talaria: the output could not be written: .*(?:ENOSPC|the disk is full).*\ncode 1\n$/);
    const turn = await shell(t, 'talaria -p help 2>&1 >/dev/full; echo "code $?"', {});
    assert.match(turn.out, /^talaria: the output could not be written: .*(?:ENOSPC|the disk is full).*\ncode 1\n$/);
  });

  verifies('core:cli:version-fast', '--version loads no module of the agent', async (t) => {
    const hook =
      "import{registerHooks}from'node:module';registerHooks({resolve(s,c,n){const r=n(s,c);process.stderr.write(r.url+'\\n');return r}})";
    const stage = createCliStage(t);
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` };
    const run = await stage.run(['--version'], { env });
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    assert.deepEqual([run.code, run.out], [0, `${version}\n`]);
    const loaded = run.err.split('\n').filter((url) => url.startsWith('file:'));
    assert.deepEqual(
      loaded.map((url) => url.slice(url.lastIndexOf('/') + 1)),
      [basename(MAIN)],
    );
  });

  verifies(
    'core:cli:start-follows-folder',
    'npm start works in the folder where it was typed; without a terminal it is the demo',
    async (t) => {
      const temp = createTempHome(t);
      mkdirSync(join(temp.path, 'scripts'));
      mkdirSync(join(temp.path, 'bin'));
      mkdirSync(join(temp.path, 'elsewhere'));
      copyFileSync(join(ROOT, 'scripts/start.sh'), join(temp.path, 'scripts/start.sh'));
      writeFileSync(join(temp.path, 'bin/talaria'), 'echo "$PWD: talaria $*"\n');
      const env = { INIT_CWD: join(temp.path, 'elsewhere') };
      const run = await shell(t, `sh '${join(temp.path, 'scripts/start.sh')}' --keep </dev/null`, env);
      assert.equal(run.out, `${join(temp.path, 'elsewhere')}: talaria demo --keep\n`);
    },
  );
});
