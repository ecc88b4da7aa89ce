// Owns the price of one call. Knows no provider and no purpose; the ledger adds up elsewhere.
// Invariant: an unknown price is null, never zero; local models and the reflex cost nothing; more tokens never cost less.
import type { Usage } from './model-client.ts';
import { bareModelName } from './model-name.ts';
import { PRICE_TABLE, type Price } from './price-table.ts';

export interface PriceOptions {
  /** Runs on this machine or in its own network. */
  readonly local?: boolean;
  /** From the configuration; wins over the table. */
  readonly price?: Price;
  /** Cache writes live an hour. */
  readonly hourCache?: boolean;
}

const HOUR_FACTOR = 1.6;

/** US dollars of one call, null when the model's price is unknown. */
export function priceCall(modelId: string, usage: Usage, options: PriceOptions = {}): number | null {
  const price = options.price ?? (options.local || modelId.startsWith('reflex/') ? FREE : listPrice(modelId));
  if (!price) return null;
  const fresh = Math.max(0, usage.inputTokens - usage.cachedTokens - usage.cacheWriteTokens);
  const write =
    (price.cacheWrite ?? price.input) * (options.hourCache && price.cacheWrite !== undefined ? HOUR_FACTOR : 1);
  const millionths =
    fresh * price.input +
    usage.cachedTokens * (price.cached ?? price.input) +
    usage.cacheWriteTokens * write +
    usage.outputTokens * price.output;
  return millionths / 1_000_000;
}

const FREE: Price = { input: 0, output: 0 };

function listPrice(modelId: string): Price | undefined {
  // A free variant at a router costs nothing; its paid sister has another id.
  if (modelId.endsWith(':free')) return FREE;
  const name = bareModelName(modelId);
  return PRICE_TABLE.find((row) => row.pattern.test(name));
}
