// Owns what every client of an HTTP endpoint is made from. Knows no wire format.
// Invariant: a key travels only in `Endpoint`, and only into request headers.
import type { Clock } from '#base/clock.ts';
import type { Tier } from '../model-client.ts';
import type { ModelOverrides } from '../model-table.ts';
import type { CacheTtl } from '../prompt-cache.ts';
import type { Proxies } from './http-request.ts';

export interface Endpoint {
  /** Name for ids and messages, e.g. `openai`, `openrouter`, `ollama`. */
  readonly provider: string;
  /** Wire format; default `openai` (chat completions). */
  readonly kind?: 'openai' | 'anthropic';
  /** Without the last path element, e.g. `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the environment says about proxies. */
  readonly proxies?: Proxies;
}

export interface ModelTimeouts {
  /** Until the answer's headers arrive, ms. Default 60 000, on local addresses 280 000 (loading a model, reading a long prompt). */
  readonly connectMs?: number;
  /** Between two pieces of the answer, ms. Default 120 000, on local addresses 280 000. */
  readonly idleMs?: number;
  /** For the whole answer behind its headers, however it drips, ms. Default one hour, on local addresses four. */
  readonly totalMs?: number;
}

export interface ProviderClientOptions {
  readonly endpoint: Endpoint;
  /** Id as the endpoint knows it. The client's own id is `<provider>/<model>`. */
  readonly model: string;
  readonly tier: Tier;
  readonly overrides?: ModelOverrides;
  readonly timeouts?: ModelTimeouts;
  /** How long a marked prefix is kept by providers that take marks; default `5m`. */
  readonly cacheTtl?: CacheTtl;
  readonly clock?: Clock;
}

/** Is this base URL on this machine or in its own network (loopback, private ranges, `.local`)? */
export function isLocalAddress(baseUrl: string): boolean {
  const host =
    URL.parse(baseUrl)
      ?.hostname.replace(/^\[|\]$/g, '')
      .toLowerCase() ?? '';
  if (
    host === 'localhost' ||
    host === 'host.docker.internal' ||
    /\.(?:local|lan|internal|home\.arpa|localhost)$/.test(host)
  )
    return true;
  if (host === '::1' || /^f[cd][0-9a-f]{2}:|^fe80:/.test(host)) return true;
  return /^(?:127|10)\.\d+\.\d+\.\d+$|^192\.168\.\d+\.\d+$|^172\.(?:1[6-9]|2\d|3[01])\.\d+\.\d+$|^169\.254\.\d+\.\d+$|^0\.0\.0\.0$/.test(
    host,
  );
}

/** A base URL fit for a message: no user, password, query or fragment. */
export function shownUrl(url: string): string {
  const parsed = URL.parse(url);
  return parsed ? `${parsed.origin}${parsed.pathname}`.replace(/\/$/, '') : 'an address that is no URL';
}
