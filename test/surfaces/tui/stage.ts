/** A home with a real log, doubles of the doors of golems and of Meta, and a terminal in memory whose last frame can be read. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import type {
  CladeDoor,
  CladeOutput,
  GolemState,
  GolemsDoor,
  LibraryEntry,
  MarketSeen,
  SeenGolem,
  SteerTold,
  TickTold,
} from '#fleet/styx/clade.ts';
import { openHomeLog, type StyxTransport } from '#fleet/styx/home-log.ts';
import type { InfraFigures } from '#surfaces/tui/board.ts';
import { Watch } from '#surfaces/tui/feed.ts';
import { runScreen, type ScreenOptions } from '#surfaces/tui/screen.ts';
import type { ManualClock } from '#testing/manual-clock.ts';
import { until } from '../../ends.ts';
import { createStage, groundOf } from '../app/app-fixture.ts';
import { MemoryTerminal } from '../cli/chat/view/memory-terminal.ts';

export const NOW = 1_768_478_400_000;

export function stateOf(name: string, more: Partial<GolemState> = {}): GolemState {
  return {
    ...{ golem: `${name}-gen1`, name, signer: `0x${name}`, generation: 1, lineage: [`${name}-gen1`] },
    ...{ archetype: 'observer', domain: 'sim', status: 'lives', cause: null, tick: 7, at: NOW, phase: 'thriving' },
    ...{ vitality: 0.9, mood: { pleasure: 0.5, arousal: -0.2, dominance: 0 }, accuracy: 0.81, skills: 3 },
    ...{ spent_usd: 1.5, today_usd: 0.25, last: 'tick 7 · T1 · rule · disk' },
    ...more,
  };
}

export function seenOf(name: string, more: Partial<SeenGolem> = {}): SeenGolem {
  return { ...stateOf(name), where: 'here', called: name, seenAt: NOW, isGone: false, ...more };
}

export function tickOf(tick: number, more: Partial<TickTold> = {}): TickTold {
  return {
    ...{
      golem: 'ada-gen1',
      tick,
      at: NOW + tick,
      tier: 'T2',
      steps: ['OBSERVE', 'RETRIEVE', 'ANALYZE', 'GATE', 'REFLECT'],
    },
    ...{ gate: 'surprise 1.00 against 0.44', saw: 'disk full', skills: ['disk-full'], followed: 'disk-full' },
    prediction: { claim: 'drain answers disk', p: 0.98 },
    ...{ answered_by: 'rule', actions: [{ label: 'drain', status: 'ok' }] },
    outcome: { success: true, summary: 'cured' },
    ...{
      phase: 'thriving',
      mood: { pleasure: 0.6, arousal: 0, dominance: 0 },
      text: `tick ${tick} · T2 · rule · disk`,
    },
    ...more,
  };
}

export function steerOf(text: string, more: Partial<SteerTold> = {}): SteerTold {
  return {
    ...{ id: text, kind: 'steer', golem: 'ada-gen1', signer: '0xada', at: NOW, text, called: 'ada' },
    ...{ standing: 'directive', about: null, heard: null, pinned: false },
    ...more,
  };
}

export function entryOf(name: string, more: Partial<LibraryEntry> = {}): LibraryEntry {
  return {
    ...{ name, description: '', status: 'clade', confidence: 0.49, raw: 0.7, isStale: false, isCrossValidated: false },
    ...{ lineage: ['ada-gen1'], source: 'testament', equipped: 0, validated: 0, contradicted: 0 },
    ...more,
  };
}

export const FIGURES: InfraFigures = {
  ...{ model: 'ollama/hermes:Q6_K', quantisation: 'Q6_K', tokensPerSecond: [4, 8, 16, 18.5] },
  context: { used: 9_100, size: 128_000, of: 'T1', usual: [4_000, 12_000] },
  memory: { used: 32 * 1_024 ** 3, size: 64 * 1_024 ** 3 },
  ...{ installed: ['ollama/hermes:Q6_K', 'ollama/hermes:Q4_K_M', 'ollama/hermes:Q8_0'], reloading: null, warnings: [] },
};

export const MARKET: MarketSeen = {
  at: NOW - 5 * 60_000,
  offers: [
    {
      ...{
        id: `0xf3a91c77${'0'.repeat(56)}`,
        name: 'clear-disk',
        category: 'ops/disks',
        shop: 'http://127.0.0.1:8402',
      },
      ...{ price: 386_000, confidence: 0.81, validated: 7 },
    },
  ],
  failed: { 'http://far.example': 'it does not answer' },
  trades: [{ way: 'bought', name: 'renew-cert', state: 'ingested', amount: 250_000, at: NOW }],
};

/** What was said to Meta, and what it keeps and answers. */
export interface MetaDouble extends CladeDoor {
  readonly heard: { readonly text: string; readonly focus: string | undefined }[];
  answers: readonly CladeOutput[];
  kept: { steers: readonly SteerTold[]; library: readonly LibraryEntry[] };
  past: { readonly from: 'owner' | 'meta'; readonly text: string; readonly at: number }[];
  /** How often its door was asked for anything but a message. */
  asked: number;
}

export function metaOf(golems: readonly SeenGolem[]): MetaDouble {
  const meta: MetaDouble = {
    ...{
      heard: [],
      answers: [{ type: 'text', text: 'Two are well.' }],
      kept: { steers: [], library: [] },
      past: [],
      asked: 0,
    },
    look: async () => counted(golems),
    async *say(text, { focus }) {
      meta.heard.push({ text, focus });
      meta.past.push({ from: 'owner', text, at: NOW });
      yield* meta.answers;
    },
    messages: () => meta.past,
    steers: async () => counted(meta.kept.steers),
    owner: () => [{ key: 'risk', value: 'low', confidence: 0.6, updatedAt: NOW, evidence: ['message 3'] }],
    library: async () => counted(meta.kept.library),
  };
  const counted = <T>(value: T): T => {
    meta.asked += 1;
    return value;
  };
  return meta;
}

export function golemsOf(states: readonly GolemState[]): GolemsDoor {
  const never = () => Promise.reject(new Error('nobody asks this of a screen'));
  const bundle = JSON.stringify({ skills: [{ name: 'disk-full', confidence: 0.7 }] });
  const ask: GolemsDoor['ask'] = async (golem) => ({ ok: true, value: { golem, lines: [], value: bundle } });
  return { states: async () => states, ask, create: never, retire: never, purse: never, tags: never };
}

type Ground = ReturnType<typeof groundOf>;
type Doors = Awaited<ReturnType<Ground['open']>>;

export interface TuiStage {
  readonly ground: Ground;
  readonly log: StyxTransport;
  row(topic: string, body: unknown): Promise<number>;
  watch(): Promise<Watch>;
  screen(options?: Partial<ScreenOptions>): Promise<ShownScreen>;
}

export type ShownScreen = Awaited<ReturnType<typeof shown>>;

export function createTuiStage(
  t: TestContext,
  doors: Partial<Pick<Doors, 'golems' | 'clade' | 'market'>> = {},
  clock?: ManualClock,
): TuiStage {
  const { environment, root } = createStage(t);
  const timed = clock ? { clock } : {};
  const door = async (name: string) => {
    const lent = Object.entries(doors).find(([known]) => known === name)?.[1];
    if (lent === undefined) throw Object.assign(new Error(`no room lends ${name}`), { code: 'no-door' });
    return lent as never;
  };
  const ground = { ...groundOf(t, { environment, ...timed }), door };
  mkdirSync(root);
  const log = openHomeLog({ path: join(root, 'styx.db'), ...timed });
  t.after(() => log.close());
  const watch = async () => {
    const opened = new Watch(ground);
    await opened.open();
    t.after(() => opened.close());
    return opened;
  };
  return {
    ...{ ground, log, watch },
    row: (topic, body) => log.append(topic, body as never),
    screen: async (options = {}) => shown(t, await watch(), options),
  };
}

async function shown(t: TestContext, watch: Watch, options: Partial<ScreenOptions>) {
  const terminal = new MemoryTerminal();
  terminal.columns = 80;
  terminal.rows = 24;
  const stop = new AbortController();
  const all = { cwd: '/', hasColour: false, hasSound: false, terminal, ...options };
  let isOver = false;
  const over = runScreen(watch, all, stop.signal).then(() => {
    isOver = true;
  });
  t.after(async () => {
    stop.abort();
    await over;
  });
  const screen = {
    ...{ terminal, watch },
    /** Rows of the last frame. */
    rows: () => framed(terminal.written),
    text: () => framed(terminal.written).join('\n'),
    shows: (text: string | RegExp) =>
      until(() => screen.text().search(text) >= 0 || screen.text().includes(String(text))),
    type: async (...keys: readonly string[]) => {
      for (const key of keys) terminal.press(key);
      await pause(30);
    },
    isOver: () => isOver,
  };
  await until(() => terminal.written.includes('Clade'));
  return screen;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it reads what a terminal is told
const PLACED = /\u001b\[(?:(\d+);(\d+)H|2J)/;

/** The frame that stands after all that was written. */
function framed(written: string): readonly string[] {
  const parts = written.split(PLACED);
  const rows: string[] = [];
  for (let at = 1; at < parts.length; at += 3) {
    const [row, column, text = ''] = [parts[at], parts[at + 1], parts[at + 2]];
    if (row === undefined) rows.length = 0;
    else if (column === '1' && text.startsWith('\u001b[2K')) rows[Number(row) - 1] = stripVTControlCharacters(text);
  }
  return Array.from(rows, (row) => row ?? '');
}
