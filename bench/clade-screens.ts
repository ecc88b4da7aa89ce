/**
 * The screens of golems: what a frame of each window costs after an event, and what `talaria clade` takes of the machine while nothing happens. The frame is
 * drawn on a terminal that writes nowhere, 200 × 60, twenty golems; the idle one runs from `dist` on a terminal of `script`.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonValue } from '#base/json.ts';
import type { GolemState } from '#fleet/styx/clade.ts';
import { openHomeLog } from '#fleet/styx/home-log.ts';
import { createPaint } from '#surfaces/cli/terminal-text.ts';
import { type Board, EMPTY, reduce, type ScreenEvent } from '#surfaces/tui/board.ts';
import { drawWindow } from '#surfaces/tui/drawing.ts';
import { mindEvent } from '#surfaces/tui/event-table.ts';
import { WINDOW_NAMES, windowOf } from '#surfaces/tui/windows.ts';
import { type BenchRow, median, quantile } from './bench-row.ts';
import { benchHome, talaria } from './stub.ts';

const GOLEMS = 20;
const EVENTS = 300;
const PAST = 2_000;
const IDLE_MS = 30_000;
const BEGIN_MS = 5_000;
const TICKS_A_SECOND = 100;
const NOW = 1_768_478_400_000;

export async function benchScreens(): Promise<readonly BenchRow[]> {
  return [frame(), ...(await idle())];
}

function stateOf(at: number): GolemState {
  const name = `golem-${at}`;
  return {
    ...{
      golem: `${name}-gen1`,
      name,
      signer: `0x${at}`,
      generation: 1,
      lineage: [],
      archetype: 'observer',
      domain: 'sim',
    },
    ...{
      status: 'lives',
      cause: null,
      tick: 847,
      at: NOW,
      phase: 'thriving',
      vitality: 0.9,
      accuracy: 0.8,
      skills: 200,
    },
    ...{
      mood: { pleasure: 0.2, arousal: 0, dominance: 0 },
      spent_usd: 1,
      today_usd: 0.1,
      last: 'tick 847 · T1 · rule',
    },
  };
}

function tickOf(at: number, tick: number) {
  return {
    ...{
      golem: `golem-${at}-gen1`,
      tick,
      at: NOW,
      tier: 'T2',
      steps: ['OBSERVE', 'GATE', 'REFLECT'],
      gate: 'surprise',
    },
    ...{ saw: 'a line of what it saw '.repeat(12), skills: ['disk-full', 'late-packets'], followed: 'disk-full' },
    ...{ prediction: { claim: 'it holds', p: 0.8 }, answered_by: 'rule', actions: [{ label: 'drain', status: 'ok' }] },
    ...{ outcome: { success: true, summary: 'cured' }, phase: 'thriving', mood: stateOf(0).mood, text: `tick ${tick}` },
  };
}

function happened(tick: number): ScreenEvent {
  const golem = `golem-${tick % GOLEMS}`;
  const event = { type: 'SkillCreated', name: `skill-${tick}`, tick } as const;
  if (tick % 3 === 0) return { type: 'mind', golem, at: NOW, event: mindEvent.parse(event) };
  return { type: 'tick', golem, at: NOW, tick: tickOf(tick % GOLEMS, tick) };
}

/** The slowest window, by its 99th percentile. */
function frame(): BenchRow {
  const seen = Array.from({ length: GOLEMS }, (_, at) => {
    const state = stateOf(at);
    return { ...state, where: 'here', called: state.name, seenAt: NOW, isGone: false };
  });
  const paint = createPaint(true);
  let board: Board = reduce(EMPTY, { type: 'golems', golems: seen });
  for (let tick = 848; tick < 848 + PAST; tick += 1) board = reduce(board, happened(tick));
  const windows = WINDOW_NAMES.map((name) => {
    const times = Array.from({ length: EVENTS }, (_, at) => {
      const began = performance.now();
      board = reduce(board, happened(3_000 + at));
      drawWindow(windowOf(name, board, { focus: 'golem-3', chosen: 3, now: NOW }), 200, paint);
      return performance.now() - began;
    });
    return { name, p50: median(times), p99: quantile(times, 0.99) };
  });
  const worst = windows.toSorted((a, b) => b.p99 - a.p99)[0] ?? { name: '', p50: 0, p99: 0 };
  const note = `slowest of ${windows.length} windows (${worst.name}), p99 of ${EVENTS} events after ${PAST}, ${GOLEMS} golems, 200 columns; its median ${worst.p50.toFixed(2)}`;
  return {
    metric: 'clade: a frame after an event',
    value: worst.p99,
    unit: 'ms',
    target: '≤ 16',
    ok: worst.p99 <= 16,
    note,
  };
}

async function idle(): Promise<readonly BenchRow[]> {
  if (process.platform !== 'linux') {
    console.log('skipped idle screen: it reads /proc');
    return [];
  }
  const home = benchHome('http://127.0.0.1:9/v1');
  const log = openHomeLog({ path: join(home.folder, 'styx.db') });
  for (let at = 0; at < GOLEMS; at += 1) {
    await log.append(`golem.golem-${at}.presence`, stateOf(at) as unknown as JsonValue);
    await log.append(`golem.golem-${at}.tick`, tickOf(at, 847));
  }
  log.close();
  const env = { ...process.env, ...home.env, TERM: 'xterm-256color' };
  const command = `stty rows 60 cols 200; exec sh '${talaria}' clade`;
  const child = spawn('script', ['-qfc', command, '/dev/null'], { stdio: ['pipe', 'ignore', 'ignore'], env });
  try {
    await sleep(BEGIN_MS);
    const pid = screenBelow(child.pid ?? 0);
    const before = ticksOf(pid);
    await sleep(IDLE_MS);
    const value = (100 * (ticksOf(pid) - before)) / TICKS_A_SECOND / (IDLE_MS / 1_000);
    const note = `CPU of the process over ${IDLE_MS / 1_000} s in which nothing happens, ${GOLEMS} golems in view, 200 × 60`;
    return [{ metric: 'clade: idle screen', value, unit: '%', target: '≤ 1', ok: value <= 1, note }];
  } finally {
    child.kill();
    home.remove();
  }
}

/** User and system time, in ticks of the kernel. */
function ticksOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

function screenBelow(parent: number): number {
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8')
    .split(' ')
    .filter(Boolean)
    .map(Number);
  const found = children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('/main.js'));
  return found ?? screenBelow(children[0] ?? 0);
}
