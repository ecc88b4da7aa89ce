/**
 * Reach: `talaria serve` from `dist`, with API, MCP and schedule on: what an answer through it costs, eight at once, what it holds in memory and how
 * that grows. It runs on a copy of Node that nothing else maps, so that its proportional share is its own.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { atMost, type BenchRow, median, quantile } from './bench-row.ts';
import { compare } from './reach.ts';
import { type BenchHome, benchHome, buildStale, run, startStub, talaria } from './stub.ts';

export const KEY = 'tal-bench';
const HEADERS = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };

export interface Served {
  readonly url: string;
  /** Of the model server alone. */
  readonly model: string;
  readonly pid: number;
}

export async function benchServe(): Promise<readonly BenchRow[]> {
  await buildStale();
  const stub = await startStub({ rounds: 0 });
  const home = benchHome(stub.baseUrl);
  const rows: BenchRow[] = [];
  try {
    // So that there is a schedule to tick for.
    const made = await run('sh', [talaria, 'cron', 'create', '0 0 1 1 *', 'Say hello.'], { env: home.env });
    if (made.code !== 0) throw new Error(made.err);
    for (const bench of [memoryRows, latency, sideBySide]) rows.push(...(await serving(home, stub.baseUrl, bench)));
  } finally {
    stub.stop();
    home.remove();
  }
  return rows;
}

export async function serving<T>(
  { folder, env }: BenchHome,
  model: string,
  work: (served: Served) => Promise<T>,
): Promise<T> {
  const node = join(folder, 'node');
  if (!existsSync(node)) copyFileSync(process.execPath, node);
  const own = { HOME: folder, TALARIA_NODE: node, TALARIA_API_KEY: KEY, XDG_CACHE_HOME: join(folder, 'cache-of-node') };
  const child: ChildProcess = spawn('sh', [talaria, 'serve', '--port', '0'], {
    ...{ env: { PATH: process.env.PATH, ...env, ...own }, cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] },
  });
  const gone = once(child, 'exit');
  try {
    const [line] = await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line');
    const [url] = /http:\S+\d/.exec(String(line)) ?? [];
    if (!url) throw new Error(String(line));
    return await work({ url, model, pid: child.pid ?? 0 });
  } finally {
    child.kill();
    await gone;
  }
}

type Said = { readonly role: string; readonly content: string };

/** ms until the whole answer is there, and its text. */
export async function answer(address: string, messages: readonly Said[]) {
  const from = performance.now();
  const body = JSON.stringify({ model: 'talaria', messages, stream: true });
  const response = await fetch(`${address}/chat/completions`, { method: 'POST', headers: HEADERS, body });
  const text = await response.text();
  const ms = performance.now() - from;
  if (!text.trimEnd().endsWith('[DONE]')) throw new Error(`${response.status} ${text.slice(0, 400)}`);
  const said = [...text.matchAll(/"content":"((?:[^"\\]|\\.)*)"/g)].map((match) => match[1]).join('');
  return { ms, said };
}

const user = (content: string): Said => ({ role: 'user', content });

const ANSWERS = 200;

async function latency({ url, model }: Served): Promise<readonly BenchRow[]> {
  const [through, bare]: [number[], number[]] = [[], []];
  for (let at = -20; at < ANSWERS; at += 1) {
    const [ours, alone] = [await answer(`${url}/v1`, [user('hello')]), await answer(model, [user('hello')])];
    if (at >= 0) through.push(ours.ms);
    if (at >= 0) bare.push(alone.ms);
  }
  const value = median(through) - median(bare);
  const note = `${ANSWERS} each by turns, to the end of the stream; ${median(through).toFixed(1)} (p95 ${quantile(through, 0.95).toFixed(1)}) against ${median(bare).toFixed(1)} ms`;
  const metric = 'reach: `/v1/chat/completions`, p50';
  return [atMost(15, { metric, value, unit: 'ms more than the model server', note })];
}

/** The model server begins to answer what is asked slowly after a second. */
async function sideBySide({ url }: Served): Promise<readonly BenchRow[]> {
  const at = (count: number) => async () => {
    const from = performance.now();
    await Promise.all(Array.from({ length: count }, (_, n) => answer(`${url}/v1`, [user(`slowly, ${n}`)])));
    return performance.now() - from;
  };
  return [await compare(5, [at(8), at(1)], { metric: 'reach: 8 slow answers at once', unit: '× one', most: 1.5 })];
}

const TURNS = 2_000;
const WARM = 200;

async function memoryRows(served: Served): Promise<readonly BenchRow[]> {
  if (!existsSync('/proc/self/smaps_rollup')) return [];
  const idle = await settled(served.pid);
  await talk(served, WARM);
  const warm = await settled(served.pid);
  await talk(served, TURNS);
  const aged = await settled(served.pid);
  const value = 100 * (aged.pss / warm.pss - 1);
  const rest = `with API, MCP and schedule, after its start and nothing changed for twenty seconds; RSS ${idle.rss.toFixed(0)}, of its own ${idle.own.toFixed(0)}`;
  const note = `PSS ${warm.pss.toFixed(1)} → ${aged.pss.toFixed(1)} MB at rest, after ${WARM} turns and ${TURNS} more, of its own ${warm.own.toFixed(1)} → ${aged.own.toFixed(1)}; four of five by the API, four conversations at once, one \`ask\` of MCP`;
  return [
    atMost(60, { metric: 'reach: `talaria serve` idle, PSS', value: idle.pss, unit: 'MB', note: rest }),
    atMost(10, { metric: 'reach: growth over 2,000 turns', value, unit: '%', note }),
  ];
}

/** So many turns, four conversations side by side. */
async function talk({ url }: Served, turns: number): Promise<void> {
  let left = turns / 5;
  const one = async () => {
    const client = new Client({ name: 'bench', version: '1' });
    const means = { requestInit: { headers: HEADERS } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), means));
    while (left-- > 0) {
      const said: Said[] = [];
      for (let turn = 0; turn < 4; turn += 1) {
        said.push(user(`hello ${left} ${turn}`));
        said.push({ role: 'assistant', content: (await answer(`${url}/v1`, said)).said });
      }
      const asked = await client.callTool({ name: 'ask', arguments: { prompt: `hello ${left}` } });
      if (asked.isError) throw new Error(JSON.stringify(asked.content));
    }
    await client.close();
  };
  await Promise.all([one(), one(), one(), one()]);
}

/** MB, once they have stayed the same for twenty seconds: the schedule has ticked, and V8 has given back what it does not need. */
export async function settled(pid: number) {
  let [last, quiet] = [Number.NaN, 0];
  for (const end = performance.now() + 180_000; quiet < 40; await sleep(500)) {
    const { pss } = memory(pid);
    quiet = Math.abs(pss - last) < 0.5 ? quiet + 1 : 0;
    last = pss;
    if (performance.now() > end) throw new Error('talaria serve did not come to rest');
  }
  return memory(pid);
}

function memory(pid: number) {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]) / 1024;
  return { rss: of('Rss'), pss: of('Pss'), own: of('Anonymous') };
}
