// Owns what the commands of the market work on together: its rows, the chain with the owner's key, his shop, and what the log of the home is told.
// Knows no command. Invariants: nothing is opened and no key is made while the market is off; the chain is opened when a command needs it; what is
// told are rows `market.…` of the log, never a word or an event of a golem.
import type { z } from 'zod';
import { TalariaError } from '#base/errors.ts';
import { type JsonObject, type JsonValue, objectOf, textOf } from '#base/json.ts';
import { withoutUnseen } from '#base/text/unseen.ts';
import * as spec from '#core/agent/command-spec.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, line } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { behind, type Chain, openChain } from '#fleet/market/chain.ts';
import type { Listing } from '#fleet/market/listing.ts';
import { type MarketRows, openMarketRows, type Sale } from '#fleet/market/market-rows.ts';
import { readListing } from '#fleet/market/purchase.ts';
import { openContent, openKey } from '#fleet/market/seal.ts';
import { openShop, publishLots, type Shop } from '#fleet/market/shop.ts';
import { homeLogPath, openHomeLog, type StyxTransport } from '#fleet/styx/home-log.ts';
import { allowMoney, boxOf, type MarketSettings, micro, placesOf, sellerKey, settingsOf } from './trade-settings.ts';

export interface Trade {
  readonly chain: Chain;
  /** Of the owner, 64 hex characters. */
  readonly key: string;
  readonly box: ReturnType<typeof boxOf>;
}

export interface Desk {
  readonly ground: Ground;
  readonly settings: MarketSettings;
  readonly rows: MarketRows;
  /** Makes the keys when there are none. Throws TalariaError `not-configured`, `real-money`, and of the chain. */
  trade(): Promise<Trade>;
  /** Into the log of the home. */
  tell(what: 'sold' | 'returned' | 'bought' | 'reviewed' | 'withdrawn', body: JsonObject): Promise<void>;
}

type Run<Input> = (desk: Desk, input: Input, context: CommandContext) => AsyncIterable<CommandOutput>;
type About<Input> = Omit<spec.CommandSpec<Input>, 'name' | 'surfaces' | 'examples' | 'run' | 'input'> & {
  readonly input: z.ZodType<Input>;
};

/** `words`: as typed behind `market`. */
export function marketCommand<Input>(ground: Ground, words: string, about: About<Input>, run: Run<Input>): AnyCommand {
  return spec.defineCommand<Input>({
    ...about,
    ...{ name: `market ${words.split(' ')[0]}`, surfaces: ['cli'], examples: [`talaria market ${words}`] },
    async *run(input, context) {
      const settings = await settingsOf(ground);
      if (!settings.enabled) return yield spec.wrongUse('market-off', 'The market is off.', TURN_ON);
      await ground.writable();
      const rows = openMarketRows(ground.places.home, ground.clock);
      try {
        yield* run(deskOf(ground, settings, { rows, context }), input, context);
      } catch (error) {
        yield failureOf(error);
      } finally {
        rows.close();
      }
    },
  });
}

export const TURN_ON = 'Set market.enabled: true in config.yaml; talaria market status says what else is missing.';

/** What can be foreseen is an answer, with its fix; anything else is thrown on. */
export function failureOf(error: unknown): spec.Failure {
  if (!(error instanceof TalariaError)) throw error;
  return (error.code === 'real-money' ? spec.refused : spec.failed)(error.code, error.message, error.fix);
}

function deskOf(
  ground: Ground,
  settings: MarketSettings,
  { rows, context }: { readonly rows: MarketRows; readonly context: CommandContext },
): Desk {
  const { home } = ground.places;
  return {
    ...{ ground, settings, rows },
    trade: async () => {
      const places = placesOf(settings);
      await allowMoney(home, settings, context.ask);
      const key = sellerKey(home);
      return { chain: await openChain(places, key), key, box: boxOf(home) };
    },
    tell: (what, body) => tellLog(ground, what, body),
  };
}

/** A row of the log of the home, as screens follow it. */
export function tellLog(ground: Ground, what: string, body: JsonObject): Promise<void> {
  return withLog(ground, async (log) => void (await log.append(`market.${what}`, body)));
}

async function withLog<T>({ places, clock }: Ground, work: (log: StyxTransport) => Promise<T>): Promise<T> {
  const log = openHomeLog({ path: homeLogPath(places.home), clock });
  try {
    return await work(log);
  } finally {
    log.close();
  }
}

/** What is listed and not known everywhere yet is told, on chain and log; a line for each half that failed. */
export async function publish({ ground, rows }: Desk, { chain }: Trade): Promise<readonly CommandOutput[]> {
  const told = await withLog(ground, (log) => {
    const idOf = ({ body }: { readonly body: unknown }) => textOf(objectOf(objectOf(body).listing).id);
    const tells = (topic: string, id: string) => log.read([topic], 0, MOST_ROWS).some((row) => idOf(row) === id);
    return publishLots(rows, chain, { append: (...row) => log.append(...row), tells });
  });
  return told.flatMap(({ id, failed: why }) =>
    why === undefined
      ? []
      : [line(`${id} is not published everywhere: ${why}. talaria market list --mine tries it again.`)],
  );
}

const MOST_ROWS = 100_000;

/** The shop over the lots of this home. Whoever is named as evaluator decides what he delivered himself. */
export async function shopOf(desk: Desk, trade: Trade): Promise<Shop> {
  const { ground, settings, rows } = desk;
  const { chain, box } = trade;
  const told = async (what: 'sold' | 'returned', sale: Sale) => {
    if (what === 'sold') await judge(desk, trade, sale);
    const { id, listing, via, amount, job } = sale;
    await desk.tell(what, { sale: id, listing, via, amount, job });
  };
  const directLimit = micro(settings.direct_limit);
  return openShop({ chain, rows, clock: ground.clock, box: box.privateKey, told, directLimit });
}

/** Does what was delivered open to what was listed? Throws TalariaError `chain-behind`: it is asked again. */
async function judge({ rows }: Desk, { chain, box }: Trade, { id: nonce, via, listing: id }: Sale): Promise<void> {
  const lot = rows.lot(id);
  if (via === 'direct' || lot === undefined || lot.listing.evaluator !== chain.me) return;
  const job = await chain.funded(nonce);
  if (job.status === 'funded') throw behind('that it was submitted');
  if (job.status !== 'submitted') return;
  const secret = await openKey(Buffer.from(lot.sealed), box.privateKey, lot.listing.id);
  const content = secret.ok ? await openContent(Buffer.from(lot.ciphertext), secret.value, lot.listing) : secret;
  await chain[content.ok ? 'complete' : 'reject'](job.id, lot.listing.content_hash);
}

/** The first of these shops that has it. Throws TalariaError `which-listing`, `no-shop`, `no-such-listing`, `shop-…`. */
export async function findListing(
  { settings, rows }: Desk,
  beginning: string,
  shop?: string,
): Promise<{ readonly shop: string; readonly listing: Listing }> {
  const id = wholeId(rows, beginning);
  let last: unknown = new TalariaError('No shop is known here', {
    code: 'no-shop',
    fix: 'Say --shop URL, or set market.shops in config.yaml.',
  });
  for (const one of shop === undefined ? settings.shops : [shop]) {
    try {
      return { shop: one, listing: await readListing(one, id) };
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

const WHOLE = 66;

/** As it begins on a screen: of what was seen there is one. */
function wholeId(rows: MarketRows, beginning: string): string {
  const ids = new Set(rows.shopsSeen().flatMap(({ listings }) => listings.map(({ id }) => id)));
  const found = [...ids].filter((id) => id.startsWith(beginning));
  const [id = beginning] = found;
  if (beginning.length === WHOLE || found.length === 1) return id;
  const fix = 'Give it whole: talaria market list shows it.';
  throw new TalariaError(`${found.length} listings that were seen begin so`, { code: 'which-listing', fix });
}

/** What anybody reads of a listing before he pays. */
export function* seen(listing: Omit<Listing, 'id' | 'signature'>): Generator<CommandOutput> {
  const { name, item, category, confidence, validated_count: validated, lineage, seller, creator, preview } = listing;
  yield line(`${name} (${item}, ${category}): confidence ${confidence.toFixed(2)}, ${validated} verified uses`);
  yield line(
    `lineage: ${lineage.join(' → ') || 'no golem'}; sold by ${seller}${creator ? `, made by ${creator}` : ''}`,
  );
  yield line('It begins:');
  for (const text of preview.split('\n')) yield line(`  ${withoutUnseen(text)}`);
}

export function told(value: unknown): CommandOutput {
  return { type: 'data', value: value as JsonValue };
}
