/**
 * The dashboard over a large home: `talaria serve` from `dist`, 10,000 sessions with a million messages, one of them with 100,000, and the calls and
 * spans that go with them. How long the slowest page takes, how large the largest is, and what the script weighs.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '#base/database.ts';
import { sessionSchema } from '#mind/sessions/session-schema.ts';
import { openHouse } from '#surfaces/app/house.ts';
import { atMost, type BenchRow, median } from './bench-row.ts';
import { readConversations } from './locomo-data.ts';
import { type GeneratedMessage, generateMessages } from './million-messages.ts';
import { KEY, type Served, serving } from './reach-serve.ts';
import { fill } from './recall-1m.ts';
import { type BenchHome, benchHome, buildStale, root, startStub } from './stub.ts';

const [MESSAGES, SESSIONS, LONG, TIMES] = [1_000_000, 10_000, 100_000, 9];
const DAY_MS = 86_400_000;

export async function benchDashboard(): Promise<readonly BenchRow[]> {
  const conversations = readConversations();
  if (conversations === undefined) return [];
  await buildStale();
  const stub = await startStub({ rounds: 0 });
  const home = benchHome(stub.baseUrl);
  try {
    await fill(join(home.folder, 'state.db'), spread(generateMessages(conversations, MESSAGES)));
    accounts(join(home.folder, 'state.db'));
    await furnish(home);
    return await serving(home, stub.baseUrl, pages);
  } finally {
    stub.stop();
    home.remove();
  }
}

/** The first `LONG` in one session, the rest over the others; the last of each is of the last hours. */
function* spread(all: Iterable<GeneratedMessage>): Generator<GeneratedMessage> {
  const from = Date.now() - 365 * DAY_MS;
  const each = Math.ceil((MESSAGES - LONG) / (SESSIONS - 1));
  let at = 0;
  for (const message of all) {
    const sessionId = at < LONG ? 'long' : `s${Math.floor((at - LONG) / each)}`;
    yield { ...message, sessionId, timestamp: Math.round(from + (at / MESSAGES) * 365 * DAY_MS) };
    at += 1;
  }
}

/** A call of the model and a span for every third message. */
function accounts(path: string): void {
  const { database } = openDatabase(path, { rooms: [sessionSchema] });
  database.run(`INSERT INTO usage(session, at, turn, purpose, model, input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, cost)
    SELECT session, at, seq, CASE WHEN id % 10 = 0 THEN 'review' ELSE 'answer' END, 'openai/model-' || (id % 5), 900, 100, 700, 0, 0, 0.002
    FROM messages WHERE id % 3 = 0`);
  database.run(`INSERT INTO spans(id, session, turn, kind, name, started_at, ms, status)
    SELECT 'span' || id, session, seq, 'tool', 'terminal', at, 12, CASE WHEN id % 100 = 0 THEN 'error' ELSE 'ok' END
    FROM messages WHERE id % 3 = 0`);
  database.close();
}

/** Skills, entries and jobs. */
async function furnish({ folder, env }: BenchHome): Promise<void> {
  for (let at = 0; at < 50; at += 1) {
    const place = join(folder, 'skills', `skill-${at}`);
    mkdirSync(place, { recursive: true });
    const head = `---\nname: skill-${at}\ndescription: What is done with ${at}\n---\n\n`;
    writeFileSync(join(place, 'SKILL.md'), head + '1. Look.\n2. Do it.\n'.repeat(50));
  }
  const variables = { PATH: process.env.PATH, ...env };
  const means = { variables, cwd: folder, userHome: folder, program: [process.execPath, join(root, 'dist/main.js')] };
  const house = openHouse({ environment: means });
  const { signal } = new AbortController();
  const app = await house.app();
  const entries = Array.from(
    { length: 10 },
    (_, at) => ({ action: 'add', content: `The server of ${at} is tag0000${at}` }) as const,
  );
  await app.doors.memory.apply('memory', entries, { actor: 'owner', signal });
  const create = (await app.commands()).find(({ name }) => name === 'cron create');
  for (let at = 0; at < 20; at += 1) {
    const input = create?.input.parse({ schedule: 'every 30 days', prompt: `Look at ${at}`, name: `job ${at}` });
    await Array.fromAsync(create?.run(input as never, { cwd: folder, signal }) ?? []);
  }
  await house.shutdown();
}

const PATHS = [
  ...['/', '/sessions', '/sessions?skip=9900', '/sessions?q=birthday+party', '/sessions?q=tag00042', '/sessions/s5000'],
  ...[
    '/sessions/long',
    '/sessions/long?skip=50000',
    '/skills',
    '/skills/skill-7',
    '/memory',
    '/pending',
    '/schedule',
    '/people',
  ],
  ...['/costs?days=1', '/costs?days=7', '/costs?days=30', '/doctor'],
];

async function pages({ url }: Served): Promise<readonly BenchRow[]> {
  const entered = await fetch(`${url}/?key=${KEY}`, { redirect: 'manual' });
  const headers = { cookie: (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '' };
  const ask = async (path: string) => {
    const from = performance.now();
    const answer = await fetch(url + path, { headers, redirect: 'manual' });
    const bytes = (await answer.arrayBuffer()).byteLength;
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
    return { ms: performance.now() - from, bytes };
  };
  const all: { path: string; ms: number; first: number; bytes: number }[] = [];
  for (const path of PATHS) {
    const first = await ask(path);
    const again: number[] = [];
    while (again.length < TIMES) again.push((await ask(path)).ms);
    all.push({ path, ms: median(again), first: first.ms, bytes: first.bytes });
  }
  const by = (key: 'ms' | 'bytes' | 'first') => all.toSorted((a, b) => b[key] - a[key]);
  const told = (key: 'ms' | 'bytes' | 'first', digits = 0) =>
    by(key)
      .slice(0, 4)
      .map((one) => `\`${one.path}\` ${one[key].toFixed(digits)}`)
      .join(', ');
  if (process.env.TALARIA_BENCH_PAGES) console.table(all);
  const [slowest, largest] = [by('ms')[0]?.ms ?? Number.NaN, by('bytes')[0]?.bytes ?? Number.NaN];
  const script = (await ask('/app.js')).bytes;
  const about = `${SESSIONS.toLocaleString('en-US')} sessions, ${MESSAGES.toLocaleString('en-US')} messages`;
  return [
    atMost(150, {
      ...{ metric: 'dashboard: slowest page', value: slowest, unit: 'ms' },
      note: `${about}; ${all.length} pages, median of ${TIMES} each: ${told('ms', 1)}; asked for the first time: ${told('first')}`,
    }),
    atMost(100_000, { metric: 'dashboard: largest page', value: largest, unit: 'bytes', note: told('bytes') }),
    atMost(8_192, { metric: 'dashboard: script', value: script, unit: 'bytes', note: 'as it is sent, whole' }),
  ];
}
