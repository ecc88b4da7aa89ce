/**
 * Reach: the gateway from `dist` against Telegram on loopback: what a message costs, how that grows, what its prompts share, what is lost under kills,
 * what a guest's request holds, and what `talaria serve` with everything on holds in memory.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { seededRandom } from '#base/ids.ts';
import type { JsonObject } from '#base/json.ts';
import { type FakeTelegram, startFakeTelegram } from '#testing/fake-telegram.ts';
import { type ServerRequest, startScriptedServer } from '#testing/scripted-server.ts';
import { atMost, type BenchRow, median, quantile } from './bench-row.ts';
import { prefixReuse, serialise } from './prefix.ts';
import { answer, serving, settled } from './reach-serve.ts';
import { type BenchHome, benchHome, buildStale, root, run, type Stub, startStub, talaria } from './stub.ts';

export async function benchGateway(): Promise<readonly BenchRow[]> {
  await buildStale();
  const rows: BenchRow[] = [];
  for (const bench of [latency, prefix, guest, kills, memory]) {
    const telegram = await startFakeTelegram();
    const stub = await startStub({ rounds: bench === prefix ? 1 : 0, bodies: bench === prefix || bench === guest });
    const home = benchHome(stub.baseUrl);
    // 1 is the owner, in his own chat and in groups.
    const channel = { api_root: telegram.apiRoot, allow: [1] };
    appendFileSync(join(home.folder, 'config.yaml'), `gateway: ${JSON.stringify({ telegram: channel })}\n`);
    writeFileSync(join(home.folder, '.env'), `TELEGRAM_BOT_TOKEN=${telegram.token}\n`, { mode: 0o600 });
    try {
      rows.push(...(await bench({ telegram, stub, home })));
    } finally {
      await telegram.close();
      stub.stop();
      home.remove();
    }
  }
  return rows;
}

type Place = { readonly telegram: FakeTelegram; readonly stub: Stub; readonly home: BenchHome };

/** `talaria gateway`, once it says that it answers. */
async function started({ folder, env }: BenchHome, more: Readonly<Record<string, string>> = {}): Promise<ChildProcess> {
  const options = { env: { PATH: process.env.PATH, HOME: folder, ...env, ...more }, cwd: folder };
  const child = spawn(process.execPath, [join(root, 'dist/main.js'), 'gateway'], {
    ...options,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line');
  return child;
}

async function ended(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  child.kill(signal);
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** Waits until the bot has shown so many messages. */
async function hasShown(telegram: FakeTelegram, count: number): Promise<void> {
  while (telegram.shown().length < count) await sleep(2);
}

/** Says it, and gives the ms until the bot asked Telegram to show the answer. The next one comes when this one is over. */
async function talk({ telegram }: Place, text: string, chat = 1): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const before = telegram.shown().length;
  const from = performance.now();
  telegram.calls.push = (...all) => {
    if (all.some(({ method }) => method === 'sendMessage')) resolve(performance.now() - from);
    return Array.prototype.push.apply(telegram.calls, all);
  };
  telegram.say(text, { chat });
  const ms = await promise;
  await hasShown(telegram, before + 1);
  await sleep(20);
  return ms;
}

/** ms that the model server takes for an answer. */
async function ofModel({ stub }: Place): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < 50; at += 1) times.push((await answer(stub.baseUrl, [{ role: 'user', content: 'hi' }])).ms);
  return median(times);
}

const [MESSAGES, WARM] = [200, 10];

async function latency(place: Place): Promise<readonly BenchRow[]> {
  const child = await started(place.home);
  for (let at = 0; at < WARM; at += 1) await talk(place, `@talaria_bot hello ${at}`, -9);
  const model = await ofModel(place);
  const all: number[] = [];
  for (let at = 0; at < MESSAGES; at += 1) all.push((await talk(place, `hello ${at}`)) - model);
  await ended(child);
  const [first, last] = [median(all.slice(0, 20)), median(all.slice(-20))];
  const metric = 'gateway: update handed out → `sendMessage` asked';
  const note = `${MESSAGES} messages of one chat, one after the other, behind ${WARM} of another; ${model.toFixed(1)} ms of the model taken off each`;
  return [
    atMost(40, { metric: `${metric}, p50`, value: median(all), unit: 'ms', note }),
    atMost(120, { metric: `${metric}, p95`, value: quantile(all, 0.95), unit: 'ms', note }),
    atMost(1.3, {
      ...{ metric: 'gateway: 200 messages, each in a new conversation', value: last / first, unit: '× the first 20' },
      note: `medians of the last 20 and the first 20, ${last.toFixed(1)} against ${first.toFixed(1)} ms`,
    }),
  ];
}

async function prefix(place: Place): Promise<readonly BenchRow[]> {
  for (let start = 0; start < 10; start += 1) {
    const child = await started(place.home);
    for (let at = 0; at < 5; at += 1) await talk(place, `message ${start} ${at}: run echo`);
    await ended(child);
  }
  const all = place.stub.take().flatMap(({ body }) => (body ? [body] : []));
  // What is learned behind the chat asks with its beginning, too, and goes another way.
  const bodies = all.filter(({ messages }) => !JSON.stringify(messages).includes('[System: Review')).map(serialise);
  const { shared, limit } = prefixReuse(bodies);
  const note = `${bodies.length} requests of 50 messages and 10 processes; ${shared} of ${limit} bytes shared with an earlier request`;
  const row = { metric: 'gateway: prefix reuse', value: shared / limit, unit: 'share of the limit', note };
  return [{ ...row, target: '= 1 (append-only limit)', ok: shared === limit }];
}

const KNOWN = 'The owner keeps the key of the boathouse under the third flowerpot.';

async function guest(place: Place): Promise<readonly BenchRow[]> {
  const { telegram, home, stub } = place;
  mkdirSync(join(home.folder, 'memories'), { recursive: true, mode: 0o700 });
  writeFileSync(join(home.folder, 'memories', 'MEMORY.md'), `${KNOWN}\n`, { mode: 0o600 });
  const child = await started(home);
  await talk(place, 'hello');
  const [owner] = stub.take();
  telegram.say('hello', { person: 2, name: 'Eve' });
  await hasShown(telegram, 2);
  const code = telegram.shown(2)[0]?.text.split(' ').at(-1) ?? '';
  const paired = await run('sh', [talaria, 'gateway', 'pair', code, '--guest'], { env: home.env });
  if (paired.code !== 0) throw new Error(paired.err);
  await hasShown(telegram, 3);
  telegram.say('Where is the key?', { person: 2, name: 'Eve' });
  await hasShown(telegram, 4);
  await ended(child);
  const [asked] = stub.take();
  if (!asked || !JSON.stringify(owner?.body).includes(KNOWN)) throw new Error('the owner is shown no memory');
  const words = KNOWN.split(' ').filter(
    (word) => word.length > 5 && JSON.stringify(asked.body?.messages).includes(word),
  );
  const names = (asked.body?.tools ?? []).map((tool) => (tool as { function: { name: string } }).function.name);
  const note = `the same memory is in the owner's request; tools of the guest: ${names.join(', ') || 'none'}, of the owner: ${owner?.body?.tools?.length}`;
  const acting = names.filter((name) => !READING.has(name)).length;
  return [
    atMost(0, {
      metric: "gateway: guest's request, of the owner's memory",
      value: countTokens(words.join(' ')),
      unit: 'tokens',
      note,
    }),
    atMost(0, { metric: "gateway: guest's request, tools that act", value: acting, unit: 'tools', note }),
  ];
}

const READING: ReadonlySet<string> = new Set(['clarify', 'skill_view', 'skills_list', 'todo']);

const [CHATS, EACH, KILLS, LIFE_MS] = [50, 20, 100, 2_000];
const numbers = (content: unknown) => /number (\d+)/.exec(JSON.stringify(content))?.[1] ?? '?';

function answerTo({ body }: ServerRequest): string {
  const messages = body.messages as readonly JsonObject[];
  return `done ${numbers(messages.findLast(({ role }) => role === 'user')?.content)}`;
}

/** Presses "Go on" where a message has it. */
function pressed(telegram: FakeTelegram, { chat_id: id, reply_markup: markup = null }: JsonObject): number {
  const [, data] = /"callback_data":"(g:\d+:0)"/.exec(JSON.stringify(markup)) ?? [];
  if (data === undefined) return 0;
  const message = { message_id: 1, date: 1, chat: { id: Number(id), type: 'supergroup' } };
  const from = { id: 1, is_bot: false, first_name: 'Ada' };
  telegram.update({ callback_query: { id: data, from, message, data } });
  return 1;
}

/** Ten messages between two kills, each to another group; a message that was cut off twice asks, and is told to go on. */
async function kills({ telegram, home }: Place): Promise<readonly BenchRow[]> {
  const [random, began] = [seededRandom(18), performance.now()];
  const model = await startScriptedServer(Array.from({ length: 20 * CHATS * EACH }, () => answerTo));
  const env = { OPENAI_BASE_URL: model.baseUrl };
  let [child, seen, asked] = [await started(home, env), 0, 0];
  const goOn = () => {
    for (; seen < telegram.calls.length; seen += 1) asked += pressed(telegram, telegram.calls[seen]?.params ?? {});
  };
  const answers = (chat: number) => telegram.shown(-chat).flatMap(({ text }) => /^done (\d+)$/.exec(text)?.[1] ?? []);
  for (let kill = 0, number = 0; kill < KILLS; kill += 1) {
    const moments = Array.from({ length: (CHATS * EACH) / KILLS }, () => random() * LIFE_MS).sort((a, b) => a - b);
    for (const [at, moment] of moments.entries()) {
      await sleep(moment - (moments[at - 1] ?? 0));
      telegram.say(`@talaria_bot number ${number}`, { chat: -1 - (number % CHATS) });
      number += 1;
    }
    await sleep(random() * (LIFE_MS / 10));
    await ended(child, 'SIGKILL');
    child = await started(home, env);
    goOn();
  }
  const chats = Array.from({ length: CHATS }, (_, at) => at + 1);
  const known = () => new Set(chats.flatMap(answers)).size;
  for (const end = performance.now() + 240_000; known() < CHATS * EACH && performance.now() < end; await sleep(100))
    goOn();
  await ended(child);
  await model.close();
  const all = chats.map((chat) => answers(chat).map(Number));
  const firsts = all.map((one) => [...new Set(one)]);
  const late = firsts.map((one) => one.filter((number, at) => at > 0 && number < (one[at - 1] ?? 0)).length);
  const sum = (values: readonly number[]) => values.reduce((one, other) => one + other, 0);
  const twice = sum(all.map((one) => one.length)) - known();
  const note = `${CHATS} groups × ${EACH} messages, a kill behind every ten, about two seconds after a start; ${asked} were cut off twice and told to go on; ${((performance.now() - began) / 1_000).toFixed(0)} s`;
  return [
    atMost(0, { metric: 'gateway: under kills, unanswered', value: CHATS * EACH - known(), unit: 'messages', note }),
    atMost(1, {
      metric: 'gateway: under kills, answered twice',
      value: (100 * twice) / (CHATS * EACH),
      unit: '%',
      note,
    }),
    atMost(0, { metric: 'gateway: under kills, out of order', value: sum(late), unit: 'messages', note }),
  ];
}

const [HOURS, A_HOUR] = [24, 40];

async function memory(place: Place): Promise<readonly BenchRow[]> {
  if (!existsSync('/proc/self/smaps_rollup')) return [];
  const { home, stub } = place;
  const made = await run('sh', [talaria, 'cron', 'create', '0 0 1 1 *', 'Say hello.'], { env: home.env });
  if (made.code !== 0) throw new Error(made.err);
  return serving(home, stub.baseUrl, async ({ url, pid }) => {
    const idle = await settled(pid);
    const hour = async (at: number) => {
      for (let i = 0; i < A_HOUR; i += 1) await talk(place, `hello ${at} ${i}`);
      for (const path of ['', 'sessions', 'costs', 'people']) await opened(`${url}/${path}`);
    };
    await hour(0);
    const warm = await settled(pid);
    for (let at = 1; at < HOURS; at += 1) await hour(at);
    const aged = await settled(pid);
    const rest = `API, MCP, Telegram polled, pages and schedule; RSS ${idle.rss.toFixed(0)}, of its own ${idle.own.toFixed(0)}`;
    const note = `PSS ${warm.pss.toFixed(1)} → ${aged.pss.toFixed(1)} MB at rest, after the first hour and after ${HOURS} of ${A_HOUR} messages of one chat and four pages; idle ${idle.pss.toFixed(1)}`;
    return [
      atMost(75, {
        metric: 'gateway: `talaria serve` with everything on, idle, PSS',
        value: idle.pss,
        unit: 'MB',
        note: rest,
      }),
      atMost(10, {
        metric: 'gateway: growth over a day of traffic',
        value: 100 * (aged.pss / warm.pss - 1),
        unit: '%',
        note,
      }),
    ];
  });
}

async function opened(address: string): Promise<void> {
  const page = await fetch(address, { headers: { authorization: 'Bearer tal-bench' } });
  if (!page.ok || !(await page.text()).includes('<h1')) throw new Error(`${address}: ${page.status}`);
}
