// Owns the seam between the Matrix backend and the wire, and its implementation over fetch (R4.67): one request of the client-server API with its
// time limit, its retries, what an answer, a refusal and a broken connection mean. Knows no endpoint. Invariants: the token goes to the
// homeserver's origin alone and stands in no error; never more than the bound is held; no segment leads anywhere but below the path of the API;
// what may have taken effect is made again only when it is repeatable; after the call no timer and no open request is left.
import { deadline, throwIfAborted } from '#base/abort.ts';
import { type Clock, parseTime } from '#base/clock.ts';
import { errorCode, errorText, rootCause } from '#base/errors.ts';
import { jitter } from '#base/ids.ts';
import { isJsonObject, type JsonObject, parseJson, parseJsonObject } from '#base/json.ts';
import { ellipsize } from '#base/text.ts';
import { PeerError, type PeerErrorCode } from '../peer.ts';
import type { HiveAccount } from '../settings.ts';
import { textAt } from './events.ts';

/**
 * Reads at most so many bytes. Throws what the stream throws, and `peers-bad-response` for more, unless `isCut`: then the rest is left out.
 * @param server origin of the homeserver. @param onBytes called with every piece
 */
async function readBody(
  response: Response,
  server: string,
  { maxBytes, isCut = false }: { readonly maxBytes: number; readonly isCut?: boolean },
  onBytes?: () => void,
): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    onBytes?.();
    size += piece.length;
    if (size <= maxBytes) pieces.push(piece);
    else if (isCut) break;
    else
      throw new PeerError(`${server} answered with more than ${Math.floor(maxBytes / 1_048_576)} MiB`, {
        code: 'peers-bad-response',
        fix: 'Use an account of its own for the agent, which is in fewer rooms.',
      });
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** Parsed data take many times the bytes of their text: a sync of 10,000 rooms has about a million values. */
const MAX_VALUES = 4_000_000;
/** As short an answer cannot hold too many. */
const MAX_UNCOUNTED = 2 * 1_048_576;

/** Throws `peers-bad-response` for too many values, a web page, broken JSON and everything that is neither an object nor a list. */
export function readAnswer(body: string, server: string): JsonObject {
  if (body.length > MAX_UNCOUNTED && countValues(body) > MAX_VALUES)
    throw new PeerError(`${server} answered with more than can be taken in`, {
      code: 'peers-bad-response',
      fix: 'Check MATRIX_HOMESERVER: no homeserver answers like this.',
    });
  const parsed = parseJson(body);
  if (parsed.ok && isJsonObject(parsed.value)) return parsed.value;
  if (parsed.ok && Array.isArray(parsed.value)) return { list: parsed.value };
  const what = /^\s*</.test(body) ? 'a web page' : body === '' ? 'nothing' : 'something that is no JSON object';
  throw new PeerError(`${server} answered with ${what}`, {
    code: 'peers-bad-response',
    fix: 'Check MATRIX_HOMESERVER: it must be the address of a Matrix homeserver, and no proxy may stand in for it.',
  });
}

/** Objects, lists and what is in them, from their signs outside of texts; stops where it is too many. */
function countValues(json: string): number {
  let count = 0;
  for (let at = 0; at < json.length && count <= MAX_VALUES; at += 1) {
    const sign = json[at];
    if (sign === '"') at = endOfText(json, at);
    else if (sign === ',' || sign === '{' || sign === '[') count += 1;
  }
  return count;
}

/** Where the text that begins there ends; the end of all when it does not. */
function endOfText(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let slashes = 0;
    while (json[end - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return json.length;
}

/** @param server origin of the homeserver */
function wireFailure(error: unknown, server: string): PeerError {
  const root = rootCause(error);
  const code = errorCode(root) ?? '';
  // Only plain system errors stay attached: others may carry the whole request.
  const cause = /^E[A-Z_]+$/.test(code) ? { cause: root } : {};
  if (/TIMEOUT|ETIMEDOUT/.test(code)) return timeFailure(server);
  const [message, retryable, fix] = reasonOf(code, server, errorText(root));
  return new PeerError(message, { code: 'peers-unreachable', retryable, fix, ...cause });
}

function timeFailure(server: string): PeerError {
  return new PeerError(`${server} did not answer in time`, {
    code: 'peers-timeout',
    retryable: true,
    fix: 'Check the server and the network, then try again.',
  });
}

function reasonOf(
  code: string,
  server: string,
  text: string,
): readonly [message: string, retryable: boolean, fix: string] {
  if (code === 'ECONNREFUSED') {
    const fix = 'Start the server, or correct MATRIX_HOMESERVER.';
    return [`nothing answers at ${server} (connection refused)`, false, fix];
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return [`the name in ${server} cannot be found (DNS)`, false, 'Check MATRIX_HOMESERVER and the network.'];
  if (/^(?:CERT_|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_SSL|EPROTO)/.test(code)) {
    const fix = 'Check whether the address wants http or https, and the certificate of the server.';
    return [`no secure connection to ${server} (${code})`, false, fix];
  }
  if (/bad port|unknown scheme|invalid url/i.test(text))
    return [`${server} is no usable address`, false, 'Correct MATRIX_HOMESERVER.'];
  const why = code === '' ? 'connection lost' : code;
  return [`the connection to ${server} broke (${why})`, true, 'Check the network and the server, then try again.'];
}

/** Nothing came of it: the server understood, and said no. */
export function wasRefused(error: unknown): boolean {
  if (!(error instanceof PeerError) || error.code === 'peers-bad-response') return false;
  return error.status !== undefined && error.status < 500;
}

export interface MatrixCall {
  readonly method: 'GET' | 'PUT' | 'POST';
  /** Segments after `/_matrix/client/`, each encoded by the implementation: `['v3', 'join', roomId]`. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  /** A POST or PUT without one sends `{}`. */
  readonly body?: JsonObject;
  /** May be sent again when it is not known whether it arrived. Default: true for GET and PUT, false for POST. */
  readonly repeatable?: boolean;
  /** Milliseconds without a byte after which it is given up; default 10,000. */
  readonly idleMs?: number;
  /** Bytes of the answer that are read before it is refused; default 16 MiB. */
  readonly maxBytes?: number;
}

/**
 * Throws PeerError for everything that server and wire do; an answer that is neither a JSON object nor a list is `peers-bad-response`.
 * A list comes as `{list}`.
 */
export type MatrixHttp = (call: MatrixCall, signal: AbortSignal) => Promise<JsonObject>;

/** Checks the address once. Throws `peers-not-configured`. */
function readHomeserver(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isUsable = url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (isUsable && url.search === '' && url.hash === '') return url;
  throw new PeerError('MATRIX_HOMESERVER is no address of a server', {
    code: 'peers-not-configured',
    fix: 'Set MATRIX_HOMESERVER to an address such as https://matrix.example.org.',
  });
}

function requestUrl(homeserver: URL, { path, query = {} }: Pick<MatrixCall, 'path' | 'query'>): URL {
  if (path.some((segment) => /^\.{0,2}$/.test(segment)))
    throw new PeerError('an id that cannot stand in an address', {
      code: 'peers-bad-response',
      fix: 'Look at the rooms of the account with another client.',
    });
  const base = homeserver.href.replace(/\/+$/, '');
  const url = new URL(`${base}/_matrix/client/${path.map(encodeURIComponent).join('/')}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

const ATTEMPTS = 3;
const FIRST_WAIT_MS = 150;
/** Longer than this nobody sits through; the caller hears how long. */
const LONGEST_WAIT_MS = 2_000;

/** Milliseconds to wait before attempt `made + 1`; undefined: give up. */
function retryWait(error: unknown, made: number, { method, repeatable }: MatrixCall): number | undefined {
  if (!(error instanceof PeerError) || made >= ATTEMPTS || !error.retryable) return undefined;
  if (error.code === 'peers-rate-limited') return askedWait(error.retryAfterMs);
  // Who waited ten seconds for nothing does not wait again.
  if (!(repeatable ?? method !== 'POST') || error.code === 'peers-timeout') return undefined;
  return askedWait(error.retryAfterMs) ?? Math.round(FIRST_WAIT_MS * 3 ** (made - 1) * (0.5 + jitter()));
}

function askedWait(asked: number | undefined): number | undefined {
  return asked === undefined || asked > LONGEST_WAIT_MS ? undefined : asked + Math.round(jitter() * 50);
}

/** @param body of the error; empty when it was no JSON. @param server origin. @param now epoch ms */
function answerFailure({ status, headers }: Response, body: JsonObject, server: string, now: number): PeerError {
  const errcode = textAt(body, 'errcode');
  const code = codeOf(status, errcode);
  const wait = retryAfterMs(headers, body, now);
  const name = errcode === undefined ? '' : plain(errcode, 60);
  const reason = [name, plain(textAt(body, 'error') ?? '', 200)].filter((part) => part !== '').join(': ');
  return new PeerError(`${server} answered ${status}${reason === '' ? '' : ` (${reason})`}`, {
    code,
    status,
    retryable: code === 'peers-server-error' || code === 'peers-rate-limited',
    fix: fixOf(code, server, wait),
    ...(errcode === undefined ? {} : { errcode: name }),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  });
}

function codeOf(status: number, errcode: string | undefined): PeerErrorCode {
  if (status === 401 || errcode === 'M_UNKNOWN_TOKEN' || errcode === 'M_MISSING_TOKEN') return 'peers-auth';
  if (status === 429 || errcode === 'M_LIMIT_EXCEEDED') return 'peers-rate-limited';
  if (status >= 500) return 'peers-server-error';
  if (status === 413 || errcode === 'M_TOO_LARGE') return 'peers-too-large';
  // A refusal without the API's own word comes from something else than such a server.
  return errcode === undefined || errcode === 'M_UNRECOGNIZED' ? 'peers-bad-response' : 'peers-forbidden';
}

function fixOf(code: PeerErrorCode, server: string, wait: number | undefined): string {
  switch (code) {
    case 'peers-auth':
      return 'Sign in again: talaria peers login';
    case 'peers-rate-limited':
      return wait === undefined ? 'Try again later.' : `Try again in ${Math.max(1, Math.ceil(wait / 1_000))} s.`;
    case 'peers-server-error':
      return `Try again; if it stays, look at the log of ${server}.`;
    case 'peers-too-large':
      return 'Send less at once.';
    case 'peers-bad-response':
      return 'Check MATRIX_HOMESERVER: it must be the address of a Matrix homeserver.';
    default:
      return 'Run talaria peers doctor to see what the account may do.';
  }
}

/** Milliseconds; undefined when nothing readable was said. */
function retryAfterMs(headers: Headers, body: JsonObject, now: number): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value) * 1_000;
  const date = value === '' ? undefined : parseTime(value);
  if (date !== undefined) return Math.max(0, date - now);
  const asked = body.retry_after_ms;
  return typeof asked === 'number' && asked >= 0 && Number.isFinite(asked) ? asked : undefined;
}

function plain(text: string, max: number): string {
  return ellipsize(text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim(), max);
}

const IDLE_MS = 10_000;
const MAX_BYTES = 16 * 1_048_576;
const MAX_ERROR_BYTES = 65_536;
/** An answer that trickles may take this many times the limit for silence. */
const SLOWEST = 6;

/** Throws `peers-not-configured` when the address is none. */
export function createFetchHttp(account: Pick<HiveAccount, 'homeserver' | 'accessToken'>, clock: Clock): MatrixHttp {
  const wire: Wire = { homeserver: readHomeserver(account.homeserver), token: account.accessToken, clock };
  return async (call, signal) => {
    for (let made = 1; ; made += 1) {
      try {
        return await exchange(wire, call, signal);
      } catch (error) {
        throwIfAborted(signal);
        const wait = retryWait(error, made, call);
        if (wait === undefined) throw error;
        await clock.sleep(wait, signal);
      }
    }
  };
}

interface Wire {
  readonly homeserver: URL;
  readonly token: string;
  readonly clock: Clock;
}

async function exchange(
  { homeserver, token, clock }: Wire,
  call: MatrixCall,
  signal: AbortSignal,
): Promise<JsonObject> {
  const server = homeserver.origin;
  const { method, body, idleMs, maxBytes } = call;
  const asked = {
    method,
    url: requestUrl(homeserver, call).href,
    token,
    redirect: 'manual',
    ...{ idleMs, maxBytes },
  } as const;
  const { response, text } = await exchangeOnce(clock, body === undefined ? asked : { ...asked, body }, signal);
  if (response.ok) return readAnswer(text, server);
  if (response.status < 400)
    throw new PeerError(`${server} sends us elsewhere, and we do not follow`, {
      code: 'peers-bad-response',
      fix: 'Set MATRIX_HOMESERVER to the address where the homeserver itself answers.',
    });
  const said = parseJsonObject(text.replaceAll(token || '\0', '[token]'));
  throw answerFailure(response, said.ok ? said.value : {}, server, clock.now());
}

interface Exchange {
  readonly method: MatrixCall['method'];
  /** Whole address. */
  readonly url: string;
  /** All but a GET have one; default `{}`. */
  readonly body?: JsonObject;
  readonly token?: string | undefined;
  /** With a token, or a password in the body, never `follow`. */
  readonly redirect: 'manual' | 'follow';
  readonly idleMs?: number | undefined;
  readonly maxBytes?: number | undefined;
}

/** One request, and the text of its answer within its limits. Throws PeerError for what the wire does, the signal's reason when aborted. */
export async function exchangeOnce(
  clock: Clock,
  { method, url, body, token, redirect, idleMs = IDLE_MS, maxBytes = MAX_BYTES }: Exchange,
  signal: AbortSignal,
): Promise<{ readonly response: Response; readonly text: string }> {
  throwIfAborted(signal);
  const server = new URL(url).origin;
  const whole = deadline(clock, signal, idleMs * SLOWEST, () => timeFailure(server));
  const limit = deadline(clock, whole.signal, idleMs, () => timeFailure(server));
  const type = method === 'GET' ? {} : { 'content-type': 'application/json' };
  const headers = { ...type, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  const sent = method === 'GET' ? null : JSON.stringify(body ?? {});
  try {
    const response = await fetch(url, { method, headers, body: sent, redirect, signal: limit.signal });
    limit.touch();
    const bounds = response.ok ? { maxBytes } : { maxBytes: MAX_ERROR_BYTES, isCut: true };
    return { response, text: await readBody(response, server, bounds, limit.touch) };
  } catch (error) {
    throwIfAborted(limit.signal);
    throw error instanceof PeerError ? error : wireFailure(error, server);
  } finally {
    limit.clear();
    whole.clear();
  }
}
