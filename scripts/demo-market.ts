/**
 * `npm run demo:market`: one sale by escrow, between two owners on a chain of this machine, by the commands that they would type. The seller's
 * golem lives 300 ticks and leaves its skills; one of them is listed, bought and taken in. The money is play money, everything else is real.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createTestClient, type Hex, http, publicActions, walletActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { systemClock } from '#base/clock.ts';
import { newKey } from '#base/ethereum.ts';
import { deployMarket, openChain } from '#fleet/market/chain.ts';
import { dollars, openMarketRows } from '#fleet/market/market-rows.ts';
import made from '#testing/market/local-dollar.json' with { type: 'json' };
import { findChain } from './compile-contracts.ts';

const STYX: Hex = `0x${'51'.repeat(20)}`;
const GAS: Hex = `0x${'6a'.repeat(20)}`;
const program = join(import.meta.dirname, '../bin/talaria');

const folder = mkdtempSync(join(tmpdir(), 'talaria-market-'));
const children: ChildProcess[] = [];

async function play(chainFolder: string): Promise<void> {
  const { rpc, client } = await startChain(chainFolder);
  const key = newKey();
  const own = privateKeyToAccount(`0x${key}`);
  await client.setBalance({ address: own.address, value: 10n ** 20n });
  const { abi, bytecode } = made.LocalDollar;
  const hash = await client.deployContract({ abi, bytecode: bytecode as Hex, args: [], account: own });
  const token = (await client.waitForTransactionReceipt({ hash })).contractAddress as Hex;
  const places = await deployMarket(rpc, key, token);
  console.log(`A chain on this machine (${rpc}), a test dollar ${places.token}, a market ${places.escrow}.\n`);

  const seller = new Owner('seller');
  const buyer = new Owner('buyer');
  for (const owner of [seller, buyer]) await owner.setUp({ ...places, styx_address: STYX, gas_address: GAS });
  const mint = { address: token, abi, functionName: 'mint', args: [await buyer.address(), 2_000_000n], account: own };
  await client.waitForTransactionReceipt({ hash: await client.writeContract(mint) });
  await client.setBalance({ address: await seller.address(), value: 10n ** 18n });
  const chain = await openChain(places, key);
  const balances = async () => {
    const names = { seller: await seller.address(), buyer: await buyer.address(), Styx: STYX, gas: GAS };
    const all = await Promise.all(
      Object.entries(names).map(async ([name, of]) => `${name} ${dollars(await chain.balance(of))}`),
    );
    console.log(`balances: ${all.join(' · ')}\n`);
  };
  await balances();

  console.log('The seller’s golem alpha lives, and its skills come into his library:');
  await seller.run('golem create alpha --domain sim');
  await seller.show('golem run alpha --ticks 300', 1);
  await seller.run('golem retire alpha --yes');
  const [{ name }] = (await seller.json('library list')) as readonly [{ readonly name: string }];
  seller.writeMore(name);
  const { listing } = (await seller.json(`market sell ${name} --price 0.40 --yes`)) as { listing: { id: string } };
  console.log(`\nlisted: ${name}, ${listing.id}`);
  const shop = await seller.serve();
  console.log(`its shop: ${shop}\n`);
  await buyer.run(`config set market.shops ["${shop}"]`);
  await buyer.show('market list');
  const stop = watchStates(seller, buyer);
  await buyer.run(`market buy ${listing.id} --via escrow --yes`);
  await stop();
  console.log();
  await balances();
  console.log('The buyer’s library, and why it holds what it holds:');
  await buyer.show(`library why ${name}`);
}

class Owner {
  readonly home: string;

  constructor(name: string) {
    this.home = join(folder, name);
  }

  async setUp(places: Readonly<Record<string, string | number>>): Promise<void> {
    const { rpc, chainId, token, escrow, factory, forwarder, styx_address, gas_address } = places;
    const values = {
      enabled: true,
      rpc,
      chain_id: chainId,
      token,
      escrow,
      factory,
      forwarder,
      styx_address,
      gas_address,
    };
    for (const [name, value] of Object.entries(values)) await this.run(`config set market.${name} ${value}`);
  }

  async address(): Promise<Hex> {
    return ((await this.json('market status')) as { readonly address: Hex }).address;
  }

  /** The golem says in three hundred characters what it did; what is sold has a thousand. */
  writeMore(name: string): void {
    const path = join(this.home, 'library/skills', name, 'SKILL.md');
    const more = Array.from({ length: 30 }, (_, at) => `${at + 1}. Look at what changed before you act on it again.`);
    writeFileSync(path, `${readFileSync(path, 'utf8').trimEnd()}\n\n## What its owner adds\n\n${more.join('\n')}\n`);
  }

  async run(words: string): Promise<string> {
    const child = this.#start(words);
    const parts: string[] = [];
    child.stdout?.on('data', (part) => parts.push(String(part)));
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`talaria ${words} ended with ${code}`);
    return parts.join('');
  }

  async json(words: string): Promise<unknown> {
    return JSON.parse(await this.run(`${words} --json`));
  }

  /** The last lines of what it prints. */
  async show(words: string, lines = 40): Promise<void> {
    console.log(`> talaria ${words}`);
    console.log((await this.run(words)).trimEnd().split('\n').slice(-lines).join('\n'));
  }

  async serve(): Promise<string> {
    const child = this.#start('market serve --port 0');
    for await (const line of createInterface({ input: child.stdout as NonNullable<typeof child.stdout> })) {
      const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
      if (address !== undefined) return address;
    }
    throw new Error('the shop did not start');
  }

  #start(words: string): ChildProcess {
    const env = { ...process.env, TALARIA_HOME: this.home };
    const child = spawn('sh', [program, ...words.split(' ')], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    return child;
  }
}

/** Each state that either side's row comes to, as it comes. */
function watchStates(seller: Owner, buyer: Owner): () => Promise<void> {
  const [sold, bought] = [seller, buyer].map(({ home }) => openMarketRows(home, systemClock));
  const seen = new Set<string>();
  let isOver = false;
  const look = () => {
    for (const [whose, state] of [
      ['sale', sold?.sales(undefined, 1)[0]?.state],
      ['purchase', bought?.purchases(1)[0]?.state],
    ]) {
      const line = `${whose}: ${state}`;
      if (state !== undefined && !seen.has(line)) console.log(line);
      seen.add(line);
    }
  };
  const looking = (async () => {
    while (!isOver) {
      look();
      await systemClock.sleep(2);
    }
    look();
  })();
  return async () => {
    isOver = true;
    await looking;
    sold?.close();
    bought?.close();
  };
}

async function startChain(chainFolder: string) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const at = server.address();
  const port = typeof at === 'object' && at !== null ? at.port : 0;
  server.close();
  await once(server, 'close');
  const words = ['--host', '127.0.0.1', '--port', String(port), '--silent', '--accounts', '0'];
  children.push(spawn(join(chainFolder, 'anvil'), words, { stdio: 'ignore' }));
  const rpc = `http://127.0.0.1:${port}`;
  const client = createTestClient({ chain: foundry, mode: 'anvil', transport: http(rpc), pollingInterval: 20 })
    .extend(publicActions)
    .extend(walletActions);
  for (let tries = 0; ; tries += 1) {
    const isThere = await client.getChainId().then(
      () => true,
      () => false,
    );
    if (isThere) return { rpc, client };
    if (tries > 200) throw new Error('the chain did not start');
    await systemClock.sleep(50);
  }
}

const found = findChain();
if (found === undefined) {
  console.error('demo:market: the local chain is not here. Fetch it once: sh scripts/fetch-chain.sh');
  process.exit(1);
}
try {
  await play(found);
} finally {
  for (const child of children) child.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}
process.exit();
