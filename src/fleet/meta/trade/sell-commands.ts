// Owns the commands of who sells: what is packed and listed for his yes, what is taken back, what was sold, and how the market of his own chain is made.
// Invariants: what will be public is shown before it is, and nothing is listed without a yes; what could not be told everywhere is told again.
import { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import { isoTime } from '#base/clock.ts';
import { addressOf, type Hex } from '#base/ethereum.ts';
import { isYes } from '#base/text.ts';
import * as spec from '#core/agent/command-spec.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, line } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { deployMarket, openChain, type Sale as Parties } from '#fleet/market/chain.ts';
import { priceAt, signListing, split } from '#fleet/market/listing.ts';
import { dollars } from '#fleet/market/market-rows.ts';
import { takeIn } from '../library/hands.ts';
import { withLibrary } from '../library/library-home.ts';
import { type Desk, failureOf, marketCommand, publish, seen, TURN_ON, told } from './desk.ts';
import * as packing from './packing.ts';
import * as own from './trade-settings.ts';

export function sellCommands(ground: Ground): readonly AnyCommand[] {
  return [
    sellCommand(ground),
    withdrawCommand(ground),
    salesCommand(ground),
    statusCommand(ground),
    deployCommand(ground),
  ];
}

export const none = z.object({});
const HASH = /^0x[0-9a-f]{64}$/;
const id = z.string().regex(HASH, 'must be 0x and 64 of 0-9 a-f');
/** Of what was seen on a screen its beginning is enough. */
export const seenId = z.string().regex(/^0x[0-9a-f]{6,64}$/, 'must be 0x and 6 to 64 of 0-9 a-f');

const selling = z.object({
  skill: z.string().describe('Skill of the library; with --entry a golem'),
  price: z
    .string()
    .optional()
    .describe('Dollars, as 0.40: what it would cost at full confidence and new; it falls with age'),
  entry: z.string().optional().describe('Entry of the Grimoire of that golem'),
  previous: id.optional().describe('Listing that this one takes the place of'),
  evaluator: z.enum(['buyer', 'agent']).default('buyer').describe('Who says whether the buyer got what was described'),
  yes: z.boolean().default(false).describe('Do not ask'),
});
type Selling = z.output<typeof selling>;

function sellCommand(ground: Ground): AnyCommand {
  const about = { summary: 'Sell a skill of the library', input: selling, positional: ['skill'] };
  return marketCommand(ground, 'sell clear-disk --price 0.40', about, async function* (desk, asked, context) {
    const price = priceIn(asked.price);
    if (price === undefined)
      return yield spec.wrongUse('no-price', 'What does it cost? Say --price, in dollars, as 0.40.');
    if (asked.evaluator === 'agent' && packing.agentOf(desk.settings) === undefined)
      return yield spec.wrongUse('no-agent', 'No agent is set who could decide.', 'Set market.agent in config.yaml.');
    const goods = await goodsOf(desk, asked);
    if (!goods.ok) return yield spec.refused(goods.reason, goods.detail, packing.FIXES[goods.reason]);
    yield* list(desk, goods.value, { ...asked, price, previous: asked.previous as Hex | undefined }, context);
  });
}

/** Micro-USDC; at least five, so that a tenth of it is still a price. */
function priceIn(text = ''): bigint | undefined {
  if (!/^\d{1,6}(?:\.\d{1,6})?$/.test(text)) return undefined;
  const price = own.micro(Number(text));
  return price >= 5n ? price : undefined;
}

function goodsOf(desk: Desk, { skill, entry }: Selling): ReturnType<typeof packing.packSkill> {
  if (entry !== undefined) return packing.packEntry(desk, skill, entry);
  return withLibrary(desk.ground, async (library) => {
    await takeIn(library);
    return packing.packSkill(library, desk.rows, skill);
  });
}

async function* list(
  desk: Desk,
  goods: packing.Goods,
  asked: packing.Asked & Pick<Selling, 'yes'>,
  { ask }: CommandContext,
): AsyncGenerator<CommandOutput> {
  const trade = await desk.trade();
  const packed = await packing.pack(desk, trade, goods, asked);
  yield line('This will be public, for good, on the chain and on the log of the fleet:');
  yield* seen(packed.draft);
  const price = priceAt(packed.draft, packed.draft.listed_at);
  yield line(
    `costs ${dollars(price)} now, and falls to ${dollars(asked.price / 10n)}; ${sharesOf(price, packed.parties)}`,
  );
  if (!asked.yes) {
    if (ask === undefined)
      return yield spec.refused('not-confirmed', 'Nothing is listed without your yes.', 'Say --yes.');
    if (!isYes(await ask('List it? [y/N] '))) return yield line('Nothing is listed.');
  }
  const listing = await signListing(packed.draft, trade.key);
  const agent = packing.agentOf(desk.settings);
  const file = agent && packing.lotPath(desk.ground.places.home, listing.id);
  // Before it is listed: nothing could write it again, for the key of the content is in no other place that can be read.
  if (agent && file) atomicWrite(file, packing.lotText(await packing.lotOf(packed, listing, agent.key)));
  await desk.rows.addLot(await packing.lotOf(packed, listing, trade.box.publicKey));
  const lines = await publish(desk, trade);
  yield line(`${listing.id} is listed. Buyers reach it while this runs: talaria market serve`);
  yield* lines;
  if (file) yield line(`For your agent, who takes it with talaria market agent --take FILE: ${file}`);
  yield told({ listing, ...(file ? { lot: file } : {}) });
}

function sharesOf(price: bigint, { seller: me, creator: maker }: Parties): string {
  const { seller, styx, creator, gas } = split(price, maker !== me);
  const royalty = maker === me ? '' : `, its maker ${dollars(creator)}`;
  return `of it you get ${dollars(seller)}, Styx ${dollars(styx)}${royalty}, gas ${dollars(gas)}`;
}

function withdrawCommand(ground: Ground): AnyCommand {
  const about = { summary: 'Take a listing of yours back', input: z.object({ id }), positional: ['id'] };
  return marketCommand(ground, `withdraw 0x${'ab'.repeat(32)}`, about, async function* (desk, asked) {
    const lot = desk.rows.lot(asked.id);
    if (lot === undefined)
      return yield spec.failed(
        'no-such-listing',
        'It is not offered here.',
        'talaria market list --mine shows what is.',
      );
    const { chain } = await desk.trade();
    const listing = lot.listing.id;
    if (lot.listing.seller === chain.me && (await chain.isListed(listing, chain.me)) !== undefined)
      await chain.withdraw(listing);
    await desk.rows.markLot(listing, 'withdrawn');
    await desk.tell('withdrawn', { listing });
    yield line(`${listing} is sold here no more. Who bought it keeps it.`);
    yield told({ withdrawn: listing });
  });
}

function salesCommand(ground: Ground): AnyCommand {
  const about = { summary: 'What was sold here, the newest first', input: none };
  return marketCommand(ground, 'sales', about, async function* ({ rows }) {
    const sales = rows.sales(undefined, 200);
    const nameOf = (listing: Hex) => rows.lot(listing)?.listing.name ?? listing;
    if (sales.length === 0) yield line('Nothing was sold yet.');
    else
      yield {
        type: 'table',
        columns: ['skill', 'for', 'by', 'state', 'buyer', 'at'],
        rows: sales.map((sale) => [
          ...[nameOf(sale.listing), dollars(BigInt(sale.amount)), sale.via, sale.state, sale.payer, isoTime(sale.at)],
        ]),
      };
    yield told(
      sales.map(({ id: sale, listing, via, amount, state, job, at }) => ({
        sale,
        listing,
        via,
        amount,
        state,
        job,
        at,
      })),
    );
  });
}

function statusCommand(ground: Ground): AnyCommand {
  return spec.defineCommand({
    ...{ name: 'market status', surfaces: ['cli'], examples: ['talaria market status'], input: none },
    summary: 'Whether the market is on, what is missing, your address and what it holds',
    async *run() {
      const settings = await own.settingsOf(ground);
      const missing = own.missingPlaces(settings);
      const address = await addressOfHome(ground, settings);
      yield line(settings.enabled ? `on, chain ${settings.chain_id} at ${settings.rpc}` : `off. ${TURN_ON}`);
      yield line(
        address === undefined ? 'You have no key yet; it is made when the market is on.' : `your address ${address}`,
      );
      if (missing.length > 0) yield line(`missing: ${missing.join(', ')}`);
      const isReady = settings.enabled && address !== undefined && missing.length === 0;
      const { text, balance = null } = isReady ? await balanceOf(ground, settings) : {};
      if (text !== undefined) yield line(text);
      yield told({ enabled: settings.enabled, chain: settings.chain_id, address: address ?? null, balance, missing });
    },
  });
}

/** While it is off no key is made. */
async function addressOfHome(ground: Ground, { enabled }: own.MarketSettings): Promise<Hex | undefined> {
  const { home } = ground.places;
  if (!enabled) return own.addressThere(home);
  await ground.writable();
  return addressOf(own.sellerKey(home));
}

async function balanceOf(
  { places }: Ground,
  settings: own.MarketSettings,
): Promise<{ readonly text?: string; readonly balance?: string }> {
  try {
    const chain = await openChain(own.placesOf(settings), own.sellerKey(places.home));
    const balance = await chain.balance(chain.me);
    return { text: `it holds ${dollars(balance)}`, balance: String(balance) };
  } catch (error) {
    const { message, fix } = failureOf(error);
    return { text: `the chain: ${message}. ${fix}` };
  }
}

function deployCommand(ground: Ground): AnyCommand {
  return spec.defineCommand({
    ...{ name: 'market deploy', surfaces: ['cli'] },
    summary: 'Put a market of your own on the chain: forwarder, escrow and factory',
    input: z.object({ token: z.string().regex(own.ADDRESS).describe('USDC of that chain') }),
    examples: [`talaria market deploy --token 0x${'12'.repeat(20)}`],
    async *run({ token }, { ask }) {
      await ground.writable();
      try {
        const settings = await own.settingsOf(ground);
        await own.allowMoney(ground.places.home, settings, ask);
        const { rpc, chain_id: chain } = settings;
        const places = await deployMarket(rpc, own.sellerKey(ground.places.home), token.toLowerCase() as Hex, chain);
        const { escrow, factory, forwarder } = places;
        const kept = { token: places.token, escrow, factory, forwarder };
        await ground.keep({ config: Object.entries(kept).map(([name, value]) => ({ path: ['market', name], value })) });
        for (const [name, value] of Object.entries(kept)) yield line(`market.${name} ${value}`);
        yield line('They stand in config.yaml. Who trades with you sets the same.');
        yield told(kept);
      } catch (error) {
        yield failureOf(error);
      }
    },
  });
}
