// Owns the translation of what an endpoint answered into a ModelError that a person understands, with what to do about it.
// Knows no library's error classes. Invariant: no key, header or URL password is ever inside a message.
import type { Clock } from '#base/clock.ts';
import { isJsonObject, type JsonObject, parseJson } from '#base/json.ts';
import { redactSecrets } from '#base/secrets.ts';
import { ellipsize } from '#base/text.ts';
import { ModelError, type ModelErrorCode } from '../../model-client.ts';
import { saysToolsRefused } from '../../tools-refused.ts';
import { type Endpoint, shownUrl } from '../provider-options.ts';
import { type HeaderValues, retryAfterMs } from './retry-after.ts';

/** An answer with an error status, or an error that came inside an answer. */
export interface FailedAnswer {
  readonly status: number;
  readonly headers: HeaderValues;
  readonly body: string;
  /** Asked for; undefined for listings. */
  readonly model?: string;
}

interface Reading {
  readonly endpoint: Endpoint;
  readonly answer: FailedAnswer;
  /** What the provider says, redacted, one line; empty when it says nothing readable. */
  readonly said: string;
  readonly shown: string;
}

interface Verdict {
  readonly code: ModelErrorCode;
  readonly message: string;
  readonly fix: string;
  readonly retryable?: boolean;
}

const CONTEXT_FULL =
  /context[_ ]length|context window|maximum context|context size|too many (?:input )?tokens|prompt is too long|input is too long|exceeds? the (?:model'?s? )?(?:maximum|available|context)|reduce the length|token limit/i;
const NO_MODEL = /model/i;
const NO_MONEY =
  /insufficient_quota|exceeded your current quota|billing|credit balance|insufficient (?:credits|balance)|payment required/i;

/** The error for an answer with a status that is not 2xx. */
export function statusFailure(endpoint: Endpoint, answer: FailedAnswer, clock: Clock): ModelError {
  const reading: Reading = { endpoint, answer, said: saidBy(endpoint, answer.body), shown: shownUrl(endpoint.baseUrl) };
  const verdict = judge(reading);
  const wait = verdict.retryable ? retryAfterMs(answer.headers, answer.body, clock.now()) : undefined;
  return new ModelError(verdict.message, {
    code: verdict.code,
    retryable: verdict.retryable ?? false,
    status: answer.status,
    fix: verdict.fix,
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  });
}

/** The error for an error object that arrived inside an accepted answer (OpenRouter, Anthropic overloads, 200 with an error body). */
export function inBandFailure(endpoint: Endpoint, error: unknown, clock: Clock): ModelError {
  const body = isJsonObject(error) ? error : { message: String(error) };
  const status = inBandStatus(body);
  return statusFailure(endpoint, { status, headers: new Map(), body: JSON.stringify({ error: body }) }, clock);
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

function inBandStatus(error: JsonObject): number {
  for (const value of [error.code, error.status, error.statusCode]) {
    const status = Number(value);
    if (Number.isInteger(status) && status >= 400 && status < 600) return status;
  }
  return STATUS_OF_TYPE[String(error.type)] ?? 502;
}

function judge(reading: Reading): Verdict {
  const { status } = reading.answer;
  if (status >= 300 && status < 400) return redirected(reading);
  if (NO_MONEY.test(reading.said) || status === 402) return noMoney(reading);
  if (status === 401 || status === 403) return refusedKey(reading);
  if (status === 404 || status === 405) return notFound(reading);
  if (status === 429) return busy(reading, 'model-rate-limited', 'limits how often it may be asked');
  if (status === 408 || status === 409 || status === 425) return busy(reading, 'model-overloaded', 'asks to try again');
  if (status >= 500) return overloaded(reading);
  return badRequest(reading);
}

/** Not followed: the key would go to an address that nobody gave it to. */
function redirected({ answer, shown }: Reading): Verdict {
  const target = URL.parse(answer.headers.get('location') ?? '', `${shown}/`);
  const where = target ? ellipsize(shownUrl(target.href), 300) : undefined;
  const isSame = target !== null && target.origin === URL.parse(shown)?.origin;
  const way = isSame
    ? `sends its callers round on the same server, to ${where}`
    : `sends its callers to another address`;
  return {
    code: 'model-not-found',
    message: `${shown} ${way}${where === undefined || isSame ? '' : `, ${where}`} (HTTP ${answer.status}).`,
    fix: isSame
      ? 'If that is the right one, give it as the base URL; else look at what answers there, such as a proxy or a login.'
      : 'If that is the right one, give it as the base URL; nothing was sent there.',
  };
}

function noMoney({ endpoint, answer, said }: Reading): Verdict {
  return {
    code: answer.status === 429 ? 'model-rate-limited' : 'model-auth',
    message: line(`${endpoint.provider} says that the account has no credit left`, answer.status, said),
    fix: `Add credit to the account at ${endpoint.provider}, or choose another model.`,
  };
}

function refusedKey({ endpoint, answer, said }: Reading): Verdict {
  const missing = endpoint.apiKey === undefined || endpoint.apiKey === '';
  return {
    code: 'model-auth',
    message: line(
      `${endpoint.provider} ${missing ? 'wants a key and got none' : 'refused the key'}`,
      answer.status,
      said,
    ),
    fix: missing
      ? `Give a key for ${endpoint.provider}.`
      : `Check that the key belongs to ${endpoint.provider} and may use this model.`,
  };
}

function notFound({ endpoint, answer, said, shown }: Reading): Verdict {
  const aboutModel = answer.model !== undefined && said !== '' && NO_MODEL.test(said) && !isHtml(answer.body);
  if (aboutModel) {
    return {
      code: 'model-not-found',
      message: line(`${endpoint.provider} has no model ${answer.model}`, answer.status, said),
      fix: 'Choose a model that the endpoint lists.',
    };
  }
  return {
    code: 'model-not-found',
    message: line(`${shown} is not the base URL of a model endpoint`, answer.status, said),
    fix: /\/v\d+\w*$/.test(shown)
      ? 'Check the base URL and the model name.'
      : `Check the base URL; it often ends in /v1: ${shown}/v1`,
  };
}

function busy({ endpoint, answer, said }: Reading, code: ModelErrorCode, what: string): Verdict {
  return {
    code,
    message: line(`${endpoint.provider} ${what}`, answer.status, said),
    fix: 'Wait a little, or choose another model.',
    retryable: true,
  };
}

function overloaded(reading: Reading): Verdict {
  if (CONTEXT_FULL.test(reading.said)) return contextFull(reading);
  const what = reading.answer.status === 529 || reading.answer.status === 503 ? 'is overloaded' : 'failed inside';
  return busy(reading, 'model-overloaded', what);
}

function badRequest(reading: Reading): Verdict {
  const { endpoint, answer, said } = reading;
  if (CONTEXT_FULL.test(said)) return contextFull(reading);
  if (answer.status === 413) {
    return {
      code: 'model-bad-request',
      message: line(`the request is too large for ${endpoint.provider}`, answer.status, said),
      fix: 'Start a new session, or let the conversation be compressed.',
    };
  }
  const noTools = saysToolsRefused(said);
  return {
    code: 'model-bad-request',
    message: line(`${endpoint.provider} did not accept the request`, answer.status, said),
    fix: noTools ? 'Set tool calling of this model to text.' : 'Check the model name and its settings.',
  };
}

function contextFull({ endpoint, answer, said }: Reading): Verdict {
  return {
    code: 'model-context-full',
    message: line(
      `the conversation is longer than the window of ${answer.model ?? endpoint.provider}`,
      answer.status,
      said,
    ),
    fix: 'Compress the conversation, start a new session, or choose a model with a larger window.',
  };
}

function line(what: string, status: number, said: string): string {
  return `${what} (HTTP ${status})${said === '' ? '.' : `: ${said}`}`;
}

export function isHtml(body: string): boolean {
  return /^\s*<(?:!doctype|html|head|body|\?xml)/i.test(body);
}

/** What the body says, for a person: the message field of JSON, the title of HTML, else the first characters; redacted. */
export function saidBy(endpoint: Endpoint, body: string): string {
  const text = isHtml(body) ? htmlTitle(body) : (jsonMessage(body) ?? body);
  return ellipsize(withoutKeys(endpoint, text).replace(/\s+/g, ' ').trim(), 300);
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
