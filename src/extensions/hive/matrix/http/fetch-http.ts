// Owns MatrixHttp over fetch: one request with its time limit, its retries and typed errors. Knows no endpoint (R4.67).
// Invariant: the token goes to the homeserver's origin alone and stands in no error; after the call no timer and no open request is left.
import { deadline, throwIfAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import type { HiveAccount } from '../../hive-config.ts';
import { PeerError } from '../../peers/peer-error.ts';
import { answerFailure } from './answer-failure.ts';
import type { MatrixCall, MatrixHttp } from './matrix-http.ts';
import { readAnswer, readBody } from './read-answer.ts';
import { readHomeserver, requestUrl } from './request-url.ts';
import { retryWait } from './retry-wait.ts';
import { timeFailure, wireFailure } from './wire-failure.ts';

const IDLE_MS = 10_000;
const MAX_BYTES = 16 * 1_048_576;
const MAX_ERROR_BYTES = 65_536;
const MAX_REDIRECTS = 3;
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
        await waitForNext(error, { wire, call, made }, signal);
      }
    }
  };
}

/** Rethrows when there is to be no next attempt. */
async function waitForNext(
  error: unknown,
  { wire, call, made }: { readonly wire: Wire; readonly call: MatrixCall; readonly made: number },
  signal: AbortSignal,
): Promise<void> {
  throwIfAborted(signal);
  if (!(error instanceof PeerError)) throw error;
  const wait = retryWait(error, made, call.repeatable ?? call.method !== 'POST');
  if (wait === undefined) throw error;
  await wire.clock.sleep(wait, signal);
}

interface Wire {
  readonly homeserver: URL;
  readonly token: string;
  readonly clock: Clock;
}

async function exchange(wire: Wire, call: MatrixCall, signal: AbortSignal): Promise<JsonObject> {
  throwIfAborted(signal);
  const server = wire.homeserver.origin;
  const idleMs = call.idleMs ?? IDLE_MS;
  const whole = deadline(wire.clock, signal, idleMs * SLOWEST, () => timeFailure(server));
  const limit = deadline(wire.clock, whole.signal, idleMs, () => timeFailure(server));
  try {
    const response = await request(wire, call, limit.signal);
    limit.touch();
    const { ok, status, headers } = response;
    const maxBytes = ok ? (call.maxBytes ?? MAX_BYTES) : MAX_ERROR_BYTES;
    const body = await readBody(response, { maxBytes, isCut: !ok, onBytes: limit.touch, server });
    if (ok) return readAnswer(body, server);
    const said = parseJsonObject(body.replaceAll(wire.token || '\0', '[token]'));
    throw answerFailure({ status, headers, body: said.ok ? said.value : {}, server, now: wire.clock.now() });
  } catch (error) {
    throwIfAborted(limit.signal);
    throw error instanceof PeerError ? error : wireFailure(error, server);
  } finally {
    limit.clear();
    whole.clear();
  }
}

/** Follows redirects within the origin only, and only those that keep method and body. */
async function request({ homeserver, token }: Wire, call: MatrixCall, signal: AbortSignal): Promise<Response> {
  const hasBody = call.method !== 'GET';
  let url = requestUrl(homeserver, call);
  for (let followed = 0; ; followed += 1) {
    const response = await fetch(url.href, {
      method: call.method,
      headers: { authorization: `Bearer ${token}`, ...(hasBody ? { 'content-type': 'application/json' } : {}) },
      body: hasBody ? JSON.stringify(call.body ?? {}) : null,
      redirect: 'manual',
      signal,
    });
    if (response.status < 300 || response.status > 399) return response;
    await response.body?.cancel();
    url = redirected(response, { from: url, isGet: !hasBody, isLast: followed >= MAX_REDIRECTS });
  }
}

interface Hop {
  readonly from: URL;
  readonly isGet: boolean;
  readonly isLast: boolean;
}

function redirected(response: Response, { from, isGet, isLast }: Hop): URL {
  const target = response.headers.get('location') ?? '';
  const next = URL.canParse(target, from.href) ? new URL(target, from) : undefined;
  const keepsMethod = isGet || response.status === 307 || response.status === 308;
  if (next?.origin === from.origin && keepsMethod && !isLast) return next;
  const where = next === undefined || next.origin === from.origin ? 'on and on' : `to ${next.origin}`;
  throw new PeerError(`${from.origin} sends us ${where}, and we do not follow`, {
    code: 'peers-bad-response',
    fix: 'Set MATRIX_HOMESERVER to the address where the homeserver itself answers.',
  });
}
