/**
 * The market on a chain of this machine (anvil): a purchase by escrow and at once, what the calls cost in gas, prices of a million sales, a catalogue
 * of ten thousand listings, and what the chain and the compiler take. Without the chain no row.
 */
import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { type Abi, decodeFunctionData, type Hex } from 'viem';
import { serveCatalogue } from '#fleet/market/catalogue.ts';
import artifacts from '#fleet/market/contracts/artifacts.json' with { type: 'json' };
import { priceAt, split } from '#fleet/market/listing.ts';
import { buy, searchShop } from '#fleet/market/purchase.ts';
import { artifacts as compiled, findChain } from '../scripts/compile-contracts.ts';
import { type LocalChain, startChain } from '../test/real/market/anvil.ts';
import { buyer, offer, type Seller, seller, skillText } from '../test/real/market/market-stage.ts';
import { atMost, type BenchRow, median, spread } from './bench-row.ts';

const [TIMES, SALES, LISTINGS, LOOKS] = [10, 1_000_000, 10_000, 20];
const HOUR = 3_600_000;

export async function benchMarket(): Promise<readonly BenchRow[]> {
  const folder = findChain();
  if (folder === undefined) {
    console.log('market: skipped: set TALARIA_TEST_CHAIN (sh scripts/fetch-chain.sh prints it)');
    return [];
  }
  const { chain, end, pid } = await startChain(folder);
  const undo: (() => unknown)[] = [];
  const t = { after: (work: () => unknown) => void undo.push(work) } as unknown as TestContext;
  try {
    const one = await seller(t, chain);
    return [
      ...(await purchases(t, chain, one)),
      ...(await gas(chain)),
      prices(),
      ...(await catalogue(one)),
      atMost(40, {
        metric: 'market: anvil',
        value: peakMb(pid),
        unit: 'MB',
        note: 'most of it in memory, behind the purchases',
      }),
      compiling(folder),
    ];
  } finally {
    for (const work of undo.reverse()) await work();
    await end();
  }
}

/** From asking for the offer; the first purchase of each kind, which loads the libraries, is left out. */
async function purchases(t: TestContext, chain: LocalChain, one: Seller): Promise<readonly BenchRow[]> {
  const shop = (await one.serve()).address;
  const [funded, opened, direct]: number[][] = [[], [], []];
  for (let time = 0; time <= TIMES; time += 1) {
    for (const via of ['escrow', 'direct'] as const) {
      const { id } = await offer(one, [one], skillText([`${via} ${time}`]));
      const two = await buyer(t, chain);
      const reached = new Map<string, number>();
      const move = two.rows.move.bind(two.rows);
      two.rows.move = async (purchase, state, more) => {
        const moved = await move(purchase, state, more);
        reached.set(state, performance.now());
        return moved;
      };
      const began = performance.now();
      await buy(two, { shop, id, via });
      if (time === 0) continue;
      const since = (state: string) => (reached.get(state) ?? Number.NaN) - began;
      if (via === 'direct') direct?.push(since('completed'));
      else {
        funded?.push(since('paid'));
        opened?.push(since('opened'));
      }
    }
  }
  const row = (metric: string, most: number, values: readonly number[] = []) =>
    atMost(most, {
      metric: `market: ${metric}`,
      value: median(values),
      unit: 'ms',
      note: `median of ${TIMES}, ${spread(values, 0)}`,
    });
  return [
    row('escrow, 402 to funded', 100, funded),
    row('escrow, to opened', 500, opened),
    row('exact, to opened', 150, direct),
  ];
}

/** Of every transaction so far, by what it called; the dearest. */
async function gas({ client }: LocalChain): Promise<readonly BenchRow[]> {
  const { JobEscrow, SaleSplitter, ERC2771Forwarder } = artifacts;
  const abi = [...JobEscrow.abi, ...SaleSplitter.abi, ...ERC2771Forwarder.abi] as Abi;
  const used = new Map<string, number>();
  const last = await client.getBlockNumber();
  for (let number = last > 190n ? last - 190n : 0n; number <= last; number += 1n) {
    const { transactions } = await client.getBlock({ blockNumber: number, includeTransactions: true });
    for (const { hash, input } of transactions) {
      const name = nameOf(abi, input);
      const { gasUsed } = await client.getTransactionReceipt({ hash });
      used.set(name, Math.max(used.get(name) ?? 0, Number(gasUsed) / 1_000));
    }
  }
  const row = (name: string, most: number, note: string) =>
    atMost(most, { metric: `market: gas of ${name}`, value: used.get(name) ?? Number.NaN, unit: 'K', note });
  return [
    row('fundByAuthorization', 260, 'the dearest of the purchases above'),
    row('complete', 80, 'carried for the buyer: what it costs alone is in test/real/market/chain.test.ts'),
    row('release', 160, 'the dearest'),
  ];
}

function nameOf(abi: Abi, data: Hex): string {
  try {
    const { functionName, args } = decodeFunctionData({ abi, data });
    if (functionName !== 'execute') return functionName;
    const [{ data: inner }] = args as readonly [{ readonly data: Hex }];
    return nameOf(abi, inner);
  } catch {
    return 'other';
  }
}

function prices(): BenchRow {
  const listing = { base_price: '400000', confidence: 0.966_666_666_666_666_7, listed_at: 0 };
  const began = performance.now();
  let sum = 0n;
  for (let at = 0; at < SALES; at += 1) {
    const price = priceAt({ ...listing, base_price: String(400_000 + at) }, (at % 400) * HOUR);
    const { seller: own, styx, creator, gas: fee } = split(price, at % 2 === 0);
    sum += price - own - styx - creator - fee;
  }
  if (sum !== 0n) throw new Error('parts do not sum to the price');
  const value = (performance.now() - began) / 1_000;
  return atMost(1, { metric: 'market: price and split of 10⁶ sales', value, unit: 's', note: 'one run' });
}

async function catalogue(one: Seller): Promise<readonly BenchRow[]> {
  const [some] = one.rows.listings({ limit: 1 });
  const lot = some && one.rows.lot(some.id);
  if (lot === undefined) return [];
  for (let at = 0; at < LISTINGS; at += 1) {
    const id: Hex = `0x${at.toString(16).padStart(64, '0')}`;
    const listing = { ...lot.listing, id, name: `skill-${at}`, listed_at: at };
    await one.rows.addLot({ ...lot, listing, ciphertext: new Uint8Array(), sealed: new Uint8Array() });
    await one.rows.markLot(id, 'on_chain');
  }
  const { address, close } = await serveCatalogue({ shop: one.shop, chain: one.chain }, { host: '127.0.0.1', port: 0 });
  const timed = async (look: () => Promise<unknown>) => {
    const times: number[] = [];
    for (let time = 0; time <= LOOKS; time += 1) {
      const began = performance.now();
      await look();
      if (time > 0) times.push(performance.now() - began);
    }
    return times;
  };
  const page = await timed(async () => (await fetch(`${address}/`)).text());
  const search = await timed(() => searchShop(address, ['zeppelin', 'harbour']));
  await close();
  const row = (metric: string, most: number, values: readonly number[]) =>
    atMost(most, {
      metric: `market: ${metric} of ${LISTINGS.toLocaleString('en-US')} listings`,
      value: median(values),
      unit: 'ms',
      note: `median of ${LOOKS}, ${spread(values, 1)}`,
    });
  return [row('page', 50, page), row('search without a hit', 30, search)];
}

function peakMb(pid: number): number {
  const [, kb] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kb) / 1_024;
}

function compiling(folder: string): BenchRow {
  const began = performance.now();
  compiled(folder);
  return atMost(10, {
    metric: 'market: compile of the contracts',
    value: (performance.now() - began) / 1_000,
    unit: 's',
    note: 'all contracts, one run',
  });
}
