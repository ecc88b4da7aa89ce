// Owns the look at the shops that the owner knows: taken on a schedule and kept, so that a screen shows what was seen and asks nobody. Knows no window.
// Invariants: while the market is off nobody is asked and nothing is opened; of all processes of a home one looks at a shop within its quarter of an
// hour; of a shop that does not answer what it said last stays, and why it does not.
import { errorText } from '#base/errors.ts';
import type { Ground } from '#core/agent/room.ts';
import { priceAt } from '#fleet/market/listing.ts';
import { type MarketRows, openMarketRows } from '#fleet/market/market-rows.ts';
import { searchShop } from '#fleet/market/purchase.ts';
import type { MarketSeen } from '#fleet/styx/clade.ts';
import { tellLog } from './desk.ts';
import { settingsOf } from './trade-settings.ts';

export const LOOK_MS = 900_000;
const MOST = 100;
/** Of a look that another process took: one that is nearly due is taken. */
const SLACK_MS = 60_000;

/** Undefined: the market is off. */
async function withRows<T>(
  ground: Ground,
  work: (rows: MarketRows, shops: readonly string[]) => T | Promise<T>,
): Promise<T | undefined> {
  const { enabled, shops } = await settingsOf(ground);
  if (!enabled) return undefined;
  const rows = openMarketRows(ground.places.home, ground.clock);
  try {
    return await work(rows, shops);
  } finally {
    rows.close();
  }
}

/** At each shop whose time has come; what is new there is told to the log. */
export async function lookAtShops(ground: Ground): Promise<void> {
  await withRows(ground, async (rows, shops) => {
    for (const shop of shops) {
      const { at = 0, listings: before = [] } = rows.shopsSeen().find((one) => one.shop === shop) ?? {};
      if (ground.clock.now() - at < LOOK_MS - SLACK_MS) continue;
      try {
        const listings = await searchShop(shop, [], MOST);
        await rows.seeShop(shop, listings);
        const count = listings.filter(({ id }) => !before.some((one) => one.id === id)).length;
        if (count > 0) await tellLog(ground, 'offered', { shop, count });
      } catch (error) {
        await rows.seeShop(shop, before, errorText(error));
      }
    }
  });
}

/** What is kept of the last look, and what was bought and sold here. */
export function seenMarket(ground: Ground): Promise<MarketSeen | undefined> {
  return withRows(ground, (rows, shops) => {
    const seen = rows.shopsSeen().filter(({ shop }) => shops.includes(shop));
    const now = ground.clock.now();
    const bought = rows
      .purchases(20)
      .map(({ listing: { name }, state, amount, at }) => ({ way: 'bought' as const, name, state, amount, at }));
    const sold = rows.sales(undefined, 20).map(({ listing, state, amount, at }) => {
      const { name = listing } = rows.lot(listing)?.listing ?? {};
      return { way: 'sold' as const, name, state, amount: Number(amount), at };
    });
    return {
      at: seen.length === 0 ? null : Math.max(...seen.map(({ at }) => at)),
      offers: seen.flatMap(({ shop, listings }) =>
        listings.map((one) => {
          const { id, name, category, confidence, validated_count: validated } = one;
          return { id, name, category, shop, confidence, validated, price: Number(priceAt(one, now)) };
        }),
      ),
      failed: Object.fromEntries(seen.flatMap(({ shop, failed }) => (failed === null ? [] : [[shop, failed]]))),
      trades: [...bought, ...sold].sort((a, b) => b.at - a.at),
    };
  });
}
