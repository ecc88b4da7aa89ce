// Owns what every client of an HTTP endpoint is made from, and how much an endpoint may make us hold, read and wait for: one value with its
// defaults, and the watch over the bytes as they come. Knows no wire format but the ends of lines and events. Invariants: a key travels only in
// `Endpoint`, and only into request headers; whatever an endpoint sends, nobody behind the watch sees more than the bounds, and going past one
// is a ModelError that names the endpoint and the bound.
import type { Clock } from '#base/clock.ts';
import { ModelError, type ModelTraits, type Tier } from '../model-client.ts';
import type { ModelOverrides } from '../model-table.ts';
import type { Eyes } from '../pictures.ts';
import type { CacheTtl } from './prompt-cache.ts';

/** HTTP_PROXY, HTTPS_PROXY and NO_PROXY as they are set. Never used for this machine itself. */
export type Proxies = Readonly<Partial<Record<'HTTP_PROXY' | 'HTTPS_PROXY' | 'NO_PROXY', string>>>;

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

/**
 * Pays for one call: from what a 402 asks for (`PAYMENT-REQUIRED`) to what the call is sent with again (`PAYMENT-SIGNATURE`), both of x402, version 2.
 * Rejects with the reason when nobody pays for this purpose.
 */
export type Pay = (required: string, purpose: string) => Promise<string>;

export interface ProviderClientOptions {
  readonly endpoint: Endpoint;
  /** Id as the endpoint knows it. The client's own id is `<provider>/<model>`. */
  readonly model: string;
  readonly tier: Tier;
  readonly overrides?: ModelOverrides;
  readonly timeouts?: ModelTimeouts;
  /** How long a marked prefix is kept by providers that take marks; default `5m`. */
  readonly cacheTtl?: CacheTtl;
  /** Bytes of pictures, by their hash; absent: it sees none. */
  readonly bytesOf?: (hash: string) => Buffer | undefined;
  /** Absent: a 402 is a failure. */
  readonly pay?: Pay;
  readonly clock?: Clock;
}

export function eyesOf(model: string, { images }: ModelTraits, { bytesOf }: ProviderClientOptions): Eyes {
  return images && bytesOf ? { model, bytesOf } : { model };
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

/** Sizes are of what was unpacked. A model that writes 128,000 tokens one by one sends about 45 MB in about 256,000 events. */
export const ENDPOINT_BOUNDS = {
  headerBytes: 16 * 1024,
  /** Preliminary answers (1xx) before the answer. */
  preliminary: 16,
  redirects: 3,
  answerBytes: 128 * 1024 ** 2,
  /** A listing of models, or the vectors of one request. Parsed data take up to twenty times the bytes of their text. */
  jsonBytes: 16 * 1024 ** 2,
  errorBytes: 64 * 1024,
  /** One event of a stream, its lines together. */
  eventBytes: 4 * 1024 ** 2,
  events: 500_000,
  /** Lists and objects inside each other. */
  depth: 64,
  /** Characters of text and thinking of one answer, and of the arguments of one call. */
  textChars: 8 * 1024 ** 2,
  argumentChars: 2 * 1024 ** 2,
  calls: 128,
  /** Models of a listing. */
  models: 20_000,
} as const;

/** An endpoint on this machine may load a model first, and write slowly. */
export function timeBounds({ baseUrl }: Endpoint, timeouts: ModelTimeouts = {}): Required<ModelTimeouts> {
  const local = isLocalAddress(baseUrl);
  return { ...(local ? LOCAL_TIMES : FAR_TIMES), ...timeouts };
}

const LOCAL_TIMES: Required<ModelTimeouts> = { connectMs: 280_000, idleMs: 280_000, totalMs: 4 * 3_600_000 };
const FAR_TIMES: Required<ModelTimeouts> = { connectMs: 60_000, idleMs: 120_000, totalMs: 3_600_000 };

/** `what`: a bound in words, `an answer of over 128 MB`. */
export function overBound(endpoint: Endpoint, what: string): ModelError {
  return new ModelError(
    `${endpoint.provider} at ${shownUrl(endpoint.baseUrl)} sent ${what}, which is more than is taken`,
    {
      code: 'model-bad-response',
      fix: 'Look at the server: no model answers like this.',
    },
  );
}

function inMegabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MB`;
}

export interface AnswerWatch {
  /** What bound these bytes go past, in words. */
  take(bytes: Uint8Array): string | undefined;
}

const [LF, CR, QUOTE, BACKSLASH] = [10, 13, 0x22, 0x5c];
/** `{` and `}`; with this bit set `[` and `]` are the same. */
const [OPENER, CLOSER, BRACE_BIT] = [0x7b, 0x7d, 0x20];
const DATA = Buffer.from('data:');

/** `stream`: events of lines; `json`: one value. What is too deep is found before anything parses it, since parsers fill the memory with it. */
export function watchAnswer(expect: 'stream' | 'json'): AnswerWatch {
  const { answerBytes, jsonBytes, eventBytes, events, depth } = ENDPOINT_BOUNDS;
  const most = expect === 'json' ? jsonBytes : answerBytes;
  const nesting = watchNesting();
  const lines = watchLines(nesting);
  const read = expect === 'json' ? nesting.read : lines.read;
  let total = 0;
  return {
    take(bytes) {
      total += bytes.length;
      if (total > most) return `an answer of over ${inMegabytes(most)}`;
      for (const byte of bytes) {
        read(byte);
        if (nesting.depth() > depth) return `data with over ${depth} lists or objects inside each other`;
      }
      if (lines.eventSize() > eventBytes) return `an event of over ${inMegabytes(eventBytes)}`;
      return lines.events() > events ? `over ${events} events in one answer` : undefined;
    },
  };
}

type Nesting = ReturnType<typeof watchNesting>;

/** How deep in lists and objects the bytes of a JSON value are; what stands in texts does not count. */
function watchNesting() {
  let depth = 0;
  let quoted = false;
  let escaped = false;
  const readQuoted = (byte: number) => {
    if (escaped) escaped = false;
    else if (byte === BACKSLASH) escaped = true;
    else if (byte === QUOTE) quoted = false;
  };
  return {
    depth: () => depth,
    read(byte: number): void {
      if (quoted) readQuoted(byte);
      else if (byte === QUOTE) quoted = true;
      else if ((byte | BRACE_BIT) === OPENER) depth += 1;
      else if ((byte | BRACE_BIT) === CLOSER) depth = Math.max(0, depth - 1);
    },
    /** No text of JSON goes on over the end of a line. */
    endLine(): void {
      quoted = false;
      escaped = false;
    },
    restart(): void {
      depth = 0;
    },
  };
}

/** Events of a stream: the data of one are all its lines until an empty one. */
function watchLines(nesting: Nesting) {
  let events = 0;
  let event = 0;
  let line = 0;
  let isData = true;
  let afterReturn = false;
  const endLine = () => {
    nesting.endLine();
    if (line === 0) {
      nesting.restart();
      events += 1;
      event = 0;
    }
    line = 0;
    isData = true;
  };
  const readByte = (byte: number) => {
    if (line < DATA.length) isData &&= byte === DATA[line];
    else if (isData) nesting.read(byte);
    line += 1;
    event += 1;
  };
  return {
    events: () => events,
    eventSize: () => event,
    read(byte: number): void {
      const isSecondEnd = byte === LF && afterReturn;
      afterReturn = byte === CR;
      if (byte !== LF && byte !== CR) readByte(byte);
      else if (!isSecondEnd) endLine();
    },
  };
}

/** Is this JSON (or what was to be JSON) deeper than is taken? */
export function isTooDeep(json: string): boolean {
  return watchAnswer('json').take(Buffer.from(json))?.includes('inside each other') ?? false;
}
