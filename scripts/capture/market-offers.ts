/** What the window of the market shows in its picture. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '#base/clock.ts';
import { addressOf, type Hex, newKey } from '#base/ethereum.ts';
import { signListing } from '#fleet/market/listing.ts';
import { openMarketRows } from '#fleet/market/market-rows.ts';

/** The market is on, and a shop was looked at just now. */
export async function offer(home: string): Promise<void> {
  const shop = 'https://skills.example';
  appendFileSync(join(home, 'config.yaml'), `market: {enabled: true, shops: [${shop}]}\n`);
  const seller = newKey();
  const listings = OFFERS.map(([name, category, price, confidence, validated_count], at) => {
    const hash = `0x${String(at + 1).repeat(64)}` as const;
    const of = { item: 'skill', version: 1, lineage: ['bea-gen1'], preview: `# ${name}`, chain_id: 84_532 } as const;
    const hashes = { content_hash: hash, ciphertext_hash: hash, key_commit: hash, base_price: String(price) };
    const places = {
      splitter: hash.slice(0, 42) as Hex,
      escrow: hash.slice(0, 42) as Hex,
      evaluator: 'buyer',
    } as const;
    const about = { name, category, confidence, validated_count, listed_at: Date.now() - at * DAY_MS };
    return { ...of, ...hashes, ...places, ...about, agent: { address: places.escrow, key: hash.slice(2) } };
  });
  const rows = openMarketRows(home, systemClock);
  const address = await addressOf(seller);
  await rows.seeShop(shop, await Promise.all(listings.map((one) => signListing({ ...one, seller: address }, seller))));
  rows.close();
}

const DAY_MS = 86_400_000;
/** Price in micro-USDC when it was new. */
const OFFERS = [
  ['clear-disk', 'ops/disks', 400_000, 0.81, 7],
  ['renew-certificate', 'ops/tls', 1_200_000, 0.93, 21],
  ['flaky-suite', 'coding/tests', 250_000, 0.64, 4],
] as const;
