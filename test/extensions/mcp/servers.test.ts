/** How servers are written, agreed to, added and signed in to; and what those do that are not as they should be. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { room } from '#extensions/mcp/room.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { startMcpHttp } from '../../doubles/mcp-http.ts';
import { createStage, groundOf, runCommand, runSpec } from '../../surfaces/app/app-fixture.ts';
import { verifies } from '../../verifies.ts';
import { callTool, createMcpStage, DOUBLE, type McpStage, sessionTools } from './mcp-stage.ts';

const rowsOf = (data: unknown) => data as readonly Record<string, unknown>[];

/** Programs that a command finds first: `npx` starts the double, `browser` follows an address. */
function addPrograms(stage: McpStage): void {
  const npx = stage.temp.write('bin/npx', `#!/bin/sh\nexec '${process.execPath}' '${DOUBLE}' "$@"\n`);
  const follow = 'fetch(process.argv[1]).then((answer) => answer.text())';
  const browser = stage.temp.write('bin/browser', `#!/bin/sh\nexec '${process.execPath}' -e '${follow}' "$1"\n`);
  for (const path of [npx, browser]) chmodSync(path, 0o700);
  Object.assign(stage.environment.variables, { PATH: `${join(stage.temp.path, 'bin')}:${process.env.PATH}` });
}

verifies.slow(
  'R5.1',
  'servers are written as hermes-agent has them; what is wrong, or not set, is named',
  async (t) => {
    const stage = createMcpStage(t);
    stage.configure({
      one: stage.double([], { env: { KEY: '${NOT_SET}' } }),
      two: stage.double([], { unknown_key: 1 }),
      off: { command: 'x', enabled: false },
    });
    const list = await runCommand(stage, 'mcp list');
    const states = rowsOf(list.data).map(({ name, state, error }) => [name, state, error]);
    assert.deepEqual(states[1], ['two', 'ready', null]);
    assert.deepEqual(states[2], ['off', 'disabled', null]);
    assert.match(String(states[0]), /^one,failed,.*\$\{NOT_SET\} is not set/);
    for (const [servers, key] of [
      [{ one: { command: 3 } }, /mcp_servers\.one\.command/],
      [{ one: { command: 'x', url: 'http://x' } }, /either command or url/],
      [{ 'Bad Name': { command: 'x' } }, /mcp_servers\.Bad Name/],
    ] as const) {
      stage.configure(servers);
      await assert.rejects(runCommand(stage, 'mcp list'), (error: Error) => key.test(error.message));
    }
  },
);

verifies('R5.1', 'import hermes takes servers over, without keys, under names that are names here', async (t) => {
  const stage = createStage(t);
  const servers =
    'mcp_servers:\n  my_files:\n    command: npx\n    args: [-y, x]\n    env:\n      API_KEY: literal-key-1\n      ROOT: ${ROOT}\n    sampling: {enabled: true}\n';
  stage.temp.write('.hermes/config.yaml', servers);
  await runCommand(stage, 'import', { what: 'hermes' }).catch(() => runCommand(stage, 'import hermes'));
  const config = readFileSync(join(stage.root, 'config.yaml'), 'utf8');
  assert.match(config, /my-files:\s+command: npx/);
  assert.ok(config.includes('${ROOT}') && !config.includes('literal-key-1') && !config.includes('sampling'), config);
});

verifies.slow('R5.2', '.mcp.json counts after a yes for exactly this content', async (t) => {
  const stage = createMcpStage(t, { GIVEN: 'yes' });
  const path = join(stage.cwd, '.mcp.json');
  const entry = {
    ...stage.double(),
    env: { A: '${GIVEN}', B: '${NOT_GIVEN:-default}', MCP_LOG: join(stage.temp.path, 'notes') },
    trust: 'all',
  };
  const write = (servers: object) => writeFileSync(path, JSON.stringify({ mcpServers: servers }));
  write({ Files: entry, broken: { command: 1 } });
  const app = await stage.start();
  assert.equal((await sessionTools(app)).size, 0);
  assert.ok(app.notices.some((text) => text.includes('talaria mcp trust')));
  assert.deepEqual(stage.notes(), []);
  assert.match((await runCommand(stage, 'mcp trust')).text, /files: .*A=\$\{GIVEN\}[\s\S]*broken: command/);
  const tools = await sessionTools(app);
  assert.equal(
    tools.get('mcp__files__write')?.risk?.({} as never, {} as never).level,
    'ask',
    'the file cannot speak for the owner',
  );
  const env = JSON.parse((await callTool(app, tools.get('mcp__files__env'))).text);
  assert.deepEqual([env.A, env.B], ['yes', 'default']);
  write({ Files: entry, more: entry });
  assert.equal((await sessionTools(app)).size, 0);
  assert.deepEqual(rowsOf((await runCommand(stage, 'mcp list', { cached: true })).data), []);
  writeFileSync(path, '{ no json');
  assert.match((await runCommand(stage, 'mcp list')).text, /is no JSON object/);
});

verifies.slow(
  ['R5.12', 'R5.15'],
  'list, tools, call, add and remove; each as JSON; what fails is not written',
  async (t) => {
    const stage = createMcpStage(t);
    addPrograms(stage);
    const added = await runCommand(stage, 'mcp add', {
      name: 'filesystem',
      words: ['.'],
      env: [`MCP_LOG=${join(stage.temp.path, 'notes')}`, `TOKEN=ghp_${'a1B2'.repeat(9)}`],
    });
    assert.match(added.text, /filesystem is added: \d+ tools/);
    const config = readFileSync(join(stage.root, 'config.yaml'), 'utf8');
    assert.ok(
      config.includes('@modelcontextprotocol/server-filesystem@2026.8.31') && config.includes(stage.cwd),
      config,
    );
    assert.match(config, /TOKEN: \$\{MCP_FILESYSTEM_TOKEN\}/);
    assert.match(readFileSync(join(stage.root, '.env'), 'utf8'), /MCP_FILESYSTEM_TOKEN=ghp_/);
    const cached = await runCommand(stage, 'mcp list', { cached: true });
    const row = { name: 'filesystem', source: 'home', transport: 'stdio', state: 'remembered', error: null };
    const { tools, tokens, ...rest } = rowsOf(cached.data)[0] ?? {};
    assert.deepEqual(rest, row);
    assert.ok(Number(tools) > 10 && Number(tokens) > 100);
    assert.match(cached.text, /filesystem: poison is not shown: the guard found/);
    assert.equal(rowsOf((await runCommand(stage, 'mcp list')).data)[0]?.state, 'ready');
    const offered = rowsOf((await runCommand(stage, 'mcp tools', { name: 'filesystem' })).data);
    assert.deepEqual(Object.keys(offered[0] ?? {}), ['name', 'tool', 'description', 'input_schema', 'shown']);
    assert.deepEqual(
      [offered[0]?.tool, offered[0]?.shown, offered.at(-1)?.shown],
      ['mcp__filesystem__add', 'shown', 'hidden'],
    );
    const called = await runCommand(stage, 'mcp call', {
      name: 'filesystem',
      tool: 'add',
      arguments: '{"a": 2, "b": 3}',
    });
    assert.deepEqual((called.data as { structuredContent: object }).structuredContent, { sum: 5 });
    const failed = await runCommand(stage, 'mcp call', { name: 'filesystem', tool: 'fail' });
    assert.deepEqual([failed.failure?.exitCode, failed.text.split('\n')[0]], [1, 'the disk is full']);
    assert.equal(
      (await runCommand(stage, 'mcp call', { name: 'filesystem', tool: 'add', arguments: '[' })).failure?.exitCode,
      2,
    );
    const bad = await runCommand(stage, 'mcp add', { name: 'bad', words: ['/no/such/program'] });
    assert.match(bad.failure?.message ?? '', /cannot start \/no\/such\/program/);
    assert.ok(!readFileSync(join(stage.root, 'config.yaml'), 'utf8').includes('bad:'));
    assert.equal((await runCommand(stage, 'mcp remove', { name: 'bad' })).failure?.code, 'no-such-server');
    await runCommand(stage, 'mcp remove', { name: 'filesystem' });
    assert.deepEqual(rowsOf((await runCommand(stage, 'mcp list')).data), []);
    assert.ok(!existsSync(join(stage.root, 'cache/mcp/filesystem.json')));
  },
);

verifies.slow('R5.15', 'the browser is a preset: a pinned version, without a window', async (t) => {
  const stage = createMcpStage(t);
  addPrograms(stage);
  await runCommand(stage, 'mcp add', { name: 'browser', words: ['--port', '1'] });
  const config = readFileSync(join(stage.root, 'config.yaml'), 'utf8');
  for (const word of ['@playwright/mcp@0.0.83', '--headless', '--isolated', '--port'])
    assert.ok(config.includes(word), word);
  const own = await runCommand(stage, 'mcp add', { name: 'browser', words: [process.execPath, DOUBLE] });
  assert.match(own.text, /browser is added/);
  assert.doesNotMatch(readFileSync(join(stage.root, 'config.yaml'), 'utf8'), /playwright/);
});

verifies.slow(
  'R5.14',
  'a login goes by a browser; tokens are private, renewed, bound to their address, and no part of a backup',
  async (t) => {
    const stage = createMcpStage(t);
    addPrograms(stage);
    const http = await startMcpHttp(t, { login: true });
    stage.configure({ far: { url: http.url, auth: 'oauth' } });
    const alone = await runCommand(stage, 'mcp call', { name: 'far', tool: 'add', arguments: '{"a": 1, "b": 1}' });
    assert.match(alone.failure?.message ?? '', /wants a login: talaria mcp login far/);
    assert.deepEqual([http.grants, http.headers], [[], []], 'with `auth: oauth` it is not even asked');
    Object.assign(stage.environment.variables, { BROWSER: join(stage.temp.path, 'bin/browser') });
    const login = await runCommand(stage, 'mcp login', { name: 'far' });
    assert.match(login.text, /^http:\/\/127\.0\.0\.1:\d+\/authorize\?[\s\S]*far answers: \d+ tools/);
    const file = join(stage.root, 'mcp-tokens/far.json');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const app = await stage.start();
    const call = async () => (await callTool(app, (await sessionTools(app)).get('mcp__far__add'), { a: 1, b: 1 })).text;
    assert.equal(await call(), '{"sum": 2}');
    http.expire();
    assert.equal(await call(), '{"sum": 2}');
    assert.deepEqual([...new Set(http.grants)], ['authorization_code', 'refresh_token']);
    const other = await startMcpHttp(t, { login: true });
    stage.configure({ far: { url: other.url } });
    Object.assign(stage.environment.variables, { BROWSER: '' });
    assert.match(
      (await runCommand(stage, 'mcp call', { name: 'far', tool: 'add' })).failure?.message ?? '',
      /wants a login/,
    );
    assert.ok(other.headers.every(({ authorization }) => authorization === undefined));
    const backup = await runCommand(stage, 'backup', { file: join(stage.temp.path, 'b.tar.gz') });
    assert.match(backup.text, /mcp-tokens/);
    const folder = join(stage.root, 'logs');
    const logs = existsSync(folder) ? readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8')) : [];
    assert.ok(!logs.join().includes('token-'));
  },
);

verifies('R5.14', 'without a browser the address is shown, and one that was ended at is pasted', async (t) => {
  const stage = createMcpStage(t);
  const http = await startMcpHttp(t, { login: true });
  stage.configure({ far: { url: http.url } });
  const app = await stage.start();
  const command = (await app.commands()).find(({ name }) => name === 'mcp login');
  assert.ok(command);
  const shown = Promise.withResolvers<string>();
  const ask = async () => (await fetch(await shown.promise, { redirect: 'manual' })).headers.get('location') ?? '';
  const context = { cwd: stage.cwd, signal: new AbortController().signal, ask };
  const lines: string[] = [];
  for await (const output of command.run({ name: 'far' } as never, context)) {
    if (output.type !== 'line') continue;
    lines.push(output.text);
    shown.resolve(lines[0] ?? '');
  }
  assert.match(lines.at(-1) ?? '', /far answers/);
});

verifies.slow(
  'R5.16',
  '/mcp shows the list and asks one anew; a prompt is a slash command, sent as foreign words',
  async (t) => {
    const stage = createMcpStage(t);
    stage.configure({ one: stage.double() });
    const app = await stage.start();
    await sessionTools(app);
    const commands = new Map((await app.commands()).map((command) => [command.name, command]));
    for (const name of ['mcp list', 'mcp reconnect', 'mcp trust'])
      assert.ok(commands.get(name)?.surfaces.includes('chat'), name);
    const sent: unknown[] = [];
    const place = { cwd: stage.cwd, submit: (...said: unknown[]) => void sent.push(said) };
    const starts = () => stage.notes().filter((note) => note.startsWith('start')).length;
    const before = starts();
    const again = commands.get('mcp reconnect');
    assert.match(again ? (await runSpec(again, { name: 'one' }, place)).text : '', /one answers: \d+ tools/);
    assert.equal(starts(), before + 1);
    const prompt = commands.get('mcp__one__greet');
    if (prompt) await runSpec(prompt, { words: ['Ada', 'Lovelace'] }, place);
    const part = { type: 'text', text: 'Say hello to Ada Lovelace.', origin: 'foreign', label: 'file' };
    assert.deepEqual(sent, [['Do what the prompt greet of the MCP server one says.', [part]]]);
  },
);

verifies.slow('R5.17', 'a skill of a server is listed, and taken through the skill door', async (t) => {
  const stage = createMcpStage(t);
  stage.configure({ one: stage.double(['skills']) });
  assert.match((await runCommand(stage, 'mcp list')).text, /one: skill brew-tea/);
  const taken = await runCommand(stage, 'mcp skill', { name: 'one', skill: 'brew-tea' });
  assert.match(taken.text, /Installed brew-tea/);
  assert.match((await runCommand(stage, 'skills list')).text, /brew-tea/);
  assert.equal((await runCommand(stage, 'mcp skill', { name: 'one', skill: 'other' })).failure?.exitCode, 3);
});

async function closedPort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}/mcp`;
}

async function redirecting(t: TestContext, to: string): Promise<string> {
  const server = createServer((_, response) => response.writeHead(307, { location: to }).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return `http://localhost:${(server.address() as AddressInfo).port}/mcp`;
}

verifies.slow(
  'R5.18',
  'each bad server is named with its fault, beside a good one that works in the first turn',
  async (t) => {
    const stage = createMcpStage(t);
    const far = await startMcpHttp(t);
    const noMetadata = await startMcpHttp(t, { login: true, metadata: false });
    stage.configure({
      good: stage.double(),
      missing: { command: '/no/such/program' },
      exits: stage.double(['exit']),
      many: stage.double(['many']),
      closed: { url: await closedPort() },
      login: { url: noMetadata.url },
      away: { url: await redirecting(t, far.url), headers: { 'X-Key': 'secret-1' } },
    });
    // On a clock that stands: what is slow on a busy machine still answers in time.
    const ground = groundOf(t, { environment: stage.environment, clock: createManualClock() });
    const list = (await room.commands?.(ground))?.find(({ name }) => name === 'mcp list');
    assert.ok(list);
    const { data, text } = await runSpec(list, {}, { cwd: stage.cwd });
    const errors = Object.fromEntries(rowsOf(data).map(({ name, state, error }) => [name, `${state}: ${error}`]));
    const expected: Record<string, RegExp> = {
      good: /^ready/,
      missing: /cannot start \/no\/such/,
      exits: /it said: no licence/,
      many: /^ready/,
      closed: /ECONNREFUSED|connect/,
      login: /wants a login/,
      away: /redirect/i,
    };
    for (const [name, fault] of Object.entries(expected)) assert.match(errors[name] ?? '', fault, name);
    assert.match(text, /many: 9488 more tools are not taken/);
    assert.deepEqual(far.headers, [], 'the header went nowhere');
    const clock = createManualClock();
    const app = await stage.start(clock);
    const tools = sessionTools(app);
    const ticking = (async () => {
      for (let step = 0; step < 200; step += 1) await clock.advance(100);
    })();
    const add = (await tools).get('mcp__good__add');
    await ticking;
    assert.equal((await callTool(app, add, { a: 1, b: 1 })).text, '{"sum": 2}');
  },
);
