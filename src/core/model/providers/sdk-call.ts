// Owns one streamed call through the provider library: exchange, reading, abort, failures, price of the answer.
// Knows neither dialect. Invariant: keeps the ModelClient contract whatever the endpoint does; the connection is closed on every way out.
import { raceAbort, throwIfAborted } from '#base/abort.ts';
import { systemClock } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { ModelError, type ModelEvent, type ModelTraits } from '../model-client.ts';
import { priceCall } from '../price.ts';
import { overBound } from './endpoint-bounds.ts';
import { inBandFailure, withoutKeys } from './failure/model-failure.ts';
import { networkFailure } from './failure/network-failure.ts';
import { type Exchange, openExchange } from './guarded-fetch.ts';
import type { Endpoint, ProviderClientOptions } from './provider-options.ts';
import { createEventReader, type EventReader, type EventReaderOptions, type ReadFinish } from './sdk-events.ts';
import type { SdkStream } from './sdk-types.ts';

export interface SdkCall {
  readonly id: string;
  readonly traits: ModelTraits;
  readonly options: ProviderClientOptions;
  /** Sends the request through the exchange and gives the library's stream of parts; loads the library at first use. */
  readonly open: (exchange: Exchange) => Promise<SdkStream>;
  readonly replay: EventReaderOptions['replay'];
  /** A finish without any reason on the wire means that the stream was cut. */
  readonly cutWithoutReason: boolean;
}

export async function* streamSdkCall(work: SdkCall, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  throwIfAborted(signal);
  const { endpoint, model, timeouts, clock = systemClock } = work.options;
  const exchange = openExchange(
    { endpoint, model, clock, expect: 'stream', ...(timeouts ? { timeouts } : {}) },
    signal,
  );
  const reader = createEventReader({
    replay: work.replay,
    failure: (error) => partFailure(endpoint, error, exchange, work.options),
    over: (what) => overBound(endpoint, what),
  });
  try {
    yield* readStream(work, exchange, reader);
    yield finishEvent(work, reader);
  } catch (error) {
    throw translate(error, { work, exchange, signal });
  } finally {
    exchange.close();
  }
}

async function* readStream(work: SdkCall, exchange: Exchange, events: EventReader): AsyncGenerator<ModelEvent> {
  const stream = await raceAbort(work.open(exchange), exchange.signal);
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await raceAbort(reader.read(), exchange.signal);
    if (done) return;
    const cut = value.type === 'finish' && work.cutWithoutReason && value.finishReason.raw === undefined;
    if (cut) throw cutShort(work.options.endpoint);
    yield* events.read(value);
  }
}

function finishEvent(work: SdkCall, reader: EventReader): ModelEvent {
  const { finish } = reader;
  if (!finish) throw cutShort(work.options.endpoint);
  const { reason, usage } = finish;
  return { type: 'finish', reason, usage, model: work.id, tier: work.options.tier, cost: costOf(work, finish) };
}

/** What the endpoint billed, else the price of the counted tokens; tokens that nobody counted have an unknown price. */
function costOf({ id, traits, options }: SdkCall, finish: ReadFinish): number | null {
  if (finish.billed !== undefined) return finish.billed;
  if (!finish.counted) return traits.local ? 0 : null;
  const price = options.overrides?.price;
  return priceCall(id, finish.usage, {
    local: traits.local,
    hourCache: options.cacheTtl === '1h',
    ...(price ? { price } : {}),
  });
}

function cutShort(endpoint: Endpoint): ModelError {
  return new ModelError(`${endpoint.provider} ended its answer in the middle`, {
    code: 'model-bad-response',
    retryable: true,
    fix: 'Try again; if it stays, look at the server or the network.',
  });
}

/** What an error part inside the stream means. */
function partFailure(
  endpoint: Endpoint,
  error: unknown,
  exchange: Exchange,
  options: ProviderClientOptions,
): ModelError {
  const known = exchange.failure() ?? foundModelError(error);
  if (known) return known;
  if (!(error instanceof Error)) return inBandFailure(endpoint, error, options.clock ?? systemClock);
  if (/without a finish reason/i.test(error.message)) return cutShort(endpoint);
  if (isNetworkError(error)) return networkFailure(endpoint, error, exchange.answered());
  const inBand = streamErrorBody(error);
  if (inBand) return inBandFailure(endpoint, inBand, options.clock ?? systemClock);
  return new ModelError(
    `${endpoint.provider} sent something that is not in its protocol: ${oneLine(endpoint, error)}`,
    {
      code: 'model-bad-response',
      retryable: true,
      fix: 'Try again; if it stays, check that the base URL is the API of the provider.',
    },
  );
}

interface Failed {
  readonly work: SdkCall;
  readonly exchange: Exchange;
  readonly signal: AbortSignal;
}

function translate(error: unknown, { work, exchange, signal }: Failed): unknown {
  if (signal.aborted) return signal.reason;
  const known = exchange.failure() ?? foundModelError(error);
  if (known) return known;
  const { endpoint } = work.options;
  const answered = exchange.answered();
  if (!answered || isNetworkError(error)) return networkFailure(endpoint, error, answered);
  return partFailure(endpoint, error, exchange, work.options);
}

/** The library reports an error event at the very start of an Anthropic stream as a failed call that has the event in `data`. */
function streamErrorBody(error: unknown): JsonObject | undefined {
  if (!(error instanceof Error) || !('statusCode' in error) || typeof error.statusCode !== 'number') return undefined;
  const data = 'data' in error && isJsonObject(error.data) ? error.data : {};
  const inner = isJsonObject(data.error) ? data.error : data;
  return { code: error.statusCode, message: error.message, ...inner };
}

function foundModelError(error: unknown): ModelError | undefined {
  let current = error;
  for (let depth = 0; depth < 6 && current instanceof Error; depth += 1) {
    if (current instanceof ModelError) return current;
    current = current.cause;
  }
  return undefined;
}

function isNetworkError(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < 6 && current instanceof Error; depth += 1) {
    if (/fetch failed|terminated|socket|ECONN|other side closed/i.test(current.message)) return true;
    if ('code' in current && /^(?:E[A-Z]{3,}|UND_ERR|CERT_|ERR_)/.test(String(current.code))) return true;
    current = current.cause;
  }
  return false;
}

function oneLine(endpoint: Endpoint, error: Error): string {
  return withoutKeys(endpoint, errorText(error)).replace(/\s+/g, ' ').slice(0, 200);
}
