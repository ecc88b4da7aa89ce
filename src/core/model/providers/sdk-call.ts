// Owns one streamed call through the provider library: exchange, reading of its parts into our model events, abort, failures, price of the answer.
// Knows neither dialect. Invariants: keeps the ModelClient contract whatever the endpoint does; exactly one `finish` comes out, as the last event;
// call ids are unique; unreadable arguments become `malformed`; of text, calls and arguments no more comes out than the bounds of an endpoint
// allow; the connection is closed on every way out.
import type { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { raceAbort, throwIfAborted } from '#base/abort.ts';
import { systemClock } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { newId } from '#base/ids.ts';
import { isJsonObject, type JsonObject, parseJson, parseJsonObject } from '#base/json.ts';
import {
  type FinishReason,
  ModelError,
  type ModelErrorCode,
  type ModelEvent,
  type ModelTraits,
  NO_USAGE,
  type Purpose,
  type Usage,
} from '../model-client.ts';
import { bareModelName, PRICE_TABLE, type Price } from '../model-table.ts';
import { type Exchange, openExchange } from './http-request.ts';
import { inBandFailure, networkFailure, withoutKeys } from './model-failure.ts';
import {
  ENDPOINT_BOUNDS,
  type Endpoint,
  isTooDeep,
  overBound,
  type ProviderClientOptions,
} from './provider-options.ts';

export interface SdkCall {
  readonly id: string;
  readonly traits: ModelTraits;
  readonly options: ProviderClientOptions;
  /** Why it is made. */
  readonly purpose: Purpose;
  /** Sends the request through the exchange and gives the library's stream of parts; loads the library at first use. */
  readonly open: (exchange: Exchange) => Promise<SdkStream>;
  readonly replay: EventReaderOptions['replay'];
  /** A finish without any reason on the wire means that the stream was cut. */
  readonly cutWithoutReason: boolean;
}

export async function* streamSdkCall(work: SdkCall, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  throwIfAborted(signal);
  const { endpoint, model, timeouts, pay, clock = systemClock } = work.options;
  const more = {
    ...(timeouts ? { timeouts } : {}),
    ...(pay ? { pay: (required: string) => pay(required, work.purpose) } : {}),
  };
  const exchange = openExchange({ endpoint, model, clock, expect: 'stream', ...more }, signal);
  const reader = createEventReader({
    replay: work.replay,
    failure: (error) => partFailure(endpoint, error, exchange, work.options),
    over: (what) => overBound(endpoint, what),
  });
  try {
    yield* readStream(work, exchange, reader);
    yield finishEvent(work, reader);
  } catch (error) {
    const failed = translate(error, { work, exchange, signal });
    throw exchange.paid() && failed instanceof ModelError ? onlyOnce(failed) : failed;
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

function onlyOnce({ message, code, status, fix }: ModelError): ModelError {
  const more = { ...(status === undefined ? {} : { status }), ...(fix === undefined ? {} : { fix }) };
  return new ModelError(message, { code: code as ModelErrorCode, retryable: false, ...more });
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

// The price of one call. Knows no provider and no purpose; the ledger adds up elsewhere.
// Invariant: an unknown price is null, never zero; local models and the reflex cost nothing; more tokens never cost less.

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

// The translation of the library's stream parts into our model events.

export interface ReadFinish {
  readonly reason: FinishReason;
  readonly usage: Usage;
  /** The endpoint said how many tokens it used. */
  readonly counted: boolean;
  /** What the endpoint itself says the call cost, US dollars. */
  readonly billed?: number;
}

export interface EventReader {
  /** The events of one part; throws what an error part carries. */
  read(part: SdkStreamPart): readonly ModelEvent[];
  /** Set when the library said that the stream is complete. */
  readonly finish: ReadFinish | undefined;
}

export type ReasoningPiece = Extract<SdkStreamPart, { type: 'reasoning-start' | 'reasoning-delta' | 'reasoning-end' }>;

export interface EventReaderOptions {
  /** Replay data that comes with this piece of reasoning, or undefined; data closes the reasoning part. */
  readonly replay: (part: ReasoningPiece) => JsonObject | undefined;
  readonly failure: (error: unknown) => ModelError;
  /** The error for a bound that was passed, in words. */
  readonly over: (what: string) => ModelError;
}

function createEventReader(options: EventReaderOptions): EventReader {
  const seen = new Set<string>();
  const watch = watchParts(options);
  let finish: ReadFinish | undefined;
  const read = (part: SdkStreamPart): readonly ModelEvent[] => {
    watch(part);
    switch (part.type) {
      case 'text-delta':
        return part.delta === '' ? [] : [{ type: 'text-delta', text: part.delta }];
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return reasoningEvents(part.type === 'reasoning-delta' ? part.delta : '', options.replay(part));
      case 'tool-call': {
        const callId = uniqueId(part.toolCallId, seen);
        return [...signatureEvents(part.providerMetadata, callId), callEvent(callId, part.toolName, part.input)];
      }
      case 'error':
        throw options.failure(part.error);
      case 'finish':
        finish = readFinish(part, seen.size > 0);
        return [];
      default:
        return [];
    }
  };
  return {
    read,
    get finish() {
      return finish;
    },
  };
}

/** Throws when what has come of text, or of the arguments of a call, or of calls is too much to go on. */
function watchParts({ over }: EventReaderOptions): (part: SdkStreamPart) => void {
  const { textChars, argumentChars, calls, depth } = ENDPOINT_BOUNDS;
  const sizes = new Map<string, number>();
  let text = 0;
  const addArguments = (id: string, length: number) => {
    sizes.set(id, (sizes.get(id) ?? 0) + length);
    if (sizes.size > calls) throw over(`over ${calls} calls of tools in one answer`);
    if ((sizes.get(id) ?? 0) > argumentChars)
      throw over(`arguments of over ${argumentChars} characters for one call of a tool`);
  };
  const addText = (length: number) => {
    text += length;
    if (text > textChars) throw over(`a text of over ${textChars} characters`);
  };
  return (part) => {
    switch (part.type) {
      case 'text-delta':
      case 'reasoning-delta':
        return addText(part.delta.length);
      case 'tool-input-start':
        return addArguments(part.id, part.toolName.length);
      case 'tool-input-delta':
        return addArguments(part.id, part.delta.length);
      case 'tool-call':
        // Its pieces were counted as they came.
        addArguments(part.toolCallId, Math.max(0, part.input.length - (sizes.get(part.toolCallId) ?? 0)));
        if (isTooDeep(part.input)) throw over(`arguments of over ${depth} lists or objects inside each other`);
    }
  };
}

function reasoningEvents(text: string, replay: JsonObject | undefined): readonly ModelEvent[] {
  if (text === '' && replay === undefined) return [];
  return [{ type: 'reasoning-delta', text, ...(replay === undefined ? {} : { replay }) }];
}

/** Gemini's signature of the thought behind a call is kept as an empty reasoning part that names the call. */
function signatureEvents(metadata: unknown, callId: string): readonly ModelEvent[] {
  if (!isJsonObject(metadata)) return [];
  for (const value of Object.values(metadata)) {
    const signature = isJsonObject(value) ? value.thoughtSignature : undefined;
    if (typeof signature === 'string')
      return [{ type: 'reasoning-delta', text: '', replay: { callId, thoughtSignature: signature } }];
  }
  return [];
}

function uniqueId(wanted: string, seen: Set<string>): string {
  const id = wanted === '' || seen.has(wanted) ? newId('call') : wanted;
  seen.add(id);
  return id;
}

function callEvent(callId: string, name: string, input: string): ModelEvent {
  const parsed = readArguments(input);
  if (parsed) return { type: 'tool-call', callId, name, arguments: parsed };
  return { type: 'tool-call', callId, name, arguments: {}, malformed: input };
}

/** The arguments as an object: no text means none, and JSON inside a JSON string is taken out (some servers encode twice). */
function readArguments(input: string): JsonObject | undefined {
  if (input.trim() === '') return {};
  const parsed = parseJson(input);
  if (!parsed.ok) return undefined;
  if (isJsonObject(parsed.value)) return parsed.value;
  if (parsed.value === null) return {};
  const inner = typeof parsed.value === 'string' ? parseJsonObject(parsed.value) : undefined;
  return inner?.ok ? inner.value : undefined;
}

function readFinish(part: SdkFinish, called: boolean): ReadFinish {
  const raw = part.usage.raw;
  const billed = raw?.cost;
  return {
    reason: finishReason(part.finishReason.unified, called),
    usage: readUsage(part.usage),
    counted: part.usage.inputTokens.total !== undefined && raw !== undefined,
    ...(typeof billed === 'number' ? { billed } : {}),
  };
}

function finishReason(unified: string, called: boolean): FinishReason {
  switch (unified) {
    case 'stop':
    case 'tool-calls':
      return called ? 'tool-calls' : 'stop';
    case 'length':
      return 'length';
    case 'content-filter':
      return 'refusal';
    default:
      return called ? 'tool-calls' : 'other';
  }
}

function readUsage(usage: SdkFinish['usage']): Usage {
  const { inputTokens, outputTokens, raw } = usage;
  // DeepSeek and Moonshot say it beside the place where OpenAI does.
  const elsewhere = [raw?.prompt_cache_hit_tokens, raw?.cached_tokens].find((value) => typeof value === 'number');
  return {
    ...NO_USAGE,
    inputTokens: inputTokens.total ?? 0,
    outputTokens: outputTokens.total ?? 0,
    cachedTokens: inputTokens.cacheRead || (typeof elsewhere === 'number' ? elsewhere : 0),
    cacheWriteTokens: inputTokens.cacheWrite ?? 0,
    reasoningTokens: outputTokens.reasoning ?? 0,
  };
}

export type SdkModel = ReturnType<ReturnType<typeof createOpenAICompatible>['chatModel']>;
export type SdkCallOptions = Parameters<SdkModel['doStream']>[0];
export type SdkPrompt = SdkCallOptions['prompt'];
export type SdkMessage = SdkPrompt[number];
export type SdkAssistantPart = Extract<SdkMessage, { role: 'assistant' }>['content'][number];
export type SdkTools = NonNullable<SdkCallOptions['tools']>;
export type SdkStream = Awaited<ReturnType<SdkModel['doStream']>>['stream'];
type SdkStreamPart = SdkStream extends ReadableStream<infer Part> ? Part : never;
type SdkFinish = Extract<SdkStreamPart, { type: 'finish' }>;
