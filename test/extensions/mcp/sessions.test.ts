/** Servers of others as a session meets them: what is shown, when one is started, what a call does, and what is left behind. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createManualClock } from '#testing/manual-clock.ts';
import { PICTURES } from '../../doubles/pictures.ts';
import { until } from '../../ends.ts';
import { createCliStage } from '../../scenario/cli-process.ts';
import { runCommand } from '../../surfaces/app/app-fixture.ts';
import { verifies } from '../../verifies.ts';
import { callTool, createMcpStage, DOUBLE, isAlive, type McpStage, sessionTools } from './mcp-stage.ts';

const starts = (stage: McpStage) => stage.notes().filter((note) => note.startsWith('start'));
const pidOf = (stage: McpStage) => Number(starts(stage).at(-1)?.split(' ')[1]);

verifies.slow(
  ['R5.3', 'R5.12', 'core:mcp:tools'],
  'names are whole, unlike and short; what the guard finds is hidden, what is long is cut',
  async (t) => {
    const stage = createMcpStage(t);
    stage.configure({ one: stage.double() });
    const tools = await sessionTools(await stage.start());
    const names = [...tools.keys()];
    assert.ok(names.includes('mcp__one__add') && names.every((name) => /^[\w-]{1,64}$/.test(name)), names.join());
    assert.equal(names.filter((name) => /^mcp__one__odd_name__[0-9a-f]{8}$/.test(name)).length, 2);
    const far = names.find((name) => name.startsWith('mcp__one__far-'));
    assert.match(far ?? '', /_[0-9a-f]{8}$/);
    assert.match((await callTool(await stage.start(), tools.get(far ?? ''), {})).text, /^far-x{80} /);
    assert.ok(!names.some((name) => name.includes('poison')));
    assert.equal(tools.get('mcp__one__long')?.description.length, 1_024);
    assert.deepEqual(tools.get('mcp__one__old')?.parameters?.properties, { n: { $ref: '#/definitions/n' } });
    assert.equal(tools.get('mcp__one__add')?.toolset, 'mcp-one');
    assert.equal(tools.get('mcp__one__add')?.defer, 'when-many');
  },
);

verifies.slow(
  ['R5.4', 'R5.5'],
  'a session starts nothing; the first call connects, one process serves all, and ends when idle',
  async (t) => {
    const stage = createMcpStage(t);
    stage.configure({ one: stage.double(), old: stage.double(['old']) });
    const first = await stage.start();
    await sessionTools(first);
    await first.shutdown();
    const before = starts(stage).length;
    const clock = createManualClock();
    const app = await stage.start(clock);
    const [here, there] = [await sessionTools(app), await sessionTools(app, { cwd: stage.root })];
    assert.equal(starts(stage).length, before, 'both sessions began without a process');
    const sum = await callTool(app, here.get('mcp__one__add'), { a: 1, b: 2 });
    assert.equal(sum.text, '{"sum": 3}');
    assert.equal(sum.origin, 'foreign');
    await callTool(app, there.get('mcp__one__add'), { a: 1, b: 2 });
    assert.equal(starts(stage).length, before + 1);
    const pid = pidOf(stage);
    // One that ends at what it does not know is asked as the older protocol has it.
    assert.equal((await callTool(app, here.get('mcp__old__add'), { a: 2, b: 2 })).text, '{"sum": 4}');
    await clock.advance(600_000);
    await until(() => !isAlive(pid));
    assert.equal(
      (await callTool(app, here.get('mcp__one__add'), { a: 3, b: 2 })).text,
      '{"sum": 5}',
      'and comes again',
    );
  },
);

verifies.slow(
  'R5.4',
  'a mute server is waited for 1.5 s and told; a list that changed counts from the next session',
  async (t) => {
    const stage = createMcpStage(t);
    stage.configure({ mute: stage.double(['hang']), lists: stage.double(['lists']) });
    const clock = createManualClock();
    const app = await stage.start(clock);
    const session = sessionTools(app);
    await until(() => existsSync(join(stage.root, 'cache/mcp/lists.json')) && starts(stage).length === 2);
    await clock.advance(1_500);
    const tools = await session;
    assert.ok([...tools.keys()].every((name) => name.startsWith('mcp__lists__')));
    assert.ok(
      app.notices.some((text) => text.includes('mute has not answered yet')),
      app.notices.join(),
    );
    await callTool(app, tools.get('mcp__lists__change'));
    await until(() => readFileSync(join(stage.root, 'cache/mcp/lists.json'), 'utf8').includes('"new"'));
    assert.ok(!tools.has('mcp__lists__new'));
    stage.configure({ lists: stage.double(['lists']) });
    assert.ok((await sessionTools(await stage.start())).has('mcp__lists__new'));
  },
);

verifies.slow(
  ['R5.6', 'R5.18'],
  'one that dies in a call is told, tried again after 1, 2, 4 s, and harms no other',
  async (t) => {
    const stage = createMcpStage(t);
    stage.configure({ bad: stage.double(), good: stage.double() });
    const clock = createManualClock();
    const app = await stage.start(clock);
    const tools = await sessionTools(app);
    for (const pause of [1, 2, 4]) {
      const died = await callTool(app, tools.get('mcp__bad__die'));
      assert.ok(died.isError && /MCP server bad: /.test(died.text), died.text);
      const refused = await callTool(app, tools.get('mcp__bad__add'), { a: 1, b: 1 });
      assert.ok(
        refused.isError && refused.text.includes(`the last words; it is tried again in ${pause} s`),
        refused.text,
      );
      assert.equal((await callTool(app, tools.get('mcp__good__add'), { a: 1, b: 1 })).text, '{"sum": 2}');
      await clock.advance(pause * 1_000);
    }
    assert.equal((await callTool(app, tools.get('mcp__bad__add'), { a: 1, b: 1 })).text, '{"sum": 2}');
    await callTool(app, tools.get('mcp__bad__die'));
    assert.match((await callTool(app, tools.get('mcp__bad__add'))).text, /in 1 s/, 'it had worked in between');
  },
);

verifies.slow(
  'R5.7',
  'nothing outlives its connection: not what it started, nor one that is deaf to its end',
  async (t) => {
    const stage = createMcpStage(t);
    stage.configure({ one: stage.double(), deaf: stage.double(['stays']) });
    const app = await stage.start();
    const tools = await sessionTools(app);
    const grandchild = Number((await callTool(app, tools.get('mcp__one__stay'))).text);
    await callTool(app, tools.get('mcp__deaf__add'), { a: 1, b: 1 });
    const pids = [grandchild, ...starts(stage).map((note) => Number(note.split(' ')[1]))];
    assert.ok(pids.every(isAlive));
    await app.shutdown();
    await until(() => !pids.some(isAlive));
  },
);

verifies('R5.7', 'nor does it outlive us when we are killed', async (t) => {
  const stage = createCliStage(t);
  const log = join(stage.folder, 'notes');
  const server = { command: process.execPath, args: [DOUBLE], env: { MCP_LOG: log } };
  const folder = stage.root;
  mkdirSync(folder);
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify({ mcp_servers: { one: server } }));
  const run = stage.run(['mcp', 'call', 'one', 'silent']);
  const notes = () => (existsSync(log) ? readFileSync(log, 'utf8') : '');
  await until(() => notes().includes('call silent'));
  const pid = Number(/start (\d+)/.exec(notes())?.[1]);
  const parent = Number(/PPid:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  process.kill(parent, 'SIGKILL');
  assert.equal((await run).signal, 'SIGKILL');
  await until(() => !isAlive(pid));
});

verifies.slow(
  'R5.8',
  'its process gets no key of ours, and its standard error goes to a log without keys',
  async (t) => {
    const key = `sk-proj-${'a1B2c3D4'.repeat(5)}`;
    const stage = createMcpStage(t, { OPENAI_API_KEY: key, LANG: 'C.UTF-8', MY_OWN: 'x' });
    stage.configure({ one: stage.double() });
    const app = await stage.start();
    const tools = await sessionTools(app);
    const env = JSON.parse((await callTool(app, tools.get('mcp__one__env'), { key })).text);
    assert.deepEqual(
      Object.keys(env)
        .filter((name) => !/^(?:NODE_|_$|SHLVL|PWD)/.test(name))
        .sort(),
      ['HOME', 'LANG', 'MCP_LOG', 'PATH'],
    );
    const log = join(stage.root, 'logs/mcp-one.log');
    await until(() => existsSync(log) && readFileSync(log, 'utf8').includes('a key:'));
    assert.ok(!readFileSync(log, 'utf8').includes(key));
  },
);

verifies.slow('R5.9', 'results are text, pictures and lines of foreign origin; errors are data', async (t) => {
  const stage = createMcpStage(t);
  stage.configure({ one: stage.double() });
  const app = await stage.start();
  const tools = await sessionTools(app);
  const call = (name: string, input = {}) => callTool(app, tools.get(`mcp__one__${name}`), input);
  const picture = await call('picture');
  assert.deepEqual(Buffer.from(picture.images?.[0]?.bytes ?? []), PICTURES.png);
  assert.equal((await call('link')).text, 'notes: file:///notes.md\nthe words of a\n[sound, audio/wav, is not kept]');
  assert.equal((await call('add', { a: 1, b: 1 })).text, '{"sum": 2}', 'said once');
  assert.equal((await call('old', { n: 7 })).text, '{"n":7}', 'no text says it, and the dialect is old');
  const failed = await call('fail');
  assert.deepEqual([failed.text, failed.isError, failed.origin], ['the disk is full', true, 'foreign']);
});

verifies.slow(
  'R5.10',
  'progress is shown, an abort cancels at the server, a time-out keeps the connection',
  async (t) => {
    const stage = createMcpStage(t);
    stage.configure({ one: stage.double(), short: stage.double([], { timeout: 0.2 }) });
    const app = await stage.start();
    const tools = await sessionTools(app);
    const shown: string[] = [];
    const control = new AbortController();
    const progress = (chunk: string) => {
      shown.push(chunk);
      control.abort(new Error('enough'));
    };
    const aborted = callTool(app, tools.get('mcp__one__slow'), { wait: true }, { progress, signal: control.signal });
    await assert.rejects(aborted);
    assert.equal(shown[0], 'step 1/3\n');
    await until(() => stage.notes().includes('cancelled'));
    const before = starts(stage).length;
    for (const _ of [1, 2]) {
      const late = await callTool(app, tools.get('mcp__short__silent'));
      assert.ok(late.isError && late.text === 'MCP server short: it did not answer in time', late.text);
    }
    assert.equal((await callTool(app, tools.get('mcp__one__add'), { a: 1, b: 1 })).text, '{"sum": 2}');
    assert.equal(starts(stage).length, before);
    const { failure } = await runCommand(stage, 'mcp call', { name: 'short', tool: 'silent' });
    assert.deepEqual([failure?.exitCode, failure?.message], [1, 'MCP server short: it did not answer in time']);
  },
);

verifies.slow('R5.11', 'what does not say that it only reads asks, is hidden, or runs, as trust says', async (t) => {
  const stage = createMcpStage(t);
  stage.configure({
    ask: stage.double([], { tools: { include: ['add', 'w*'], exclude: ['x'] } }),
    read: stage.double([], { trust: 'read' }),
    all: stage.double([], { trust: 'all' }),
  });
  const tools = await sessionTools(await stage.start());
  const riskOf = (name: string) => tools.get(name)?.risk?.({ a: 1 } as never, {} as never);
  const risk = riskOf('mcp__ask__write');
  assert.ok(risk?.level === 'ask');
  assert.deepEqual([risk.key, risk.reach, risk.preview], ['mcp:ask:write', 'network', 'ask: write {"a":1}']);
  assert.deepEqual([riskOf('mcp__ask__add')?.level, riskOf('mcp__all__write')?.level], ['none', 'none']);
  assert.deepEqual([tools.get('mcp__ask__add')?.effect, tools.get('mcp__ask__write')?.effect], ['read', 'write']);
  assert.equal(tools.has('mcp__read__write'), false);
  assert.ok(tools.has('mcp__read__add'));
  assert.deepEqual([...tools.keys()].filter((name) => name.startsWith('mcp__ask__')).sort(), [
    'mcp__ask__add',
    'mcp__ask__write',
  ]);
});

verifies.slow(
  'R5.13',
  'a form is asked field by field, or declined; roots are the folder; sampling only where it is allowed',
  async (t) => {
    const stage = createMcpStage(t);
    stage.configure({ one: stage.double(), free: stage.double([], { sampling: true }) });
    const app = await stage.start();
    const tools = await sessionTools(app);
    const said = ['Ada', '3', 'yes', 'blue', ''];
    const asked: string[] = [];
    const asker = {
      ask: async ({ question }: { question: string }) => {
        asked.push(question);
        return { ok: true as const, value: said[asked.length - 1] ?? '' };
      },
    };
    const form = await callTool(app, tools.get('mcp__one__ask'), {}, { asker });
    const content = { name: 'Ada', count: 3, sure: true, colour: 'blue' };
    assert.deepEqual(JSON.parse(form.text), { action: 'accept', content });
    assert.match(asked[0] ?? '', /^one asks: Who are you\? \(Your name\)$/);
    assert.match((await callTool(app, tools.get('mcp__one__ask'))).text, /decline/);
    said.splice(0, 2, 'Ada', 'many');
    asked.length = 0;
    assert.match(
      (await callTool(app, tools.get('mcp__one__ask'), {}, { asker })).text,
      /cancel/,
      'no number is no answer',
    );
    assert.match(
      (await callTool(app, tools.get('mcp__one__roots'), {}, { cwd: stage.cwd })).text,
      new RegExp(`file://${stage.cwd}"`),
    );
    assert.ok((await callTool(app, tools.get('mcp__one__think'))).isError);
    assert.match((await callTool(app, tools.get('mcp__free__think'))).text, /"role":"assistant"/);
  },
);
