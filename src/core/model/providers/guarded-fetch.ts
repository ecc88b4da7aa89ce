// Owns one HTTP exchange with a model endpoint: its time-outs, its abort, and what counts as an answer at all.
// Knows no wire format. Invariant: every way in which the exchange can fail ends in one ModelError or in the abort reason,
// kept in `failure`, and `close` leaves no open socket and no timer.
import type { Clock } from '#base/clock.ts';
import { parseJsonObject } from '#base/json.ts';
import { ModelError } from '../model-client.ts';
import { inBandFailure, isHtml, saidBy, statusFailure } from './failure/model-failure.ts';
import { type HttpAnswer, type HttpRequest, sendRequest } from './http-request.ts';
import { type Endpoint, isLocalAddress, type ModelTimeouts, shownUrl } from './provider-options.ts';

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

const BODY_LIMIT = 65_536;

export function openExchange(options: ExchangeOptions, parent: AbortSignal): Exchange {
  const { endpoint, clock } = options;
  const limits = timeLimits(endpoint, options.timeouts);
  const controller = new AbortController();
  const { promise: sent, resolve: onSent } = Promise.withResolvers<void>();
  let failure: ModelError | undefined;
  let answered = false;
  let cancel: () => void = () => undefined;
  const onParent = () => controller.abort(parent.reason);
  const watch = (ms: number, message: string) => {
    cancel();
    cancel = clock.after(ms, () => {
      failure = timeout(message);
      controller.abort(failure);
    });
  };
  const idle = () =>
    watch(limits.idleMs, `${endpoint.provider} sent nothing for ${seconds(limits.idleMs)} in the middle of its answer`);
  const refuse = (error: ModelError): never => {
    failure = error;
    throw error;
  };
  if (parent.aborted) onParent();
  else parent.addEventListener('abort', onParent, { once: true });

  const guarded = async (address: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    watch(limits.connectMs, `${shownUrl(endpoint.baseUrl)} did not answer within ${seconds(limits.connectMs)}`);
    const { proxies } = endpoint;
    const ways = { ...(proxies ? { proxies } : {}), signal: controller.signal, onSent, onBytes: idle };
    const answer = await sendRequest(String(address), { ...plainRequest(init), ...ways }).finally(onSent);
    answered = true;
    idle();
    const problem = await problemOf(answer, options);
    if (problem) return refuse(problem);
    return answer as Response;
  };
  return {
    fetch: guarded,
    sent,
    signal: controller.signal,
    failure: () => failure,
    answered: () => answered,
    close: () => {
      cancel();
      parent.removeEventListener('abort', onParent);
      controller.abort(new DOMException('the exchange is over', 'AbortError'));
    },
  };
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

function timeLimits(endpoint: Endpoint, timeouts: ModelTimeouts = {}): Required<ModelTimeouts> {
  const local = isLocalAddress(endpoint.baseUrl);
  return {
    connectMs: timeouts.connectMs ?? (local ? 280_000 : 60_000),
    idleMs: timeouts.idleMs ?? (local ? 280_000 : 120_000),
  };
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

/** At most 64 K characters of the body. */
async function readSome(response: HttpAnswer): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= BODY_LIMIT) break;
  }
  return text.slice(0, BODY_LIMIT);
}
