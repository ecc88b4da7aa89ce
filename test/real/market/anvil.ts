/** A local chain (anvil) on loopback with a dollar and the market on it, which ends with its suite. Its time passes as the test says. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  type Abi,
  type Account,
  type Chain as ChainOfViem,
  createTestClient,
  http,
  publicActions,
  walletActions,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { addressOf, type Hex, newKey } from '#base/ethereum.ts';
import { type ChainPlaces, deployMarket } from '#fleet/market/chain.ts';
import artifacts from '#fleet/market/contracts/artifacts.json' with { type: 'json' };
import dollar from '#testing/market/local-dollar.json' with { type: 'json' };
import { findChain } from '../../../scripts/compile-contracts.ts';
import { until } from '../../ends.ts';

export const CHAIN_SKIP = 'skipped: set TALARIA_TEST_CHAIN (sh scripts/fetch-chain.sh prints it)';

export interface Purse {
  /** 64 hex characters. */
  readonly key: string;
  /** Lower case. */
  readonly address: Hex;
  readonly account: Account;
}

export interface LocalChain {
  readonly places: ChainPlaces;
  /** viem, with what anvil adds. */
  readonly client: LocalClient;
  /** A fresh key with gas money and that many micro-dollars. */
  purse(dollars?: bigint): Promise<Purse>;
  mint(to: Hex, amount: bigint): Promise<void>;
  /** Makes a block that many seconds later. */
  pass(seconds: number): Promise<void>;
  /** As it is now, for `back`. */
  mark(): Promise<Hex>;
  back(mark: Hex): Promise<void>;
  deploy(
    artifact: { readonly abi: readonly unknown[]; readonly bytecode: string },
    args?: readonly unknown[],
  ): Promise<Hex>;
}

export type LocalClient = ReturnType<typeof clientOf>;

export const escrowAbi = artifacts.JobEscrow.abi as Abi;
export const splitterAbi = artifacts.SaleSplitter.abi as Abi;
export const factoryAbi = artifacts.SplitterFactory.abi as Abi;
export const dollarAbi = dollar.LocalDollar.abi as Abi;

/** Runs `body` as a suite with a chain of its own; without anvil, one skipped test. */
export function onChain(name: string, body: (chain: () => LocalChain) => void): void {
  const folder = findChain();
  if (folder === undefined) {
    test(name, { skip: CHAIN_SKIP }, () => undefined);
    return;
  }
  describe(name, () => {
    let started: Awaited<ReturnType<typeof startChain>> | undefined;
    before(async () => {
      started = await startChain(folder);
    });
    after(() => started?.end());
    body(() => {
      if (started === undefined) throw new Error('the chain is started before the first test');
      return started.chain;
    });
  });
}

export async function startChain(
  folder: string,
): Promise<{ readonly chain: LocalChain; readonly end: () => Promise<void>; readonly pid: number }> {
  const port = await freePort();
  const address = ['--host', '127.0.0.1', '--port', String(port)];
  const rules = [
    '--silent',
    '--accounts',
    '0',
    '--hardfork',
    'cancun',
    '--disable-block-gas-limit',
    '--no-request-size-limit',
    '--prune-history=200',
  ];
  const child: ChildProcess = spawn(join(folder, 'anvil'), [...address, ...rules], { stdio: 'ignore' });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const rpc = `http://127.0.0.1:${port}`;
  const client = clientOf(rpc);
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`anvil ended with ${child.exitCode}`);
    return client.getChainId().then(
      () => true,
      () => false,
    );
  });
  const end = async () => {
    process.off('exit', kill);
    const gone = once(child, 'exit');
    kill();
    await gone;
  };
  return { chain: await withMarket(rpc, client), end, pid: child.pid ?? 0 };
}

async function withMarket(rpc: string, client: LocalClient): Promise<LocalChain> {
  const own = await fresh(client);
  const deploy: LocalChain['deploy'] = async ({ abi, bytecode }, args = []) => {
    const made = { abi: abi as Abi, bytecode: bytecode as Hex, args, account: own.account };
    const { contractAddress } = await client.waitForTransactionReceipt({ hash: await client.deployContract(made) });
    return (contractAddress ?? '0x').toLowerCase() as Hex;
  };
  const token = await deploy(dollar.LocalDollar);
  const places = await deployMarket(rpc, own.key, token);
  let last: Promise<unknown> = Promise.resolve();
  /** One after another, however they are asked for. */
  const mint = (to: Hex, amount: bigint) => {
    const call = { address: token, abi: dollarAbi, functionName: 'mint', args: [to, amount], account: own.account };
    const mine = last.then(async () => {
      await client.waitForTransactionReceipt({ hash: await client.writeContract(call) });
    });
    last = mine;
    return mine;
  };
  return {
    ...{ places, client, mint, deploy },
    purse: async (dollars = 0n) => {
      const purse = await fresh(client);
      if (dollars > 0n) await mint(purse.address, dollars);
      return purse;
    },
    pass: async (seconds) => {
      await client.increaseTime({ seconds });
      await client.mine({ blocks: 1 });
    },
    mark: () => client.snapshot(),
    back: (id) => client.revert({ id }),
  };
}

async function fresh(client: LocalClient): Promise<Purse> {
  const key = newKey();
  const address = await addressOf(key);
  await client.setBalance({ address, value: 10n ** 20n });
  return { key, address, account: privateKeyToAccount(`0x${key}`) };
}

/** A call of a hundred million steps takes its time. */
function clientOf(rpc: string) {
  const chain: ChainOfViem = foundry;
  return createTestClient({
    chain,
    mode: 'anvil',
    transport: http(rpc, { timeout: 300_000 }),
    pollingInterval: 20,
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
