/** The clade: the link between two homes over a real NATS server (TALARIA_TEST_NATS, or where scripts/fetch-nats.sh puts it). */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '#base/clock.ts';
import { CARRIER, openHomeLog, type StyxTransport } from '#fleet/styx/home-log.ts';
import { runLink } from '#fleet/styx/link.ts';
import { ownerOf } from '#fleet/styx/owner-key.ts';
import { sendWord } from '#fleet/styx/words.ts';
import { findNats, type NatsServer, startNats, TOKEN } from '../test/real/nats-server.ts';
import { type BenchRow, median, quantile } from './bench-row.ts';

const ROWS = 10_000;
const WORDS = 200;
const CLADE = 'be4c4';
/** As an event of a golem has it. */
const BODY = {
  golem: 'ledger-gen1',
  seq: 1,
  tick: 847,
  at: 1_768_478_400_000,
  event: { type: 'FeedbackFlushed', count: 3 },
};

export async function benchLink(): Promise<readonly BenchRow[]> {
  const program = findNats();
  if (program === undefined) {
    console.log('skipped the link: set TALARIA_TEST_NATS (sh scripts/fetch-nats.sh prints it)');
    return [];
  }
  const folder = mkdtempSync(join(tmpdir(), 'talaria-bench-clade-'));
  const { server, end } = await startNats(program);
  try {
    const idle = memoryOf(server.pid());
    return [...(await carried(folder, server)), ...(await memoryRows(folder, server, idle))];
  } finally {
    await end();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function carried(folder: string, server: NatsServer): Promise<readonly BenchRow[]> {
  const [one, other] = ['one', 'other'].map((name) => openHomeLog({ path: join(folder, name, 'styx.db') }));
  if (one === undefined || other === undefined) throw new Error('no log');
  for (let n = 0; n < ROWS; n += 1) await one.append(`golem.g${n % 20}.event`, { ...BODY, seq: n });
  const end = new AbortController();
  const links: Promise<void>[] = [];
  try {
    const up = await rate(links, start(one, server.url, end.signal), () => one.waiting(CARRIER, 1) === 0);
    const down = await rate(
      links,
      start(other, server.url, end.signal),
      () => other.read(['>'], ROWS - 1, 1).length > 0,
    );
    const times = await steers(folder, one, other);
    return [rateRow('up, acknowledged', up), rateRow('down, stored', down), steerRow(times)];
  } finally {
    end.abort();
    await Promise.all(links);
    for (const log of [one, other]) log.close();
  }
}

function start(log: StyxTransport, url: string, signal: AbortSignal): () => Promise<void> {
  const ground = { clock: systemClock, door: () => Promise.reject(new Error('no door')) };
  const about = { url, token: TOKEN, tokenFrom: '', clade: CLADE, onState: () => undefined };
  return () => runLink({ ...about, log, ground }, signal);
}

/** Rows a second, connecting counted in. */
async function rate(links: Promise<void>[], link: () => Promise<void>, isDone: () => boolean): Promise<number> {
  const began = performance.now();
  links.push(link());
  while (!isDone()) await sleep(5);
  return (1_000 * ROWS) / (performance.now() - began);
}

function rateRow(way: string, value: number): BenchRow {
  const note = `${ROWS.toLocaleString('en-US')} rows of 20 golems, one link and the server beside it, connecting counted in`;
  return { metric: `link: rows ${way}`, value, unit: 'rows/s', target: '≥ 1,500', ok: value >= 1_500, note };
}

/** From before a word is signed until whoever follows the other log hears it, as a golem does; ms. */
async function steers(folder: string, one: StyxTransport, other: StyxTransport): Promise<readonly number[]> {
  const owner = ownerOf(join(folder, 'one'));
  const times: number[] = [];
  let heard = Promise.withResolvers<void>();
  const stop = other.follow(['golem.ledger.steer'], () => heard.resolve());
  for (let n = 0; n < WORDS; n += 1) {
    heard = Promise.withResolvers();
    const began = performance.now();
    await sendWord(one, owner, {
      kind: 'steer',
      golem: 'ledger-gen1',
      signer: '0x1',
      text: 'leave the flaky suite alone',
    });
    await heard.promise;
    times.push(performance.now() - began);
    await sleep(10);
  }
  stop();
  return times;
}

function steerRow(times: readonly number[]): BenchRow {
  const value = median(times);
  const note = `${WORDS} words, signed, stored twice and carried; p95 ${quantile(times, 0.95).toFixed(1)}, both links in one process`;
  return {
    metric: "link: owner's word to the other side, p50",
    value,
    unit: 'ms',
    target: '≤ 50',
    ok: value <= 50,
    note,
  };
}

async function memoryRows(folder: string, server: NatsServer, idle: number): Promise<readonly BenchRow[]> {
  const child = spawnLink(join(folder, 'third'), server.url);
  const gone = once(child, 'exit');
  const lines = createInterface({ input: child.stdout as NonNullable<ChildProcess['stdout']> })[Symbol.asyncIterator]();
  const base = Number((await lines.next()).value);
  await lines.next();
  await sleep(2_000);
  const link = memoryOf(child.pid ?? 0) - base;
  const value = memoryOf(server.pid());
  child.kill();
  await gone;
  const rows = ROWS.toLocaleString('en-US');
  return [
    {
      ...{ metric: 'link: nats-server beside it, RSS', value, unit: 'MB', target: '≤ 40', ok: value <= 40 },
      note: `${idle.toFixed(0)} idle; after ${rows} rows in and out twice`,
    },
    {
      ...{ metric: 'link: its process above its base, RSS', value: link, unit: 'MB', target: '≤ 30', ok: link <= 30 },
      note: `${base.toFixed(0)} with its log open and nothing of the network; after ${rows} rows came down`,
    },
  ];
}

/** Says what it holds before it links, and `done` when all rows came. */
function spawnLink(home: string, url: string): ChildProcess {
  const at = (name: string) => JSON.stringify(import.meta.resolve(name));
  const script = `const { openHomeLog } = await import(${at('#fleet/styx/home-log.ts')});
    const { systemClock } = await import(${at('#base/clock.ts')});
    const { runLink } = await import(${at('#fleet/styx/link.ts')});
    const log = openHomeLog({ path: ${JSON.stringify(join(home, 'styx.db'))} });
    await log.append('presence', 1);
    log.follow(['>'], () => undefined);
    console.log(process.memoryUsage.rss() / 1e6);
    const ground = { clock: systemClock, door: () => Promise.reject(new Error('no door')) };
    const about = { url: ${JSON.stringify(url)}, token: ${JSON.stringify(TOKEN)}, tokenFrom: '', clade: '${CLADE}' };
    void runLink({ ...about, log, ground, onState: () => undefined }, new AbortController().signal);
    while (log.position('${CARRIER}') < ${ROWS}) await systemClock.sleep(100);
    console.log('done');`;
  const flags = ['--max-semi-space-size=1', '--input-type=module', '-e', script];
  return spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** RSS in MB. */
function memoryOf(pid: number): number {
  const [, kilobytes = 'NaN'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kilobytes) * 1_024) / 1e6;
}
