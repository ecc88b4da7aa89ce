/** What a command of the agent sees of the environment, and what a `talaria` that it starts may do: real processes, a scripted model. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { type ScriptedServer, startScriptedServer } from '#testing/scripted-server.ts';
import { verifies } from '../verifies.ts';
import { type CliStage, COMPILE_CACHE, createCliStage, MAIN } from './cli-process.ts';

const SECRETS = {
  OPENAI_API_KEY: 'Zq7-key-of-the-model-Kx93',
  GITHUB_TOKEN: 'Zq7-token-of-a-forge-Kx93',
  AWS_SECRET_ACCESS_KEY: 'Zq7-key-of-a-cloud-Kx93',
  NPM_TOKEN: 'Zq7-token-of-packages-Kx93',
  VAULT_TOKEN: 'Zq7-token-of-a-vault-Kx93',
  HTTPS_PROXY: 'http://me:Zq7-password-Kx93@127.0.0.1:9',
  NO_PROXY: '127.0.0.1',
};

const say = (command: string, more = {}) => ({ calls: [{ name: 'terminal', arguments: { command, ...more } }] });

/** The rules of a whole machine: these doors hold without any wall. */
function setUp(stage: CliStage, server: ScriptedServer): Record<string, string> {
  mkdirSync(stage.root, { recursive: true });
  writeFileSync(join(stage.root, 'config.yaml'), 'sandbox: {mode: machine}\nmodel: openai/m\n');
  return { OPENAI_API_KEY: SECRETS.OPENAI_API_KEY, OPENAI_BASE_URL: server.baseUrl };
}

describe('the environment', () => {
  verifies.slow(
    'core:terminal:environment',
    'gives a command no key of the process, nor by way of /proc',
    async (t) => {
      const stage = createCliStage(t);
      const server = await startScriptedServer(
        [
          say('env; sh look.sh; true'),
          say('env > seen.txt; echo "$HOME" "$TALARIA_INSIDE"', { background: true }),
          say('until grep -q PATH seen.txt; do sleep 0.05; done; cat seen.txt'),
          'Done.',
        ],
        { models: ['m'], context: t },
      );
      const look =
        'cat /proc/$PPID/environ /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n" | grep -a "^VAULT_TOKEN"\n';
      writeFileSync(join(stage.cwd, 'look.sh'), look);
      const env = { ...SECRETS, ...setUp(stage, server), MY_SETTING: 'of-my-own', GOFLAGS: '-mod=mod' };
      const turn = await stage.run(['-p', 'look around', '--yes'], { env });
      assert.equal(turn.code, 0, turn.err);
      const seen = JSON.stringify(server.requests.map(({ body }) => body));
      for (const [name, value] of Object.entries(SECRETS)) {
        assert.ok(name === 'NO_PROXY' || !`${seen}${turn.out}${turn.err}`.includes(value), name);
      }
      assert.doesNotMatch(seen, /Zq7-|MY_SETTING/);
      assert.match(seen, /GOFLAGS=-mod=mod/);
      const file = readFileSync(join(stage.cwd, 'seen.txt'), 'utf8');
      assert.doesNotMatch(file, /Zq7-|_TOKEN|_KEY|MY_SETTING/);
      assert.ok(server.requests.every(({ headers }) => headers.authorization === `Bearer ${SECRETS.OPENAI_API_KEY}`));
    },
  );

  verifies.slow('core:terminal:environment', 'gives what the owner names', async (t) => {
    const stage = createCliStage(t);
    const server = await startScriptedServer([say('echo "$GITHUB_TOKEN" | wc -c; echo "$MY_SETTING"'), 'Done.'], {
      models: ['m'],
      context: t,
    });
    const env = { ...SECRETS, ...setUp(stage, server), MY_SETTING: 'of-my-own' };
    writeFileSync(
      join(stage.root, 'config.yaml'),
      'sandbox: {mode: machine, env: [GITHUB_TOKEN, MY_SETTING]}\nmodel: openai/m\n',
    );
    assert.equal((await stage.run(['-p', 'look', '--yes'], { env })).code, 0);
    assert.match(
      JSON.stringify(server.requests.at(-1)?.body),
      new RegExp(`${SECRETS.GITHUB_TOKEN.length + 1}\\\\\\\\?nof-my-own`),
    );
  });
});

const CHANGES = ['config set approvals.mode off', 'pending accept 1', 'import hermes --from .', 'memory add x'];

describe('a talaria that a command starts', () => {
  verifies.slow(
    'core:inside:changes-refused',
    'reads, and changes nothing, by its mark or by its parents',
    async (t) => {
      const stage = createCliStage(t);
      const program = `'${process.execPath}' '${MAIN}'`;
      const wiped = `env -i PATH="$PATH" HOME="$HOME" TALARIA_HOME="$TALARIA_HOME" NODE_COMPILE_CACHE='${COMPILE_CACHE}' ${program}`;
      const tried = (words: string) => `(${words} </dev/null 2>&1; echo "code $?") &`;
      // Its parents end before it starts, so nothing above it tells where it came from; it has left their group by then.
      writeFileSync(
        join(stage.cwd, 'late.sh'),
        `touch begun\nsleep 0.3\n${wiped} config set approvals.mode off\necho "code $?" >late.txt\n`,
      );
      const server = await startScriptedServer(
        [
          say([...CHANGES.map((words) => tried(`${program} ${words}`)), 'wait'].join('\n')),
          say([tried(`${wiped} config set approvals.mode off`), tried(`${wiped} -p hello`), 'wait'].join('\n')),
          say('(setsid sh late.sh </dev/null >/dev/null 2>&1 &); until [ -e begun ]; do sleep 0.05; done'),
          say('until grep -q code late.txt; do sleep 0.05; done 2>/dev/null; cat late.txt'),
          say(`${program} config get approvals.mode; ${program} --version`),
          'Done.',
        ],
        { models: ['m'], context: t },
      );
      const env = setUp(stage, server);
      const before = readFileSync(join(stage.root, 'config.yaml'), 'utf8');
      const turn = await stage.run(['-p', 'do it', '--yes'], { env });
      assert.equal(turn.code, 0, turn.err);
      assert.equal(server.requests.length, 6, 'no turn of another talaria');
      const said = JSON.stringify(server.requests.at(-1)?.body.messages);
      assert.equal(said.match(/code 3/g)?.length, CHANGES.length + 3, said);
      assert.doesNotMatch(said, /code [0124-9]/);
      assert.match(said, /Type it in your own terminal/);
      assert.match(said, /an agent does not start itself/);
      assert.match(said, /ask\\n\d+\.\d+\.\d+/);
      assert.equal(readFileSync(join(stage.root, 'config.yaml'), 'utf8'), before);
    },
  );

  verifies.slow('core:inside:changes-refused', 'is the owner, started beside a session that is live', async (t) => {
    const stage = createCliStage(t);
    const server = await startScriptedServer([say('until [ -e go.txt ]; do sleep 0.05; done'), 'Done.'], {
      models: ['m'],
      context: t,
    });
    const env = setUp(stage, server);
    let beside: Promise<unknown> | undefined;
    const turn = await stage.run(['-p', 'wait', '--yes', '--output-format', 'stream-json'], {
      env,
      onOutput: (out) => {
        if (!out.includes('"tool-start"')) return;
        beside ??= stage.run(['config', 'set', 'agent.max_steps', '7']).then((ran) => {
          writeFileSync(join(stage.cwd, 'go.txt'), '');
          return ran;
        });
      },
    });
    assert.equal(turn.code, 0, turn.err);
    assert.deepEqual(await beside, { code: 0, signal: null, out: 'agent.max_steps is now 7\n', err: '' });
    assert.match(readFileSync(join(stage.root, 'config.yaml'), 'utf8'), /max_steps: 7/);
  });
});

describe('the home as a folder to work in', () => {
  verifies.slow(
    'core:session:folder',
    'is refused with what to do instead, for a chat and for -p, and nothing is made',
    async (t) => {
      const stage = createCliStage(t);
      for (const args of [['-p', 'hi'], ['hi there'], []]) {
        const run = await stage.run(['--cwd', stage.folder, ...args]);
        assert.equal(run.code, 3, run.err);
        assert.match(run.err, /is your home folder[^\n]*\n[^\n]*mkdir ~\/work && cd ~\/work && talaria/);
      }
      assert.equal(existsSync(stage.root), false);
      assert.equal((await stage.run(['--cwd', stage.folder, 'config', 'get', 'approvals.mode'])).out, 'ask\n');
    },
  );
});
