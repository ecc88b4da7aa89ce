// Owns one HTTP exchange with a model endpoint: its bounds, its redirects, its abort, and what counts as an answer at all.
// Knows no wire format. Invariant: every way in which the exchange can fail ends in one ModelError or in the abort reason, kept in
// `failure`; `close` leaves no open socket and no timer; nothing goes to another origin than the endpoint's.
import type { Clock } from '#base/clock.ts';
import { parseJsonObject } from '#base/json.ts';
import { ModelError } from '../model-client.ts';
import { ENDPOINT_BOUNDS, overBound, timeBounds, watchAnswer } from './endpoint-bounds.ts';
import { inBandFailure, isHtml, saidBy, statusFailure } from './failure/model-failure.ts';
import { type HttpAnswer, type HttpRequest, sendRequest } from './http-request.ts';
import { type Endpoint, type ModelTimeouts, shownUrl } from './provider-options.ts';

export interface ExchangeOptions {
  readonly endpoint: Endpoint;
  readonly model?: string;
  readonly timeouts?: ModelTimeouts;
  readonly clock: Clock;
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
  readonly close: () => void;
}

export function openExchange(options: ExchangeOptions, parent: AbortSignal): Exchange {
  const { endpoint, clock } = options;
  const times = timeBounds(endpoint, options.timeouts);
  const controller = new AbortController();
  const { promise: sent, resolve: onSent } = Promise.withResolvers<void>();
  let failure: ModelError | undefined;
  let answered = false;
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
    const answer = await sendFollowing(String(address), request).finally(onSent);
    answered = true;
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
