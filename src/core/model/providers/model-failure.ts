// Owns the translation of what an endpoint answered, and of a connection that broke, into a ModelError that a person understands, with what to
// do about it. Knows no library's error classes. Invariant: no key, header or URL password is ever inside a message.
import { type Clock, parseTime } from '#base/clock.ts';
import { errorCode, errorText, rootCause } from '#base/errors.ts';
import { isJsonObject, type JsonObject, parseJson } from '#base/json.ts';
import { redactSecrets } from '#base/secrets.ts';
import { ellipsize, oneLine } from '#base/text.ts';
import { ModelError, type ModelErrorCode, type ModelErrorOptions } from '../model-client.ts';
import { saysToolsRefused } from '../tool-mode.ts';
import { ENDPOINT_BOUNDS, type Endpoint, shownUrl } from './provider-options.ts';

/** An answer with an error status, or an error that came inside an answer. */
export interface FailedAnswer {
  readonly status: number;
  readonly headers: HeaderValues;
  readonly body: string;
  /** Asked for; undefined for listings. */
  readonly model?: string;
}

interface Reading extends FailedAnswer {
  readonly endpoint: Endpoint;
  /** What the provider says, redacted, one line; empty when it says nothing readable. */
  readonly said: string;
  readonly shown: string;
}

/** What an answer means, and what to do about it; the first that fits counts. */
interface Verdict {
  readonly fits: (reading: Reading) => boolean;
  readonly code: ModelErrorCode;
  readonly what: (reading: Reading) => string;
  readonly fix: string | ((reading: Reading) => string);
  readonly retryable?: true;
  /** What the provider says beside it is not shown. */
  readonly isMute?: true;
}

const CONTEXT_FULL =
  /context[_ ]length|context window|maximum context|context size|too many (?:input )?tokens|prompt is too long|input is too long|exceeds? the (?:model'?s? )?(?:maximum|available|context)|reduce the length|token limit/i;
const NO_MONEY =
  /insufficient_quota|exceeded your current quota|billing|credit balance|insufficient (?:credits|balance)|payment required/i;

const noMoney = { what: ({ endpoint }: Reading) => `${endpoint.provider} says that the account has no credit left` };
const LATER = 'Wait a little, or choose another model.';
const hasNoKey = ({ endpoint }: Reading) => endpoint.apiKey === undefined || endpoint.apiKey === '';

const VERDICTS: readonly Verdict[] = [
  {
    // Not followed: the key would go to an address that nobody gave it to.
    fits: ({ status }) => status >= 300 && status < 400,
    code: 'model-not-found',
    what: (reading) => `${reading.shown} ${redirection(reading).way}`,
    fix: (reading) =>
      redirection(reading).isSame
        ? 'If that is the right one, give it as the base URL; else look at what answers there, such as a proxy or a login.'
        : 'If that is the right one, give it as the base URL; nothing was sent there.',
    isMute: true,
  },
  {
    ...noMoney,
    fits: ({ said, status }) => status === 429 && NO_MONEY.test(said),
    code: 'model-rate-limited',
    fix: ({ endpoint }) => `Add credit to the account at ${endpoint.provider}, or choose another model.`,
  },
  {
    ...noMoney,
    fits: ({ said, status }) => status === 402 || NO_MONEY.test(said),
    code: 'model-auth',
    fix: ({ endpoint }) => `Add credit to the account at ${endpoint.provider}, or choose another model.`,
  },
  {
    fits: ({ status }) => [401, 403].includes(status),
    code: 'model-auth',
    what: (reading) =>
      `${reading.endpoint.provider} ${hasNoKey(reading) ? 'wants a key and got none' : 'refused the key'}`,
    fix: (reading) =>
      hasNoKey(reading)
        ? `Give a key for ${reading.endpoint.provider}.`
        : `Check that the key belongs to ${reading.endpoint.provider} and may use this model.`,
  },
  {
    fits: (reading) =>
      [404, 405].includes(reading.status) &&
      reading.model !== undefined &&
      /model/i.test(reading.said) &&
      !isHtml(reading.body),
    code: 'model-not-found',
    what: ({ endpoint, model }) => `${endpoint.provider} has no model ${model}`,
    fix: 'Choose a model that the endpoint lists.',
  },
  {
    fits: ({ status }) => [404, 405].includes(status),
    code: 'model-not-found',
    what: ({ shown }) => `${shown} is not the base URL of a model endpoint`,
    fix: ({ shown }) =>
      /\/v\d+\w*$/.test(shown)
        ? 'Check the base URL and the model name.'
        : `Check the base URL; it often ends in /v1: ${shown}/v1`,
  },
  {
    fits: ({ status }) => status === 429,
    code: 'model-rate-limited',
    what: ({ endpoint }) => `${endpoint.provider} limits how often it may be asked`,
    fix: LATER,
    retryable: true,
  },
  {
    fits: ({ status }) => [408, 409, 425].includes(status),
    code: 'model-overloaded',
    what: ({ endpoint }) => `${endpoint.provider} asks to try again`,
    fix: LATER,
    retryable: true,
  },
  {
    fits: ({ said }) => CONTEXT_FULL.test(said),
    code: 'model-context-full',
    what: ({ endpoint, model }) => `the conversation is longer than the window of ${model ?? endpoint.provider}`,
    fix: 'Compress the conversation, start a new session, or choose a model with a larger window.',
  },
  {
    fits: ({ status }) => status >= 500,
    code: 'model-overloaded',
    what: ({ endpoint, status }) =>
      `${endpoint.provider} ${status === 529 || status === 503 ? 'is overloaded' : 'failed inside'}`,
    fix: LATER,
    retryable: true,
  },
  {
    fits: ({ status }) => status === 413,
    code: 'model-bad-request',
    what: ({ endpoint }) => `the request is too large for ${endpoint.provider}`,
    fix: 'Start a new session, or let the conversation be compressed.',
  },
  {
    fits: () => true,
    code: 'model-bad-request',
    what: ({ endpoint }) => `${endpoint.provider} did not accept the request`,
    fix: ({ said }) =>
      saysToolsRefused(said) ? 'Set tool calling of this model to text.' : 'Check the model name and its settings.',
  },
];

function redirection({ headers, shown }: Reading): { readonly isSame: boolean; readonly way: string } {
  const target = URL.parse(headers.get('location') ?? '', `${shown}/`);
  const where = target === null ? '' : ellipsize(shownUrl(target.href), 300);
  const isSame = target !== null && target.origin === URL.parse(shown)?.origin;
  if (isSame) return { isSame, way: `sends its callers round on the same server, to ${where}` };
  return { isSame, way: `sends its callers to another address${where === '' ? '' : `, ${where}`}` };
}

/** The error for an answer with a status that is not 2xx. */
export function statusFailure(endpoint: Endpoint, answer: FailedAnswer, clock: Clock): ModelError {
  const { status, headers, body } = answer;
  const reading = { ...answer, endpoint, said: saidBy(endpoint, body), shown: shownUrl(endpoint.baseUrl) };
  const verdict = VERDICTS.find(({ fits }) => fits(reading));
  const { code = 'model-bad-request', what, fix = '', retryable = false, isMute } = verdict ?? {};
  const wait = retryable ? retryAfterMs(headers, body, clock.now()) : undefined;
  const said = isMute || reading.said === '' ? '.' : `: ${reading.said}`;
  return new ModelError(`${what?.(reading)} (HTTP ${status})${said}`, {
    ...{ code, retryable, status },
    fix: typeof fix === 'string' ? fix : fix(reading),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  });
}

/** The error for an error object that arrived inside an accepted answer (OpenRouter, Anthropic overloads, 200 with an error body). */
export function inBandFailure(endpoint: Endpoint, error: unknown, clock: Clock): ModelError {
  const body = isJsonObject(error) ? error : { message: String(error) };
  const said = [body.code, body.status, body.statusCode].map(Number);
  const status = said.find((one) => Number.isInteger(one) && one >= 400 && one < 600);
  const answer = { status: status ?? STATUS_OF_TYPE[String(body.type)] ?? 502, headers: new Map() };
  return statusFailure(endpoint, { ...answer, body: JSON.stringify({ error: body }) }, clock);
}

const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  overloaded_error: 529,
  api_error: 500,
  rate_limit_error: 429,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  invalid_request_error: 400,
};

export function isHtml(body: string): boolean {
  return /^\s*<(?:!doctype|html|head|body|\?xml)/i.test(body);
}

/** What the body says, for a person: the message field of JSON, the title of HTML, else the first characters; redacted. */
export function saidBy(endpoint: Endpoint, body: string): string {
  const text = isHtml(body) ? htmlTitle(body) : (jsonMessage(body) ?? body);
  return oneLine(withoutKeys(endpoint, text), 300);
}

/** `text` without the endpoint's key, its header values, anything key-shaped, and half-masked keys. */
export function withoutKeys(endpoint: Endpoint, text: string): string {
  let clean = text;
  for (const secret of [endpoint.apiKey ?? '', ...Object.values(endpoint.headers ?? {})]) {
    if (secret.length >= 4) clean = clean.replaceAll(secret, '[redacted]');
  }
  // Begun at the start of a word alone: from each letter of one anew, 64 KB of letters take a minute.
  return redactSecrets(clean).replace(/(?<![\w-])[\w-]*(?:\*{3,}[\w-]*)+/g, '[redacted]');
}

function htmlTitle(body: string): string {
  const title = /<title[^>]{0,200}>([^<]{1,200})/i.exec(body)?.[1]?.trim();
  return title ? `an HTML page "${title}"` : 'an HTML page';
}

function jsonMessage(body: string): string | undefined {
  const parsed = parseJson(body);
  if (!parsed.ok) return undefined;
  return messageOf(Array.isArray(parsed.value) ? parsed.value[0] : parsed.value, 0);
}

function messageOf(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return value;
  if (!isJsonObject(value) || depth > 3) return undefined;
  for (const key of ['error', 'message', 'detail', 'msg', 'description']) {
    const found = messageOf(value[key], depth + 1);
    if (found !== undefined && found !== '') return withCode(found, value);
  }
  return undefined;
}

function withCode(message: string, holder: JsonObject): string {
  const code = holder.code;
  return typeof code === 'string' && !message.includes(code) ? `${message} (${code})` : message;
}

/** What stands behind a connection that broke before an answer came; `{shown}`, `{provider}` and `{code}` are filled in. */
const BROKEN: readonly (ModelErrorOptions & { readonly sign: RegExp; readonly what: string })[] = [
  {
    sign: /^ECONNREFUSED$/,
    code: 'model-unreachable',
    retryable: true,
    what: 'nothing answers at {shown} (connection refused)',
    fix: 'Start the server of {provider}, or correct its base URL.',
  },
  {
    sign: /^EAI_AGAIN$/,
    code: 'model-unreachable',
    retryable: true,
    what: 'the name in {shown} cannot be found (DNS)',
    fix: 'Check the base URL and the network.',
  },
  {
    sign: /^ENOTFOUND$/,
    code: 'model-unreachable',
    what: 'the name in {shown} cannot be found (DNS)',
    fix: 'Check the base URL and the network.',
  },
  {
    sign: /^(?:CERT_|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_SSL|EPROTO)/,
    code: 'model-unreachable',
    what: 'no secure connection to {shown} ({code})',
    fix: 'Check whether the address wants http or https, and the certificate of the server.',
  },
  {
    sign: /^HPE_HEADER_OVERFLOW$/,
    code: 'model-bad-response',
    what: `{shown} sent headers of over ${ENDPOINT_BOUNDS.headerBytes} bytes`,
    fix: 'Look at the server: no model answers like this.',
  },
  {
    sign: /^ERR_PROXY/,
    code: 'model-unreachable',
    what: 'the proxy lets nothing through to {shown} ({code})',
    fix: 'Check HTTP_PROXY, HTTPS_PROXY and NO_PROXY in the environment.',
  },
  {
    sign: /^ERR_INVALID_URL$|invalid url|failed to parse url|bad port|unknown scheme|includes credentials/i,
    code: 'model-not-found',
    what: '{shown} is no usable base URL',
    fix: 'Give a base URL such as https://api.openai.com/v1.',
  },
];
const TIMED_OUT = {
  sign: /TIMEOUT|ETIMEDOUT/,
  code: 'model-timeout',
  retryable: true,
  what: '{shown} did not answer in time ({code})',
  fix: 'Check the network and the server, then try again.',
} as const;
const LOST = {
  code: 'model-unreachable',
  retryable: true,
  what: 'the connection to {shown} was lost before an answer came ({code})',
  fix: 'Check the network and the server, then try again.',
} as const;
const LOST_MIDWAY = {
  code: 'model-bad-response',
  retryable: true,
  what: 'the connection to {shown} was lost in the middle of the answer ({code})',
  fix: 'Try again; if it stays, look at the server or the network.',
} as const;

/**
 * A broken connection (refused, DNS, TLS, reset, a time-out of the platform). What was lost before the first byte of the answer is
 * `model-unreachable`, after it `model-bad-response`.
 * @param answered the headers of an answer had arrived
 */
export function networkFailure(endpoint: Endpoint, error: unknown, answered: boolean): ModelError {
  const root = rootCause(error);
  const code = errorCode(root);
  const signs = answered ? [TIMED_OUT] : [...BROKEN, TIMED_OUT];
  const known = signs.find(({ sign }) => sign.test(code ?? '') || (sign.flags === 'i' && sign.test(errorText(root))));
  const { what, fix = '', ...options } = known ?? (answered ? LOST_MIDWAY : LOST);
  const fields = { shown: shownUrl(endpoint.baseUrl), provider: endpoint.provider, code: code ?? errorText(root) };
  const filled = (text: string) =>
    text.replace(/\{(shown|provider|code)\}/g, (_, name: keyof typeof fields) => fields[name]);
  // Only plain system errors stay attached: others may carry the whole URL or request.
  const cause = /^E[A-Z_]+$/.test(code ?? '') ? { cause: root } : {};
  const { code: kind, retryable = false } = options;
  return new ModelError(withoutKeys(endpoint, filled(what)), { code: kind, retryable, fix: filled(fix), ...cause });
}

/** Names in lower case. */
export type HeaderValues = { readonly get: (name: string) => string | null | undefined };

/** What is said beyond this is as good as never: 30 days. */
const LONGEST_MS = 30 * 86_400_000;

/** Milliseconds to wait, at least 0; undefined when nothing readable was said. `now` is epoch ms. */
export function retryAfterMs(headers: HeaderValues, body: string, now: number): number | undefined {
  const said = saidMs(headers, body, now);
  return said === undefined || Number.isNaN(said) ? undefined : Math.min(LONGEST_MS, Math.max(0, said));
}

function saidMs(headers: HeaderValues, body: string, now: number): number | undefined {
  const exact = Number.parseFloat(headers.get('retry-after-ms') ?? '');
  if (Number.isFinite(exact)) return exact;
  const value = headers.get('retry-after')?.trim();
  if (value) return fromRetryAfter(value, now);
  // Google's RetryInfo travels in the body.
  const seconds = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

function fromRetryAfter(value: string, now: number): number | undefined {
  if (/^-?\d+(?:\.\d+)?$/.test(value)) return Number(value) * 1000;
  const date = parseTime(value);
  return date === undefined ? undefined : date - now;
}
