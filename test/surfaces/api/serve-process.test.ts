import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type ServerStep, startScriptedServer } from '#testing/scripted-server.ts';
import { until } from '../../ends.ts';
import { COMPILE_CACHE, createCliStage, MAIN } from '../../scenario/cli-process.ts';
import { verifies } from '../../verifies.ts';
import type { Json } from './serve-stage.ts';

async function createHome(t: TestContext, steps: readonly ServerStep[]) {
  const model = await startScriptedServer(steps, { context: t });
  const stage = createCliStage(t);
  mkdirSync(stage.root, { recursive: true, mode: 0o700 });
  const config = `model:\n  default: scripted-model\n  base_url: ${model.baseUrl}\nsandbox:\n  mode: machine\n`;
  writeFileSync(join(stage.root, 'config.yaml'), config, { mode: 0o600 });
  const start = (args: readonly string[]): ChildProcess => {
    const { PATH = '' } = process.env;
    const env = { PATH, HOME: stage.folder, TALARIA_HOME: stage.root, NODE_COMPILE_CACHE: COMPILE_CACHE };
    const child = spawn(process.execPath, [MAIN, ...args], { cwd: stage.cwd, env });
    t.after(() => child.kill('SIGKILL'));
    return child;
  };
  const serve = async () => {
    const child = start(['serve', '--port', '0']);
    const [first] = (await once(child.stdout ?? child, 'data')) as [Buffer];
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(String(first))?.[0] ?? assert.fail(String(first));
    return { child, url, said: String(first), closed: once(child, 'close') as Promise<[number | null, string | null]> };
  };
  const key = () => /TALARIA_API_KEY=(.+)/.exec(readFileSync(join(stage.root, '.env'), 'utf8'))?.[1] ?? '';
  const chat = (url: string, messages: readonly Json[]) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key()}` },
      body: JSON.stringify({ model: 'talaria', messages }),
    });
  return { model, stage, start, serve, key, chat };
}

const user = (content: string) => ({ role: 'user', content });

verifies.slow(
  ['R5.60', 'R5.209'],
  'one line, a key made once, no open host without a key, a port in use is named',
  async (t) => {
    const { stage, serve, key } = await createHome(t, []);
    const open = await stage.run(['serve', '--host', '0.0.0.0', '--port', '0']);
    assert.deepEqual([open.code, open.out], [3, '']);
    assert.match(open.err, /TALARIA_API_KEY/);
    const { child, said, url, closed } = await serve();
    assert.match(
      said,
      /^Talaria serves \/v1, \/mcp(?:, pages at \/)? at http:\/\/127\.0\.0\.1:\d+; its key: talaria serve key\n$/,
    );
    const made = key();
    assert.match(made, /^tal-[0-9a-f]{48}$/);
    assert.equal((await stage.run(['serve', 'key'])).out, `${made}\n`);
    const opened = await stage.run(['serve', '--host', '0.0.0.0', '--port', '0']);
    assert.deepEqual([opened.code, opened.out], [3, ''], 'a key that was made here is for this machine');
    const taken = await stage.run(['serve', '--port', new URL(url).port]);
    assert.equal(taken.code, 1);
    assert.match(taken.err, new RegExp(`port ${new URL(url).port} of 127.0.0.1 is in use`));
    assert.equal((await stage.run(['serve', '--port', 'x'])).code, 2);
    child.kill('SIGTERM');
    assert.deepEqual(await closed, [0, null]);
    assert.equal(key(), made);
  },
);

verifies.slow(
  ['R5.66', 'R5.75'],
  'the same chat goes on after kill -9, also in the middle of a turn; SIGTERM lets a turn end',
  async (t) => {
    const steps: ServerStep[] = [
      'One.',
      { calls: [{ name: 'terminal', arguments: { command: 'echo seen' } }] },
      { fault: 'hang' },
      'Two.',
    ];
    const { model, serve, chat } = await createHome(t, [
      ...steps,
      { calls: [{ name: 'terminal', arguments: { command: 'sleep 1' } }] },
      'Late.',
    ]);
    const first = await serve();
    const one = (await (await chat(first.url, [user('first')])).json()) as Json;
    const talk = [user('first'), one.choices[0].message, user('second')];
    const cut = chat(first.url, talk).catch(() => undefined);
    await until(() => model.requests.length === 3);
    first.child.kill('SIGKILL');
    await Promise.all([cut, first.closed]);
    const second = await serve();
    const two = (await (await chat(second.url, talk)).json()) as Json;
    assert.equal(two.choices[0].message.content, 'Two.');
    const sent = model.requests.map(({ body }) => (body.messages as Json[]).map((one) => JSON.stringify(one)));
    assert.deepEqual(sent[1]?.slice(0, sent[0]?.length), sent[0]);
    assert.deepEqual(sent[2]?.slice(0, sent[1]?.length), sent[1]);
    assert.deepEqual(sent[3], sent[1], 'what was asked is asked again, byte for byte');
    const waiting = chat(second.url, [user('wait')]);
    await until(() => model.requests.length === 5);
    second.child.kill('SIGTERM');
    const late = (await (await waiting).json()) as Json;
    assert.equal(late.choices[0].message.content, 'Late.', 'a running turn comes to its end');
    assert.deepEqual(await second.closed, [0, null]);
  },
);

verifies.slow(
  ['R5.29', 'R5.208', 'R5.28'],
  'mcp serve: protocol lines alone on standard output, and it ends with its input',
  async (t) => {
    const { start, stage } = await createHome(t, []);
    // A notice of the start, which must not come between.
    writeFileSync(join(stage.root, 'config.yaml'), 'modle: x\nproviders:\n  a:\n    api_key: ${NOT_SET}\n', {
      mode: 0o600,
    });
    const child = start(['mcp', 'serve']);
    let [out, err] = ['', ''];
    child.stdout?.on('data', (chunk) => (out += chunk));
    child.stderr?.on('data', (chunk) => (err += chunk));
    const clientInfo = { name: 'test', version: '1' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\nnot json\n`);
    await until(() => out.includes('\n'));
    child.stdin?.end();
    assert.deepEqual(await once(child, 'close'), [0, null]);
    const [line, ...more] = out.split('\n').filter(Boolean);
    assert.equal(JSON.parse(line ?? '').result.serverInfo.name, 'talaria');
    for (const other of more) assert.equal(JSON.parse(other).jsonrpc, '2.0');
    assert.match(err, /modle is no setting/);
  },
);
