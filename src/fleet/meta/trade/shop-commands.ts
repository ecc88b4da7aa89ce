// Owns the commands that look at shops and that are one: what is offered where, one listing of it, and the shop of this home, for its owner's lots
// or, as an agent, for those that others handed over. Invariant: what a shop says is shown as what its seller signed, and as text that is seen whole.
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { known } from '#base/errors.ts';
import * as spec from '#core/agent/command-spec.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, line } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { serveCatalogue } from '#fleet/market/catalogue.ts';
import { type Listing, priceAt } from '#fleet/market/listing.ts';
import { dollars } from '#fleet/market/market-rows.ts';
import { searchShop } from '#fleet/market/purchase.ts';
import { type Desk, failureOf, findListing, marketCommand, publish, seen, shopOf, type Trade, told } from './desk.ts';
import { readLot } from './packing.ts';
import { seenId } from './sell-commands.ts';

export function shopCommands(ground: Ground): readonly AnyCommand[] {
  return [listCommand(ground), showCommand(ground), serveCommand(ground), agentCommand(ground)];
}

function table(listings: readonly (Listing & { readonly shop: string })[], now: number): CommandOutput {
  const rows = listings.map((one) => [
    ...[one.name, dollars(priceAt(one, now)), one.confidence.toFixed(2), String(one.validated_count), one.category],
    ...[one.shop, one.id],
  ]);
  return { type: 'table', columns: ['skill', 'costs now', 'confidence', 'verified', 'category', 'shop', 'id'], rows };
}

const MOST = 100;

function listCommand(ground: Ground): AnyCommand {
  const input = z.object({
    shop: z.string().optional().describe('Address of a shop; default those of market.shops'),
    mine: z.boolean().default(false).describe('What this home offers'),
    search: z.string().default('').describe('Words that a listing must hold; they stay on this machine'),
  });
  const about = { summary: 'What is offered', input };
  return marketCommand(ground, 'list --search disk', about, async function* (desk, { shop, mine, search }) {
    if (mine) return yield* listMine(desk);
    const shops = shop === undefined ? desk.settings.shops : [shop];
    if (shops.length === 0)
      return yield spec.wrongUse(
        'no-shop',
        'No shop is known here.',
        'Say --shop URL, or set market.shops in config.yaml.',
      );
    const words = search.split(/\s+/).filter(Boolean);
    const { found, silent, nobody } = await lookIn(shops, words);
    if (nobody !== undefined) return yield nobody;
    for (const { message } of silent) yield line(`${message}.`);
    yield* listed(desk, found, search === '' ? 'Nothing is offered there.' : `Nothing there holds ${search}.`);
  });
}

/** Of a shop that does not answer, why; `nobody`: none does. */
async function lookIn(shops: readonly string[], words: readonly string[]) {
  const found: (Listing & { readonly shop: string })[] = [];
  const silent: spec.Failure[] = [];
  for (const shop of shops) {
    const seen = await searchShop(shop, words, MOST).catch(failureOf);
    if ('type' in seen) silent.push(seen);
    else found.push(...seen.map((listing) => ({ ...listing, shop })));
  }
  return { found, silent, nobody: silent.length === shops.length ? silent[0] : undefined };
}

function* listed(
  { ground }: Desk,
  found: readonly (Listing & { readonly shop: string })[],
  nothing: string,
): Generator<CommandOutput> {
  yield found.length === 0 ? line(nothing) : table(found, ground.clock.now());
  yield told(found);
}

/** What is half published is told again first. */
async function* listMine(desk: Desk): AsyncGenerator<CommandOutput> {
  if (desk.rows.halfPublished().length > 0) yield* await publish(desk, await desk.trade());
  const own = desk.rows.listings({ limit: MOST }).map((one) => ({ ...one, shop: 'here' }));
  yield* listed(desk, own, 'Nothing of yours is listed: talaria market sell SKILL --price USD');
}

function showCommand(ground: Ground): AnyCommand {
  const input = z.object({
    id: seenId,
    shop: z.string().optional().describe('Address of a shop; default those of market.shops'),
  });
  const about = { summary: 'One listing: how it begins, its price, confidence and lineage', input, positional: ['id'] };
  return marketCommand(ground, `show 0x${'ab'.repeat(32)}`, about, async function* (desk, asked) {
    const own = desk.rows.lot(asked.id);
    const { listing, shop } =
      own && asked.shop === undefined
        ? { listing: own.listing, shop: 'here' }
        : await findListing(desk, asked.id, asked.shop);
    yield* seen(listing);
    const price = priceAt(listing, ground.clock.now());
    yield line(`costs ${dollars(price)} now, ${dollars(BigInt(listing.base_price))} when it was new; sold at ${shop}`);
    yield told({ listing, price: String(price), shop, ...(own?.withdrawn ? { withdrawn: true } : {}) });
  });
}

const place = {
  port: z.coerce.number().int().min(0).max(65_535).default(8402).describe('Port; 0: any that is free'),
  host: z.string().min(1).default('127.0.0.1').describe('Address to listen at'),
};

function serveCommand(ground: Ground): AnyCommand {
  const about = {
    summary: 'Be a shop: show, sell and deliver what you listed, until it is stopped',
    ...({ untilStopped: true } as const),
    input: z.object(place),
  };
  return marketCommand(ground, 'serve', about, async function* (desk, asked, context) {
    const trade = await desk.trade();
    yield* await publish(desk, trade);
    yield* serve(desk, trade, asked, context);
  });
}

const EVERY_MS = 60_000;

async function* serve(
  desk: Desk,
  trade: Trade,
  at: { readonly port: number; readonly host: string },
  { signal }: CommandContext,
): AsyncGenerator<CommandOutput> {
  const shop = await shopOf(desk, trade);
  const catalogue = await serveCatalogue({ shop, chain: trade.chain }, at);
  try {
    yield line(`The shop stands at ${catalogue.address}`);
    yield told({ address: catalogue.address, agent: { address: trade.chain.me, key: trade.box.publicKey } });
    while (!signal.aborted) {
      const failed = await shop.goOnWithAll();
      if (failed > 0) yield line(`${failed} sales could not go on; they are tried again in a minute.`);
      await desk.ground.clock.sleep(EVERY_MS, signal).catch(() => undefined);
    }
  } finally {
    await catalogue.close();
  }
}

/** A skill, sealed, in base64. */
const MOST_LOT = 64 * 1024 ** 2;

function agentCommand(ground: Ground): AnyCommand {
  const about = {
    summary: 'Deliver what others sell, while they are away; --take FILE: take a lot in',
    ...({ untilStopped: true } as const),
    input: z.object({ ...place, take: z.string().optional().describe('File that a seller handed you, and no more') }),
  };
  return marketCommand(ground, 'agent --take lot.json', about, async function* (desk, { take, ...asked }, context) {
    const trade = await desk.trade();
    if (take !== undefined) return yield* takeLot(desk, trade, resolve(context.cwd, take));
    yield line(`Sellers set market.agent: {address: "${trade.chain.me}", key: "${trade.box.publicKey}"}`);
    yield* serve(desk, trade, asked, context);
  });
}

async function* takeLot({ rows }: Desk, trade: Trade, path: string): AsyncGenerator<CommandOutput> {
  const stats = known(() => statSync(path));
  if (!stats?.isFile() || stats.size > MOST_LOT)
    return yield spec.wrongUse('no-such-file', `There is no lot at ${path}.`);
  const lot = await readLot(readFileSync(path, 'utf8'), trade);
  if (!lot.ok) return yield spec.refused(lot.reason, lot.detail, 'Ask the seller to hand it over again.');
  const { id: listing, name } = lot.value.listing;
  await rows.addLot(lot.value);
  // Its seller told of it.
  await rows.markLot(listing, 'on_log');
  await rows.markLot(listing, 'on_chain');
  yield line(`${name} is delivered from here: talaria market agent`);
  yield told({ taken: listing });
}
