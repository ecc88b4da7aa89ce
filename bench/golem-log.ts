/**
 * The log of a home: appends of one process, and a hundred readers in ten processes, which are this file started anew: how much goes through, and
 * how long a reader takes to wake when nothing else is to be done.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject } from '#base/json.ts';
import { openHomeLog, type StyxTransport } from '#fleet/styx/home-log.ts';
import { type BenchRow, median, quantile } from './bench-row.ts';
import type { GolemStage } from './golem-stage.ts';

const PROCESSES = 10;
const READERS = 10;
const ROWS = 5_000;
const WAKES = 200;
const WAKE_EVERY_MS = 25;
const TOPIC = 'golem.bench.event';

/** Of one process: when all its readers had read the last row (epoch ms), and how long after its time each row with one was read. */
interface Seen {
  readonly at: number;
  readonly delays: readonly number[];
}

export async function logRows({ folder }: GolemStage): Promise<readonly BenchRow[]> {
  const path = join(folder, 'bench-styx.db');
  const log = openHomeLog({ path });
  try {
    const began = now();
    for (let at = 0; at < ROWS; at += 1) await log.append(TOPIC, { at });
    const perSecond = (1_000 * ROWS) / (now() - began);
    return [appendRow(perSecond), ...(await fanRows(log, path))];
  } finally {
    log.close();
  }
}

function appendRow(value: number): BenchRow {
  const note = `${ROWS} rows of one process, one after the other`;
  return { metric: 'log: append', value, unit: 'rows/s', target: '≥ 3000', ok: value >= 3_000, note };
}

async function fanRows(log: StyxTransport, path: string): Promise<readonly BenchRow[]> {
  const children = Array.from({ length: PROCESSES }, () =>
    spawn(process.execPath, [import.meta.filename, path], { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  const ends = children.map((child) => once(child, 'exit'));
  const lines = children.map(({ stdout }) => createInterface({ input: stdout })[Symbol.asyncIterator]());
  const answers = () =>
    Promise.all(lines.map(async (all): Promise<Seen> => JSON.parse((await all.next()).value ?? '')));
  try {
    await answers();
    const began = now();
    for (let at = 0; at < ROWS; at += 1) await log.append(TOPIC, { isLast: at === ROWS - 1 });
    const ms = Math.max(...(await answers()).map(({ at }) => at)) - began;
    for (let at = 0; at < WAKES; at += 1) {
      await sleep(WAKE_EVERY_MS);
      await log.append(TOPIC, { sent: now(), isLast: at === WAKES - 1 });
    }
    const delays = (await answers()).flatMap((seen) => seen.delays);
    return [fanRow((1_000 * ROWS * PROCESSES * READERS) / ms), wakeRow(delays)];
  } finally {
    for (const { stdin } of children) stdin.end();
    await Promise.all(ends);
  }
}

function fanRow(value: number): BenchRow {
  const note = `${ROWS} rows as fast as one process appends them, ${PROCESSES * READERS} readers in ${PROCESSES} processes, until the last has the last`;
  return { metric: 'log: 1 → 100 readers', value, unit: 'rows/s', target: '≥ 100000', ok: value >= 100_000, note };
}

function wakeRow(delays: readonly number[]): BenchRow {
  const value = quantile(delays, 0.99);
  const note = `${WAKES} rows, one every ${WAKE_EVERY_MS} ms, the same readers; median ${median(delays).toFixed(1)}, slowest ${Math.max(...delays).toFixed(0)}`;
  return { metric: 'log: waking a reader, p99', value, unit: 'ms', target: '≤ 50', ok: value <= 50, note };
}

/** Epoch ms, with fractions. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

/** The readers of one process, until its standard input closes. */
async function follow(path: string): Promise<void> {
  const log = openHomeLog({ path });
  let delays: number[] = [];
  let done = 0;
  const answer = () => {
    process.stdout.write(`${JSON.stringify({ at: now(), delays } satisfies Seen)}\n`);
    delays = [];
    done = 0;
  };
  for (let reader = 0; reader < READERS; reader += 1)
    log.follow([TOPIC], ({ body }) => {
      const { sent, isLast } = isJsonObject(body) ? body : {};
      if (typeof sent === 'number') delays.push(now() - sent);
      if (isLast === true) done += 1;
      if (done === READERS) answer();
    });
  answer();
  process.stdin.resume();
  await once(process.stdin, 'end');
  log.close();
}

if (process.argv[1] === import.meta.filename) await follow(process.argv[2] ?? '');
