/** Homes that trade with each other through their commands, as at the shell. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type MarketRows, openMarketRows } from '#fleet/market/market-rows.ts';
import { withLibrary } from '#fleet/meta/library/library-home.ts';
import { receive } from '#fleet/meta/library/reception.ts';
import { room } from '#fleet/meta/trade/room.ts';
import type { CommandOutput } from '#public/talaria.ts';
import { saidBy, signer, type Told } from '../../fleet/meta/library-stage.ts';
import { realClock } from '../../ground.ts';
import { createStage, groundOf, type RanCommand, runSpec, type Stage } from '../../surfaces/app/app-fixture.ts';
import type { LocalChain, Purse } from './anvil.ts';

export interface Trader {
  readonly stage: Stage;
  readonly ground: ReturnType<typeof groundOf>;
  readonly home: string;
  readonly purse: Purse;
  run(name: string, input?: unknown, ask?: (question: string) => Promise<string>): Promise<RanCommand>;
  /** Config of its section. */
  set(
    values: Readonly<Record<string, string | number | boolean | readonly string[] | Readonly<Record<string, string>>>>,
  ): Promise<void>;
  rows(): MarketRows;
  /** Runs until the test ends. */
  serve(command?: 'serve' | 'agent'): Promise<Served>;
}

export interface Served {
  readonly address: string;
  /** What sellers set as theirs. */
  readonly agent: { readonly address: string; readonly key: string };
}

export async function trader(
  t: TestContext,
  chain: LocalChain,
  { dollars = 0n, knows = [] as readonly object[] } = {},
): Promise<Trader> {
  const stage = createStage(t);
  const purse = await chain.purse(dollars);
  const market = join(stage.root, 'market');
  mkdirSync(market, { recursive: true, mode: 0o700 });
  writeFileSync(join(market, 'seller.key'), `${purse.key}\n`, { mode: 0o600 });
  const house = groundOf(t, { environment: stage.environment, clock: realClock });
  const value = { golem: 'ada-gen1', lines: [], value: knows };
  const golems = { ask: async () => ({ ok: true, value }) };
  const door = async (name: string) => (name === 'golems' && knows.length > 0 ? golems : house.door(name as never));
  const ground = { ...house, door: door as typeof house.door };
  const commandOf = async (name: string) => {
    const found = (await room.commands?.(ground))?.find((one) => one.name === `market ${name}`);
    if (found === undefined) throw new Error(`no command market ${name}`);
    return found;
  };
  const set = async (
    values: Readonly<Record<string, string | number | boolean | readonly string[] | Readonly<Record<string, string>>>>,
  ) => ground.keep({ config: Object.entries(values).map(([key, value]) => ({ path: ['market', key], value })) });
  const { rpc, chainId: chain_id, token, escrow, factory, forwarder } = chain.places;
  await set({ enabled: true, rpc, chain_id, token, escrow, factory, forwarder });
  return {
    ...{ stage, ground, home: stage.root, purse, set },
    run: async (name, input = {}, ask) =>
      runSpec(await commandOf(name), input, { cwd: stage.cwd, ...(ask ? { ask } : {}) }),
    rows: () => {
      const rows = openMarketRows(stage.root, realClock);
      t.after(() => rows.close());
      return rows;
    },
    serve: async (name = 'serve') => {
      const command = await commandOf(name);
      const end = new AbortController();
      const outputs = command.run(command.input.parse({ port: 0 }) as never, { cwd: stage.cwd, signal: end.signal });
      const running = outputs[Symbol.asyncIterator]();
      const served = await servedBy(running);
      const rest = running.next();
      t.after(async () => {
        end.abort();
        await rest;
      });
      return served;
    },
  };
}

async function servedBy(running: AsyncIterator<CommandOutput>): Promise<Served> {
  for (;;) {
    const { value, done } = await running.next();
    if (done || value.type === 'failure') throw new Error(`it does not serve: ${JSON.stringify(value)}`);
    if (value.type === 'data') return value.value as unknown as Served;
  }
}

export const disk: Told = {
  ...{ name: 'disk-full', when: 'disk volume full inode', steps: ['rotate', 'drain', 'restart'], validated: 4 },
  more: Array.from({ length: 40 }, (_, at) => `Look ${at + 1} at what grows before you take anything away.`).join(' '),
};

/** A golem of this home left these in its testament. */
export async function left({ ground }: Pick<Trader, 'ground'>, skills: readonly Told[], golem = 'ada-gen1') {
  const text = await saidBy(signer(golem), skills);
  await withLibrary(ground, (library) => receive(library, text), { golems: { standing: async () => 'own' } });
}

export async function sold(seller: Trader, skill = 'disk-full', more: object = {}): Promise<string> {
  const ran = await seller.run('sell', { skill, price: '0.40', yes: true, ...more });
  if (ran.failure) throw new Error(`${ran.failure.code}: ${ran.failure.message}`);
  return (ran.data as { listing: { id: string } }).listing.id;
}

/** As its owner writes it by hand. */
export function allowResale({ home }: Trader, skill = 'disk-full'): void {
  const path = join(home, 'library', 'skills', skill, 'SKILL.md');
  writeFileSync(path, readFileSync(path, 'utf8').replace('\n---\n', '\nmetadata:\n  resale: allowed\n---\n'));
}

/** Another process of that home buys or sells, and is killed there; the signal that it ended by. */
export async function killed(
  { stage: { environment } }: Trader,
  command: 'buy' | 'sell',
  asked: Readonly<Record<string, string>>,
  when: string,
): Promise<string | null> {
  const script = fileURLToPath(new URL('./killed-trader.ts', import.meta.url));
  const given = JSON.stringify({ environment, command, asked, when });
  const child = spawn(process.execPath, [script, given], { stdio: 'ignore' });
  const [, signal] = await once(child, 'exit');
  return signal;
}
