// Owns one HTTP exchange with a model endpoint: the request over node:http and node:https (connections that are kept, proxies, decompression),
// its bounds, its redirects, its abort, and what counts as an answer at all. In place of `fetch`, whose library costs a start a third of the
// time until the request leaves. Knows no wire format. Invariants: every way in which the exchange can fail ends in one ModelError or in the
// abort reason, kept in `failure`; a request goes to exactly the address that was given, or on within its origin, and is sent again only with the
// payment that a 402 asked for;
// `close` leaves no open socket and no timer.
import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { raceAbort } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { parseJsonObject } from '#base/json.ts';
import { ModelError } from '../model-client.ts';
import { type HeaderValues, inBandFailure, isHtml, networkFailure, saidBy, statusFailure } from './model-failure.ts';
import {
  ENDPOINT_BOUNDS,
  type Endpoint,
  type ModelTimeouts,
  overBound,
  type Proxies,
  shownUrl,
  timeBounds,
  watchAnswer,
} from './provider-options.ts';

export interface ExchangeOptions {
  readonly endpoint: Endpoint;
  readonly model?: string;
  readonly timeouts?: ModelTimeouts;
  readonly clock: Clock;
  /** What a 402 asks for, to what pays it; rejects when nobody pays. */
  readonly pay?: (required: string) => Promise<string>;
  /** `stream` refuses an answer that is no event stream; `json` refuses one that is no JSON. */
  readonly expect: 'stream' | 'json';
}

export interface Exchange {
  /** As a `fetch` that knows strings for addresses and bodies, and refuses every answer but a good one. */
  readonly fetch: (address: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /** The request has left, or never will. */
  readonly sent: Promise<void>;
  /** Aborts with the caller's signal, with a time-out, and with `close`. */
  readonly signal: AbortSignal;
  /** The time-out or refusal that ended the exchange. */
  readonly failure: () => ModelError | undefined;
  readonly answered: () => boolean;
  /** What is paid is not asked for, and paid, once more. */
  readonly paid: () => boolean;
  readonly close: () => void;
}

export function openExchange(options: ExchangeOptions, parent: AbortSignal): Exchange {
  const { endpoint, clock } = options;
  const times = timeBounds(endpoint, options.timeouts);
  const controller = new AbortController();
  const { promise: sent, resolve: onSent } = Promise.withResolvers<void>();
  let failure: ModelError | undefined;
  let answered = false;
  let hasPaid = false;
  let cancel: () => void = () => undefined;
  let cancelTotal: () => void = () => undefined;
  const end = (error: ModelError) => {
    failure ??= error;
    controller.abort(failure);
  };
  const onParent = () => controller.abort(parent.reason);
  const watch = (ms: number, message: string) => {
    cancel();
    cancel = clock.after(ms, () => end(timeout(message)));
  };
  const shown = shownUrl(endpoint.baseUrl);
  const idle = () =>
    watch(times.idleMs, `${endpoint.provider} sent nothing for ${seconds(times.idleMs)} in the middle of its answer`);
  const startTotal = () =>
    clock.after(times.totalMs, () =>
      end(timeout(`the answer of ${endpoint.provider} at ${shown} was not whole after ${seconds(times.totalMs)}`)),
    );
  if (parent.aborted) onParent();
  else parent.addEventListener('abort', onParent, { once: true });

  const guarded = async (address: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    watch(times.connectMs, `${shown} did not answer within ${seconds(times.connectMs)}`);
    const bytes = watchAnswer(options.expect);
    const onBytes = (chunk: Uint8Array) => {
      idle();
      const over = bytes.take(chunk);
      if (over !== undefined) end(overBound(endpoint, over));
    };
    const request = { ...plainRequest(init), ...waysOf(endpoint), signal: controller.signal, onSent, onBytes };
    const first = await sendFollowing(String(address), request).finally(onSent);
    answered = true;
    const payment = await paymentFor(first, options).catch((error: ModelError) => {
      failure ??= error;
      throw failure;
    });
    hasPaid = payment !== undefined;
    const answer = payment === undefined ? first : await sendFollowing(String(address), withPayment(request, payment));
    cancelTotal = startTotal();
    idle();
    const problem = await problemOf(answer, options);
    if (!problem) return answer as Response;
    failure ??= problem;
    throw failure;
  };
  return {
    fetch: guarded,
    sent,
    signal: controller.signal,
    failure: () => failure,
    answered: () => answered,
    paid: () => hasPaid,
    close: () => {
      cancel();
      cancelTotal();
      parent.removeEventListener('abort', onParent);
      controller.abort(new DOMException('the exchange is over', 'AbortError'));
    },
  };
}

function waysOf({ proxies }: Endpoint): Pick<HttpRequest, 'proxies' | 'headerBytes' | 'preliminary'> {
  const { headerBytes, preliminary } = ENDPOINT_BOUNDS;
  return { ...(proxies ? { proxies } : {}), headerBytes, preliminary };
}

/** A redirect within the origin is followed as it was asked; one that leads elsewhere is left as the answer that it is: the key stays here. */
async function sendFollowing(address: string, request: HttpRequest): Promise<HttpAnswer> {
  let url = address;
  for (let followed = 0; ; followed += 1) {
    const answer = await sendRequest(url, request);
    const keepsMethod = request.method === 'GET' || answer.status === 307 || answer.status === 308;
    const next =
      answer.status >= 300 && answer.status < 400 ? URL.parse(answer.headers.get('location') ?? '', url) : null;
    if (!next || !keepsMethod || next.origin !== new URL(url).origin || followed >= ENDPOINT_BOUNDS.redirects)
      return answer;
    await answer.body.cancel();
    url = next.href;
  }
}

function plainRequest({
  method = 'GET',
  headers = {},
  body,
}: RequestInit): Pick<HttpRequest, 'method' | 'headers' | 'body'> {
  const pairs = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  const named = Object.fromEntries(
    pairs.flatMap(([name, value]) => (name && value !== undefined ? [[name, String(value)]] : [])),
  );
  return { method, headers: named, ...(typeof body === 'string' ? { body } : {}) };
}

/** Undefined: it asks for none, or nobody is there to pay. Throws ModelError. */
async function paymentFor(answer: HttpAnswer, { pay, endpoint }: ExchangeOptions): Promise<string | undefined> {
  const required = answer.status === 402 ? answer.headers.get('payment-required') : undefined;
  if (!pay || !required) return undefined;
  await answer.body.cancel();
  return pay(required).catch((error: unknown) => Promise.reject(unpaid(endpoint, error)));
}

function withPayment(request: HttpRequest, payment: string): HttpRequest {
  return { ...request, headers: { ...request.headers, 'PAYMENT-SIGNATURE': payment } };
}

function unpaid({ provider }: Endpoint, cause: unknown): ModelError {
  return new ModelError(`nobody pays for the call of ${provider}: ${errorText(cause)}`, {
    ...{ code: 'model-auth', status: 402, cause },
    fix: cause instanceof TalariaError && cause.fix ? cause.fix : 'Ask another model.',
  });
}

function timeout(message: string): ModelError {
  return new ModelError(message, {
    code: 'model-timeout',
    retryable: true,
    fix: 'Check the server and the network, then try again.',
  });
}

function seconds(ms: number): string {
  return ms >= 1000 ? `${Math.round(ms / 1000)} s` : `${ms} ms`;
}

async function problemOf(response: HttpAnswer, options: ExchangeOptions): Promise<ModelError | undefined> {
  const { endpoint, clock, model } = options;
  if (!response.ok) {
    const body = await readSome(response);
    return statusFailure(
      endpoint,
      { status: response.status, headers: response.headers, body, ...(model ? { model } : {}) },
      clock,
    );
  }
  const type = response.headers.get('content-type') ?? '';
  if (options.expect === 'json' || type === '' || /event-stream|octet-stream|text\/plain/i.test(type)) return undefined;
  return wrongBody(endpoint, await readSome(response), options);
}

/** A 200 that is no event stream: an error in disguise, a web page, or a server that cannot stream. */
function wrongBody(endpoint: Endpoint, body: string, { clock }: ExchangeOptions): ModelError {
  const parsed = parseJsonObject(body);
  const disguised = parsed.ok ? (parsed.value.error ?? parsed.value.detail) : undefined;
  if (disguised !== undefined) return inBandFailure(endpoint, disguised, clock);
  const what = isHtml(body) ? saidBy(endpoint, body) : 'something that is no event stream';
  return new ModelError(`${shownUrl(endpoint.baseUrl)} answered with ${what} instead of a model's answer`, {
    code: 'model-bad-response',
    fix: 'Check the base URL: it must be the API of the provider (often ending in /v1), not its web page.',
  });
}

/** The start of a body that is only to be quoted. */
async function readSome(response: HttpAnswer): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= ENDPOINT_BOUNDS.errorBytes) break;
  }
  return text.slice(0, ENDPOINT_BOUNDS.errorBytes);
}

/** One request that is answered with JSON, as text. Throws ModelError, or the signal's reason. `path`: behind the base URL. */
export async function askJson(
  options: Omit<ExchangeOptions, 'expect'>,
  path: string,
  body: object | undefined,
  parent: AbortSignal,
): Promise<string> {
  const { endpoint } = options;
  const exchange = openExchange({ ...options, expect: 'json' }, parent);
  try {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const headers = body === undefined ? { accept: 'application/json' } : { 'content-type': 'application/json' };
    const address = `${endpoint.baseUrl.replace(/\/+$/, '')}${path}`;
    const answer = await exchange.fetch(address, { ...sent, headers: { ...headers, ...authOf(endpoint) } });
    return await raceAbort(answer.text(), exchange.signal);
  } catch (error) {
    if (parent.aborted) throw parent.reason;
    if (error instanceof ModelError) throw error;
    throw exchange.failure() ?? networkFailure(endpoint, error, exchange.answered());
  } finally {
    exchange.close();
  }
}

/** The key as the wire format takes it, who we are, and the endpoint's own headers. */
export function authOf({ kind, apiKey, headers }: Endpoint): Readonly<Record<string, string>> {
  const key = kind === 'anthropic' ? { 'x-api-key': apiKey } : { authorization: `Bearer ${apiKey}` };
  const version = kind === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {};
  return { 'user-agent': 'talaria', ...version, ...(apiKey ? (key as Record<string, string>) : {}), ...headers };
}

// The request itself. Knows no model and no time-out.

export interface HttpRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly proxies?: Proxies;
  readonly headerBytes: number;
  /** Answers (1xx) that may come before the answer. */
  readonly preliminary: number;
  readonly signal: AbortSignal;
  /** The last byte of the request has left. */
  readonly onSent: () => void;
  /** Something of the answer's body came, unpacked; nobody reads it before this returns, and an abort in it keeps it from being read. */
  readonly onBytes: (bytes: Uint8Array) => void;
}

/** What readers use of a `Response`; making one would load the library of `fetch`. */
export interface HttpAnswer {
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  /** Names in lower case. */
  readonly headers: HeaderValues & Iterable<[string, string]>;
  readonly body: ReadableStream<Uint8Array>;
  text(): Promise<string>;
}

/** Shorter than servers keep a connection, when they do not say how long. */
const KEEP_MS = 4_000;
const agents = new Map<string, Agent>();

/** Resolves when the headers are there. Rejects with what the platform says, or with the signal's reason. */
export async function sendRequest(address: string, request: HttpRequest): Promise<HttpAnswer> {
  const url = usableUrl(address);
  request.signal.throwIfAborted();
  return answerOf(await exchange(url, request), request);
}

/** Ports of other protocols, which a request may not be played to (the list of the fetch standard). */
const BAD_PORTS: ReadonlySet<string> = new Set(
  (
    '1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 139 143 ' +
    '161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 ' +
    '4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080'
  ).split(' '),
);

/** Throws what `fetch` would: such an address is a mistake in the configuration, and says so before anything is sent. */
function usableUrl(address: string): URL {
  const url = new URL(address);
  if (!/^https?:$/.test(url.protocol)) throw new TypeError(`unknown scheme ${url.protocol}`);
  if (url.username !== '' || url.password !== '') throw new TypeError('the address includes credentials');
  if (BAD_PORTS.has(url.port)) throw new TypeError('bad port');
  return url;
}

function exchange(url: URL, asked: HttpRequest): Promise<IncomingMessage> {
  const { method, headers, body, proxies, signal, onSent } = asked;
  return new Promise((resolve, reject) => {
    const { request } = platform(url);
    const sent: ClientRequest = request(url, {
      method,
      headers: { accept: '*/*', 'user-agent': 'talaria', ...headers },
      agent: agentFor(url, proxies),
      maxHeaderSize: asked.headerBytes,
    });
    const stop = () => sent.destroy(reasonOf(signal));
    signal.addEventListener('abort', stop, { once: true });
    sent.once('finish', onSent);
    sent.once('response', resolve);
    let preliminary = 0;
    sent.on('information', () => {
      preliminary += 1;
      if (preliminary > asked.preliminary) sent.destroy(new Error(`over ${asked.preliminary} preliminary answers`));
    });
    // Nor is it sent again when a kept connection turns out closed: what the server read of it, nobody here can know.
    sent.on('error', reject);
    sent.once('close', () => {
      signal.removeEventListener('abort', stop);
      reject(new Error('the socket was closed before an answer came'));
    });
    sent.end(body);
  });
}

/** Not imported: the import of `node:http` reads every name it has, and one of them loads the library of `fetch`. */
function platform({ protocol }: URL): typeof import('node:http') | typeof import('node:https') {
  return protocol === 'https:' ? process.getBuiltinModule('node:https') : process.getBuiltinModule('node:http');
}

function agentFor(url: URL, proxies: Proxies = {}): Agent {
  const proxyEnv = isThisMachine(url) ? {} : proxies;
  const key = JSON.stringify([url.protocol, proxyEnv]);
  const known = agents.get(key);
  if (known) return known;
  const { Agent: Made } = platform(url);
  const made = new Made({ keepAlive: true, timeout: KEEP_MS, proxyEnv });
  agents.set(key, made);
  return made;
}

function isThisMachine({ hostname }: URL): boolean {
  return /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new DOMException('aborted', 'AbortError');
}

function answerOf(message: IncomingMessage, request: HttpRequest): HttpAnswer {
  const { statusCode: status = 0, statusMessage: statusText = '' } = message;
  const headers = new Map(Object.entries(message.headers).map(([name, value]) => [name, String(value)]));
  const body = bodyOf(message, request);
  return { ok: status >= 200 && status < 300, status, statusText, headers, body, text: () => textOf(body) };
}

/** As it comes, decompressed; what nobody takes is not read from the socket either. */
function bodyOf(message: IncomingMessage, { signal, onBytes }: HttpRequest): ReadableStream<Uint8Array> {
  const source = decompressed(message);
  // What is under way when nobody reads any more still comes, and a closed controller throws at it.
  let isOpen = true;
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        source.on('data', (chunk: Buffer) => {
          if (!isOpen) return;
          onBytes(chunk);
          if (signal.aborted) return;
          controller.enqueue(new Uint8Array(chunk));
          if ((controller.desiredSize ?? 0) <= 0) source.pause();
        });
        source.once('end', () => {
          if (isOpen) controller.close();
          isOpen = false;
        });
        source.on('error', (cause) => {
          if (isOpen) controller.error(signal.aborted ? reasonOf(signal) : new TypeError('terminated', { cause }));
          isOpen = false;
        });
        source.pause();
      },
      pull: () => {
        source.resume();
      },
      cancel: () => {
        isOpen = false;
        source.destroy();
        message.destroy();
      },
    },
    { highWaterMark: 4 },
  );
}

function decompressed(message: IncomingMessage): Readable {
  const encoding = message.headers['content-encoding']?.trim().toLowerCase() ?? '';
  const decoder = /^(?:x-)?gzip$|^deflate$|^br$|^zstd$/.test(encoding) ? decoderFor(encoding) : undefined;
  if (!decoder) return message;
  message.on('error', (error) => decoder.destroy(error));
  decoder.once('close', () => message.destroy());
  return message.pipe(decoder);
}

/** Each gives what it can at once, and takes a body that ends without the last bytes of its format. */
function decoderFor(encoding: string): ReturnType<typeof import('node:zlib').createUnzip> {
  const { constants, createBrotliDecompress, createUnzip, createZstdDecompress } =
    process.getBuiltinModule('node:zlib');
  if (encoding === 'br') return createBrotliDecompress();
  if (encoding === 'zstd') return createZstdDecompress();
  return createUnzip({ flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH });
}

async function textOf(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}
