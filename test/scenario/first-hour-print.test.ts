/** What scripts and habits expect of the command line, tried with the real command. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { startScriptedServer } from '#testing/scripted-server.ts';
import { slow } from '../slow.ts';
import { createCliStage, MAIN } from './cli-process.ts';

const reflex = ['-m', 'reflex'];

describe('the command line in its first hour', () => {
  slow('first hour 6: what is piped in is what the line is about', async (t) => {
    const stage = createCliStage(t);
    writeFileSync(join(stage.cwd, 'other.txt'), 'TODO c\n');
    const stdin = 'TODO a\nbanana split\nTODO b\n';
    const cases: readonly [string, RegExp][] = [
      ['find TODO in it', /:1:TODO a\n.*:3:TODO b/],
      ['find banana in this', /:2:banana split/],
      ['first 2 lines of it', /TODO a\n.*banana split/],
    ];
    for (const [text, expected] of cases) {
      const run = await stage.run([...reflex, '-p', text], { stdin });
      assert.equal(run.code, 0, `${text}: ${run.err}`);
      assert.match(run.out, expected, text);
      assert.doesNotMatch(run.out, /TODO c/);
    }
    const big = await stage.run([...reflex, '-p', 'find TODO in it'], { stdin: 'a TODO\n'.repeat(300_000) });
    assert.match(big.out, /:1:a TODO\n/);
    assert.match(big.err, /rules find in all of it.*talaria rlm ask --context - 'find TODO in it'/);
    const without = await stage.run([...reflex, '-p', 'find TODO in this']);
    assert.doesNotMatch(without.out, /TODO a/);
  });

  slow(
    'first hour 7: words that name no command are the first line of a chat, a slip in a command is told',
    async (t) => {
      const stage = createCliStage(t);
      writeFileSync(join(stage.cwd, 'a.txt'), 'one\n');
      for (const args of [['list the files here'], ['list', 'the', 'files', 'here', '--plain']]) {
        const run = await stage.run([...reflex, ...args], { stdin: '' });
        assert.equal(run.code, 0, run.err);
        assert.match(run.out, /> \$ ls -la[\s\S]*a\.txt/);
      }
      const about = await stage.run([...reflex, 'find TODO in it'], { stdin: 'TODO\nTODO\n' });
      assert.match(about.out, /:2:TODO/);
      const late = await stage.run([...reflex, '-p', '--output-format', 'json', 'list the files here']);
      assert.match(JSON.parse(late.out).result, /a\.txt/);
      for (const slip of [['sesions'], ['sesions', 'list'], ['model']]) {
        const run = await stage.run(slip);
        assert.equal(run.code, 2);
        assert.match(run.err, /unknown command '\w+'[\s\S]*Did you mean (?:sessions|models)/);
      }
    },
  );

  slow('first hour 7: --cwd works there, --session-id names the session, once', async (t) => {
    const stage = createCliStage(t);
    mkdirSync(join(stage.cwd, 'inner'));
    writeFileSync(join(stage.cwd, 'inner', 'there.txt'), 'one\n');
    const named = [
      '--cwd',
      'inner',
      '--session-id',
      'my-run-1',
      '-p',
      'list the files here',
      '--output-format',
      'json',
    ];
    const run = await stage.run([...reflex, ...named]);
    const result = JSON.parse(run.out);
    assert.match(result.result, /there\.txt/);
    assert.equal(result.session_id, 'my-run-1');
    const again = await stage.run([...reflex, ...named]);
    assert.deepEqual([again.code, JSON.parse(again.out).error.code], [3, 'session-exists']);
    const on = await stage.run([...reflex, '-p', 'help', '--resume', 'my-run-1', '--output-format', 'json']);
    assert.equal(JSON.parse(on.out).session_id, 'my-run-1');
    for (const folder of ['nosuch', 'inner/there.txt']) {
      const wrong = await stage.run(['--cwd', folder, '-p', 'help']);
      assert.equal(wrong.code, 2);
      assert.match(wrong.err, /--cwd \S+: (?:there is no such folder|it is no folder)/);
    }
  });

  slow('first hour 7: in a folder that was deleted one line says so, with exit code 3', (t) => {
    const stage = createCliStage(t);
    for (const args of [
      ['sessions', 'list'],
      ['-p', 'help'],
    ]) {
      mkdirSync(join(stage.cwd, 'gone'));
      const started = ['-c', 'rmdir "$PWD" && exec "$0" "$@"', process.execPath, MAIN, ...args];
      const env = { PATH: process.env.PATH, HOME: stage.folder, TALARIA_HOME: stage.root };
      const { status, stdout, stderr } = spawnSync('sh', started, {
        cwd: join(stage.cwd, 'gone'),
        env,
        encoding: 'utf8',
      });
      assert.deepEqual([status, stdout, stderr], [3, '', 'talaria: the folder you are in is gone: cd to another\n']);
    }
  });

  slow('first hour 7: --allowed-tools names tools that are there, --resume without an id lists how', async (t) => {
    const stage = createCliStage(t);
    const unknown = await stage.run([...reflex, '-p', 'help', '--allowed-tools', 'read_fil']);
    assert.equal(unknown.code, 2);
    assert.match(unknown.err, /no tool read_fil[\s\S]*Did you mean read_file/);
    const pick = await stage.run(['--resume']);
    assert.equal(pick.code, 2);
    assert.match(pick.err, /talaria sessions.*--resume ID.*--continue/);
  });

  slow('first hour 7: one process takes messages as lines of JSON and runs their turns in order', async (t) => {
    const server = await startScriptedServer(['One.', 'Two.'], { models: ['m'], context: t });
    const stage = createCliStage(t);
    const env = { OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: 'a-key-for-tests' };
    const stdin = '{"type":"user","text":"first"}\n{"type":\n{"type":"user","message":{"content":"second"}}\n';
    const args = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json'];
    const run = await stage.run([...args, '--append-system-prompt', 'Answer in one word.'], { stdin, env });
    const lines = run.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const results = lines.flatMap(({ type, result }) => (type === 'result' ? [result] : []));
    assert.deepEqual([run.code, results], [1, ['One.', 'Two.']]);
    assert.equal(lines.find(({ type }) => type === 'error').line, 2);
    const prompts = server.requests.map(({ raw }) => /Answer in one word\./.test(raw));
    assert.deepEqual(prompts, [true, true]);
  });
});
