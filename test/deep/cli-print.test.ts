/** `talaria -p` as scripts use it: real processes, real pipes, a provider on loopback. */
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext } from 'node:test';
import { type ServerStep, startScriptedServer } from '#testing/scripted-server.ts';
import { type CliRunOptions, createCliStage, withoutWalls } from '../scenario/cli-process.ts';
import { verifies } from '../verifies.ts';

const ASK_TOOL = { calls: [{ name: 'terminal', arguments: { command: 'echo from-the-tool' } }] };

async function start(t: TestContext, steps: readonly ServerStep[]) {
  const server = await startScriptedServer(steps, { models: ['m', 'other'], context: t });
  const stage = withoutWalls(createCliStage(t));
  const env = { OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: 'a-key-for-tests' };
  const run = (args: readonly string[], options: CliRunOptions = {}) =>
    stage.run(args, { ...options, env: { ...env, ...options.env } });
  return { server, stage, run };
}

describe('talaria -p', () => {
  verifies(
    ['core:cli:print-text', 'core:cli:stdin-is-context', 'core:cli:continue-resume'],
    'answers through a tool, takes the pipe as context, and goes on where it was',
    async (t) => {
      const { run, server } = await start(t, [ASK_TOOL, 'It printed from-the-tool.', 'Again.', 'And again.']);
      const first = await run(['-p', 'run it'], { stdin: 'piped context\n' });
      assert.deepEqual([first.code, first.out, first.err], [0, 'It printed from-the-tool.\n', '']);
      assert.match(server.requests[0]?.raw ?? '', /piped context/);
      assert.match(server.requests[1]?.raw ?? '', /from-the-tool/);
      const second = await run(['-c', '-p', 'more', '--output-format', 'json']);
      const { session_id: id } = JSON.parse(second.out);
      assert.match(server.requests[2]?.raw ?? '', /run it[\s\S]*It printed[\s\S]*more/);
      const third = await run(['--resume', id.slice(0, 18), '-p', 'once more', '--output-format', 'json']);
      assert.equal(JSON.parse(third.out).session_id, id);
    },
  );

  verifies(
    'core:cli:model-and-toolsets-flags',
    '--model and --toolsets hold for this run only; unknown ones are named',
    async (t) => {
      const { run, server } = await start(t, ['One.', 'Two.']);
      const flagged = await run(['-p', 'hi', '-m', 'openai/other', '-t', 'memory', '--output-format', 'json']);
      assert.equal(JSON.parse(flagged.out).model, 'openai/other');
      const bare = await run(['-p', 'hi', '--output-format', 'json']);
      assert.equal(JSON.parse(bare.out).model, 'openai/m');
      const names = server.requests.map((request) => (request.body.tools as { function: { name: string } }[]).length);
      assert.equal(names[0], 1);
      assert.ok((names[1] ?? 0) > 5);
      const unknown = await run(['-p', 'hi', '-t', 'nope']);
      assert.equal(unknown.code, 2);
      assert.match(unknown.err, /no toolset named "nope"; toolsets: .*memory/);
    },
  );

  verifies('core:cli:ctrl-c', 'SIGINT in mid-turn ends with 130, and what was acknowledged is stored', async (t) => {
    const { run } = await start(t, [{ fault: 'hang-after' }, 'Here.']);
    let sent = false;
    const stopped = await run(['-p', 'keep this', '--output-format', 'stream-json'], {
      onOutput: (out, kill) => {
        if (sent || !out.includes('text-delta')) return;
        sent = true;
        kill('SIGINT');
      },
    });
    assert.equal(stopped.code, 130, stopped.err);
    assert.match(stopped.err, /stopped by SIGINT/);
    const last = JSON.parse(stopped.out.trimEnd().split('\n').at(-1) ?? '');
    assert.deepEqual([last.outcome, last.is_error], ['aborted', true]);
    const again = await run(['-c', '-p', 'still there?']);
    assert.equal(again.out, 'Here.\n');
  });

  verifies('core:cli:print-text', 'two at once on one home do not disturb each other', async (t) => {
    const { run, stage } = await start(t, ['Same.', 'Same.']);
    const both = await Promise.all([run(['-p', 'left']), run(['-p', 'right'])]);
    assert.deepEqual(
      both.map(({ code, out, err }) => [code, out, err]),
      [
        [0, 'Same.\n', ''],
        [0, 'Same.\n', ''],
      ],
    );
    const listed = await stage.run(['sessions', '--json']);
    assert.deepEqual(
      JSON.parse(listed.out)
        .map((row: { title: string }) => row.title)
        .sort(),
      ['left', 'right'],
    );
  });

  verifies(
    'core:bad-input:huge-output',
    '200 MB of output are kept in a file, and the process stays small',
    async (t) => {
      const size = 200_000_000;
      const { run, stage, server } = await start(t, [
        { calls: [{ name: 'terminal', arguments: { command: `yes 0123456789 | head -c ${size}` } }] },
        'That was much.',
      ]);
      const report = "process.on('exit',()=>process.stderr.write('rss '+process.resourceUsage().maxRSS))";
      const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(report)}` };
      const done = await run(['-p', 'make much'], { env });
      assert.deepEqual([done.code, done.out], [0, 'That was much.\n']);
      assert.ok(Number(/rss (\d+)/.exec(done.err)?.[1]) < 300_000, done.err);
      assert.ok((server.requests[1]?.raw.length ?? 0) < 400_000);
      const spill = join(stage.root, 'cache', 'spill');
      const kept = readdirSync(spill, { recursive: true, encoding: 'utf8' }).map((name) => statSync(join(spill, name)));
      assert.deepEqual(
        kept.filter((facts) => facts.isFile()).map((facts) => facts.size),
        [size],
      );
    },
  );
});
