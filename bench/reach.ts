/**
 * Reach, beside `talaria serve` (reach-serve.ts): what servers of others, editors and the schedule cost a start, the prompt and a call. The program is
 * `dist`; calls and ticks run in this process. TALARIA_BEFORE names another checkout, built, that a start is compared with.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { absentAsker } from '#core/agent/approver.ts';
import { GUIDANCE, IDENTITY } from '#core/agent/prompts.rules.ts';
import { tick, wishOf } from '#extensions/schedule/tick.ts';
import { lendGround } from '#surfaces/app/ground.ts';
import { type House, openHouse } from '#surfaces/app/house.ts';
import { atMost, type BenchRow, median, quantile, spread } from './bench-row.ts';
import { type BenchHome, benchHome, buildStale, root, run, type Stub, startStub, talaria } from './stub.ts';

export async function benchReach(runs = 15): Promise<readonly BenchRow[]> {
  await buildStale();
  const rows: BenchRow[] = [];
  for (const bench of [remembered, before, editor, prompts, calls, quietTick]) {
    const stub = await startStub({ rounds: 0, bodies: bench === prompts });
    const homes: BenchHome[] = [];
    const homeWith = (config: string) => {
      const home = benchHome(stub.baseUrl);
      homes.push(home);
      appendFileSync(join(home.folder, 'config.yaml'), config);
      return home;
    };
    try {
      rows.push(...(await bench({ stub, homeWith, runs })));
    } finally {
      stub.stop();
      for (const home of homes) home.remove();
    }
  }
  return rows;
}

interface Place {
  readonly stub: Stub;
  /** A home of its own with this much more in its config. */
  readonly homeWith: (config: string) => BenchHome;
  readonly runs: number;
}

/** The program of a server with 65 tools, or with `echo` alone, which gives back what it gets. */
const program = (word = 'all') => {
  const at = (name: string) => JSON.stringify(import.meta.resolve(name));
  const code = `import { McpServer } from ${at('@modelcontextprotocol/server')};
    import { serveStdio } from ${at('@modelcontextprotocol/server/stdio')};
    const text = (of) => ({ type: 'string', description: 'The ' + of + ' that is meant, as the service names it' });
    const properties = { owner: text('owner'), repo: text('repository'), body: text('text'), page: { type: 'number' } };
    const inputSchema = { type: 'object', properties, required: ['owner', 'repo'] };
    const words = 'issue pull branch commit file review label release search user team workflow comment'.split(' ');
    const all = words.flatMap((word) => ['create', 'get', 'list', 'update', 'delete'].map((verb) => ({
      name: verb + '_' + word, description: 'Use this to ' + verb + ' a ' + word + ' of a repository on the service.', inputSchema })));
    const echo = [{ name: 'echo', description: 'Gives it back.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }];
    const { server } = new McpServer({ name: 'bench', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({ tools: ${word} }));
    server.setRequestHandler('tools/call', ({ params }) => ({ content: [{ type: 'text', text: params.arguments.command }] }));
    serveStdio(() => server);`;
  return { command: process.execPath, args: ['--input-type=module', '-e', code] };
};

function servers(count: number, word?: string): string {
  const all = Array.from({ length: count }, (_, at) => [`bench${at}`, { ...program(word), trust: 'all' }]);
  return `mcp_servers: ${JSON.stringify(Object.fromEntries(all))}\n`;
}

/** Asks its servers once, so that what they offer is remembered. */
async function asked(home: BenchHome): Promise<BenchHome> {
  const listed = await run('sh', [talaria, 'mcp', 'list', '--json'], { env: home.env });
  if (listed.code !== 0 || /"error": *"/.test(listed.out)) throw new Error(`${listed.out}${listed.err}`);
  return home;
}

/** ms. */
export type Start = () => Promise<number>;

/** ms from the start of `talaria -p` of this checkout to the first request. */
const firstRequest =
  ({ stub }: Place, { env }: BenchHome, checkout = root): Start =>
  async () => {
    stub.take();
    const ran = await run('sh', [join(checkout, 'bin/talaria'), '-p', 'hello'], { env });
    const [first] = stub.take();
    if (!first) throw new Error(`no request arrived: exit ${ran.code}, ${ran.err.slice(0, 400)}`);
    return first.arrived - ran.started;
  };

/** How many times the other's the one's time is: pairs, which of both begins by turns, and the first is warm-up. */
export async function compare(
  runs: number,
  [one, other]: readonly [Start, Start],
  { most, ...about }: { metric: string; unit: string; most: number },
): Promise<BenchRow> {
  const pairs: [number, number][] = [];
  for (let i = 0; i <= runs; i += 1) {
    const first = i % 2 === 0 ? await one() : undefined;
    const second = await other();
    pairs.push([first ?? (await one()), second]);
  }
  const ratios = pairs.slice(1).map(([a, b]) => a / b);
  const value = median(ratios);
  const ms = [0, 1].map((at) => median(pairs.slice(1).map((pair) => pair[at] ?? 0)).toFixed(0));
  const note = `median of ${runs} pairs, ${spread(ratios)}; ${ms.join(' against ')} ms`;
  return atMost(most, { ...about, value, note });
}

async function remembered(place: Place): Promise<readonly BenchRow[]> {
  const [five, none] = [await asked(place.homeWith(servers(5))), place.homeWith('')];
  const about = { metric: 'reach: first request with 5 MCP servers', unit: '× with none', most: 1.1 };
  return [await compare(place.runs, [firstRequest(place, five), firstRequest(place, none)], about)];
}

/** Nothing where no other checkout is named. */
async function before(place: Place): Promise<readonly BenchRow[]> {
  const checkout = process.env.TALARIA_BEFORE;
  const about = { metric: 'reach: first request, as before it', unit: '× before', most: 1 };
  const starts = () =>
    [firstRequest(place, place.homeWith('')), firstRequest(place, place.homeWith(''), checkout)] as const;
  return checkout ? [await compare(place.runs, starts(), about)] : [];
}

async function editor(place: Place): Promise<readonly BenchRow[]> {
  const home = place.homeWith('');
  const params = { protocolVersion: 1, clientCapabilities: {} };
  const answered: Start = async () => {
    const began = performance.now();
    const child = spawn('sh', [talaria, 'acp'], {
      ...{ env: { ...process.env, ...home.env }, cwd: home.folder, stdio: ['pipe', 'pipe', 'inherit'] },
    });
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params })}\n`);
    const [line] = await once(child.stdout, 'data');
    const ms = performance.now() - began;
    if (!String(line).includes('"agentCapabilities"')) throw new Error(String(line));
    child.stdin.end();
    await once(child, 'exit');
    return ms;
  };
  const about = { metric: 'reach: `talaria acp` to `initialize` answered', unit: '× first request of -p', most: 1.2 };
  return [await compare(place.runs, [answered, firstRequest(place, home)], about)];
}

async function prompts(place: Place): Promise<readonly BenchRow[]> {
  const web = 'web: {"enabled": true, "search": {"backend": "searxng", "base_url": "http://127.0.0.1:8888"}}\n';
  const all = `toolsets: [all]\n${web}`;
  const none = await promptRow(place, place.homeWith(all), ['everything on', 1_500]);
  const one = await asked(place.homeWith(`${all}${servers(1)}`));
  return [none, await promptRow(place, one, ['one MCP server of 65 tools', 1_800])];
}

async function promptRow({ stub }: Place, home: BenchHome, [name, most]: [string, number]): Promise<BenchRow> {
  stub.take();
  const ran = await run('sh', [talaria, '-p', 'hello'], { env: home.env });
  const tools = stub.take()[0]?.body?.tools;
  if (!tools) throw new Error(`no request arrived: ${ran.err.slice(0, 400)}`);
  const words = countTokens(`${IDENTITY}\n\n${GUIDANCE}`);
  const value = words + countTokens(JSON.stringify(tools));
  const note = `${words} of identity and guidance, the rest ${tools.length} schemas as sent`;
  return atMost(most, { metric: `reach: fixed prompt, ${name}`, value, unit: 'o200k tokens', note });
}

async function withHouse<T>({ folder, env }: BenchHome, work: (house: House) => Promise<T>): Promise<T> {
  const variables = { PATH: process.env.PATH, ...env };
  const means = { variables, cwd: folder, userHome: folder, program: [process.execPath, join(root, 'dist/main.js')] };
  const house = openHouse({ environment: means });
  try {
    return await work(house);
  } finally {
    await house.shutdown();
  }
}

const CALLS = 200;
const never = new AbortController().signal;

/** Of the tool itself: what the turn adds to any call is a row of its own. */
async function timesOfTool(home: BenchHome, house: House): Promise<readonly number[]> {
  const app = await house.app();
  const tool = (await app.tools(home.folder)).tools.find(({ name }) => name === 'mcp__bench0__echo');
  if (!tool) throw new Error('the tool is not shown');
  const place = { sessionId: 'bench', callId: 'call', cwd: home.folder, clock: house.clock, asker: absentAsker };
  const rest = { spillFolder: home.folder, history: () => [], redact: app.redact, progress: () => undefined };
  return timed((command) => tool.run({ command } as never, { ...place, ...rest }, never));
}

async function timed(call: (command: string) => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let at = 0; at < CALLS; at += 1) {
    const from = performance.now();
    await call(`echo hi ${at}`);
    times.push(performance.now() - from);
  }
  return times.slice(1);
}

async function calls({ homeWith }: Place): Promise<readonly BenchRow[]> {
  const home = await asked(homeWith(servers(1, 'echo')));
  const ours = await withHouse(home, (house) => timesOfTool(home, house));
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StdioClientTransport(program('echo')));
  const alone = await timed((command) => client.callTool({ name: 'echo', arguments: { command } }));
  await client.close();
  const value = median(ours) - median(alone);
  const note = `${ours.length} calls behind the one that connects, p50 ${median(ours).toFixed(2)}, p95 ${quantile(ours, 0.95).toFixed(2)} against ${median(alone).toFixed(2)} ms`;
  return [atMost(3, { metric: 'reach: a call of an MCP tool, p50', value, unit: 'ms more than the SDK alone', note })];
}

const JOBS = 1_000;

async function quietTick({ homeWith }: Place): Promise<readonly BenchRow[]> {
  const home = homeWith('');
  const times = await withHouse(home, async ({ door, app, clock, environment, home: places }) => {
    const ground = lendGround({ environment, home: places, clock, app, door });
    const desk = await (await door('schedule'))();
    const wish = await wishOf(ground, { schedule: 'every 2h', prompt: 'Say hello.' }, { cwd: home.folder });
    if (!wish.ok) throw new Error(wish.detail);
    for (let at = 0; at < JOBS; at += 1)
      await desk.jobs.create({ ...wish.value, name: `job ${at}` }, 'active', clock.now());
    const all: number[] = [];
    for (let at = 0; at < 50; at += 1) {
      const from = performance.now();
      if ((await tick(desk, 'tick', never)).length > 0) throw new Error('something was due');
      all.push(performance.now() - from);
    }
    return all;
  });
  const value = median(times);
  const note = `median of ${times.length} ticks, first ${times[0]?.toFixed(1)}, slowest ${Math.max(...times).toFixed(1)}`;
  return [atMost(20, { metric: 'reach: `cron tick`, 1,000 jobs, none due', value, unit: 'ms', note })];
}
