/** Sellers, agents and buyers on a local chain: each with a home, a purse and a box; shops answer on loopback. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import type { Hex } from '#base/ethereum.ts';
import { type Catalogue, serveCatalogue } from '#fleet/market/catalogue.ts';
import { type Chain, openChain } from '#fleet/market/chain.ts';
import { type Draft, type Listing, previewOf, signListing } from '#fleet/market/listing.ts';
import { type MarketRows, openMarketRows } from '#fleet/market/market-rows.ts';
import type { BuyerGround } from '#fleet/market/purchase.ts';
import { newBox, sealContent, sealKey } from '#fleet/market/seal.ts';
import { openShop, publishLots, type Shop } from '#fleet/market/shop.ts';
import { realClock } from '../../ground.ts';
import type { LocalChain, Purse } from './anvil.ts';

export interface Seller {
  readonly chain: Chain;
  readonly purse: Purse;
  readonly rows: MarketRows;
  readonly box: { readonly publicKey: string; readonly privateKey: string };
  readonly home: string;
  /** Rows of the log of that home. */
  readonly log: { readonly topic: string; readonly body: unknown }[];
  readonly shop: Shop;
  serve(): Promise<Catalogue>;
}

export const STYX: Hex = `0x${'51'.repeat(20)}`;
export const GAS: Hex = `0x${'6a'.repeat(20)}`;

export async function seller(
  t: TestContext,
  chain: LocalChain,
  { directLimit = 1_000_000n, clock = realClock } = {},
): Promise<Seller> {
  const purse = await chain.purse(0n);
  const opened = await openChain(chain.places, purse.key);
  const home = tempFolder(t);
  const rows = openMarketRows(home, clock);
  t.after(() => rows.close());
  const box = newBox();
  const log: { topic: string; body: unknown }[] = [];
  const shop = await openShop({ chain: opened, rows, clock, box: box.privateKey, directLimit });
  const serve = async () => {
    const catalogue = await serveCatalogue({ shop, chain: opened }, { host: '127.0.0.1', port: 0 });
    t.after(() => catalogue.close());
    return catalogue;
  };
  return { chain: opened, purse, rows, box, home, log, shop, serve };
}

/** Listed on chain and log, and held by each of the shops. */
export async function offer(
  { chain, purse, log }: Seller,
  shops: readonly Seller[],
  content: string,
  more: Partial<Draft> = {},
): Promise<Listing> {
  const sealed = await sealContent(Buffer.from(content));
  const [agent] = shops.slice(-1);
  if (agent === undefined) throw new Error('somebody must hold it');
  const creator = more.creator ?? chain.me;
  const parties = { seller: chain.me, agent: agent.chain.me, creator, creatorOwner: creator, styx: STYX, gas: GAS };
  const draft: Draft = {
    ...{ item: 'skill', name: 'mend-a-build', category: 'coding', version: 3, confidence: 1, validated_count: 9 },
    ...{ lineage: ['alpha-gen1'], preview: previewOf(content), content_hash: sealed.contentHash },
    ...{ ciphertext_hash: sealed.ciphertextHash, key_commit: sealed.keyCommit, base_price: '400000' },
    ...{ listed_at: realClock.now(), seller: chain.me, splitter: await chain.splitterOf(sealed.keyCommit, parties) },
    ...{ escrow: chain.places.escrow, chain_id: chain.places.chainId, evaluator: 'buyer' },
    agent: { address: agent.chain.me, key: agent.box.publicKey },
    ...more,
  };
  const listing = await signListing(draft, purse.key);
  for (const shop of shops) {
    const key = await sealKey(sealed.secret, shop.box.publicKey, listing.id);
    await shop.rows.addLot({ listing, parties, ciphertext: sealed.ciphertext, sealed: key });
    await publishLots(shop.rows, chain, {
      append: async (topic, body) => log.push({ topic, body }),
      tells: () => false,
    });
  }
  return listing;
}

export async function buyer(
  t: TestContext,
  chain: LocalChain,
  { dollars = 5_000_000n, payment = 2_000_000n, day = 4_000_000n, clock = realClock } = {},
): Promise<BuyerGround & { readonly home: string }> {
  const purse = await chain.purse(dollars);
  const home = tempFolder(t);
  const rows = openMarketRows(home, clock);
  t.after(() => rows.close());
  return {
    chain: await openChain(chain.places, purse.key),
    rows,
    clock,
    key: purse.key,
    limits: { payment, day },
    home,
  };
}

/** A skill of so many characters, with sentences that nobody else writes. */
export function skillText(sentinels: readonly string[] = []): string {
  const lines = Array.from(
    { length: 60 },
    (_, at) => `Step ${at + 1}: read what the compiler says of the first file, and mend that one alone.`,
  );
  return `---\nname: mend-a-build\ndescription: Mends a build.\n---\n\n${lines.join('\n')}\n${sentinels.join('\n')}\n`;
}

function tempFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'talaria-market-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Every file of a folder, byte for byte. */
export function filesOf(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return names.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'));
}

/** What was ever sent to a chain or told by it, as hex and as bytes. */
export async function sentTo({ client }: LocalChain): Promise<readonly string[]> {
  const last = await client.getBlockNumber();
  const logs = await client.getLogs({ fromBlock: 0n, toBlock: last });
  const told = logs.flatMap(({ data, topics }) => [data, ...topics]);
  for (let number = 0n; number <= last; number += 1n) {
    const { transactions } = await client.getBlock({ blockNumber: number, includeTransactions: true });
    told.push(...transactions.map(({ input }) => input));
  }
  return told.flatMap((hex) => [hex, Buffer.from(hex.slice(2), 'hex').toString('latin1')]);
}

/** Puts another sealed key into a lot, as a seller who cheats would. */
export async function spoil({ home }: Seller, id: Hex, sealed: Uint8Array): Promise<void> {
  const database = new DatabaseSync(join(home, 'market', 'market.db'));
  database.prepare('UPDATE lots SET sealed = ? WHERE id = ?').run(sealed, id);
  database.close();
}
