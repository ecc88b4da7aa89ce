// Owns the HTTP server of `talaria serve`: who may ask, how large, the routes, what is logged, and its end. Knows no shape of a request or an answer.
// Invariants: nothing but /health answers without the key; no key, body or query stands in the log; a client that leaves stops its turn.
import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { serve } from '@hono/node-server';
import {
  createMcpHandler,
  localhostAllowedHostnames,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import { type Context, Hono, type Next } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { streamSSE } from 'hono/streaming';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { createEventLog } from '#base/fabric.ts';
import { sha256 } from '#base/ids.ts';
import { redactSecrets } from '#base/secrets.ts';
import type { OpenPart } from '#surfaces/app/serve-part.ts';
import { createMcpServers } from './mcp-server.ts';
import { ApiError, type TurnDesk } from './turns.ts';
import { chatWire, readResponse, responsesWire, type Wire } from './wires.ts';

export interface ServerMeans {
  readonly host: string;
  readonly port: number;
  readonly key: string;
  readonly version: string;
  /** They ask for what they need themselves. */
  readonly parts: readonly Pick<OpenPart, 'paths' | 'fetch' | 'isGuarded'>[];
}

const MOST_BYTES = 25 * 1024 ** 2;
const BEAT_MS = 15_000;
const PATIENCE_MS = 5_000;
const FLUSH_MS = 1_000;

export function isLoopback(host: string): boolean {
  return host === '::1' || host === 'localhost' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Throws TalariaError `no-address`. */
export async function openServer(desk: TurnDesk, means: ServerMeans) {
  const { host, port } = means;
  const server = serve({ fetch: routes(desk, means).fetch, hostname: host, port }) as Server;
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    const why = cause.code === 'EADDRINUSE' ? 'is in use' : `cannot be listened at: ${errorText(cause)}`;
    const fix = 'Name another with --port or --host.';
    throw new TalariaError(`port ${port} of ${host} ${why}`, { code: 'no-address', fix, cause });
  });
  return {
    port: (server.address() as AddressInfo).port,
    /** Takes no more, lets running turns go on for a moment, and ends when the last answer has gone out. */
    async close() {
      const closed = once(server, 'close');
      server.close();
      await desk.close(PATIENCE_MS);
      const cancel = desk.app.clock.after(FLUSH_MS, () => server.closeAllConnections());
      await closed.finally(cancel);
    },
  };
}

function routes(desk: TurnDesk, means: ServerMeans): Hono {
  const { clock, home, loaded } = desk.app;
  const log = createEventLog(home.log, clock);
  const hono = new Hono();
  hono.onError(answerOf);
  hono.notFound(() => answerOf(new ApiError(404, 'unknown_url', 'there is nothing at this address')));
  hono.use(async (c, next) => {
    const from = clock.monotonic();
    await next();
    const session = c.res.headers.get(SESSION_HEADERS[0]);
    const { method, path } = c.req;
    log.write('request', { method, path, status: c.res.status, ms: Math.round(clock.monotonic() - from), session });
  });
  const onError = () => answerOf(new ApiError(413, 'request_too_large', 'a request has 25 MB at most'));
  const bounded = bodyLimit({ maxSize: MOST_BYTES, onError });
  const isCalledRight = hostGuard(desk, means);
  for (const { paths, fetch, isGuarded } of means.parts) {
    const first = isGuarded ? isCalledRight : bounded;
    for (const path of paths) hono.all(path === '' ? '/' : `/${path}/*`, first, bounded, (c) => fetch(c.req.raw));
  }
  hono.use(isCalledRight, keyGuard(means));
  hono.use(bounded);
  hono.get('/health', (c) => c.json({ status: 'ok' }));
  if (loaded.config.serve.mcp) {
    const mcp = createMcpHandler(createMcpServers(desk, means.version), { maxRequestBodySize: MOST_BYTES });
    hono.all('/mcp', (c) => mcp.fetch(c.req.raw));
  }
  if (!loaded.config.serve.api) return hono;
  const model = (id: string) => ({ id, object: 'model', created: 0, owned_by: 'talaria' });
  hono.get('/v1/models', (c) => {
    const ids = ['talaria', ...desk.app.models().map(({ id }) => `talaria/${id}`)];
    return c.json({ object: 'list', data: ids.map(model) });
  });
  hono.get('/v1/models/:id{.+}', (c) => {
    desk.modelOf(c.req.param('id'));
    return c.json(model(c.req.param('id')));
  });
  hono.post('/v1/chat/completions', async (c) => answer(c, desk, chatWire(await c.req.text())));
  hono.post('/v1/responses', async (c) => answer(c, desk, await responsesWire(await c.req.text(), desk)));
  hono.get('/v1/responses/:id', async (c) => c.json(await readResponse(desk, c.req.param('id'))));
  hono.delete('/v1/responses/:id', (c) => {
    const id = c.req.param('id');
    desk.forgetResponse(id);
    return c.json({ id, object: 'response', deleted: true });
  });
  return hono;
}

/** Before anything is read of a request. */
function hostGuard({ app }: TurnDesk, { host }: ServerMeans) {
  const { allow_hosts, allow_origins } = app.loaded.config.serve;
  const machine = Object.values(networkInterfaces()).flatMap((all = []) => all.map((one) => bracketed(one.address)));
  const ours = isLoopback(host) ? [] : [bracketed(host), hostname(), ...machine];
  const hosts = [...localhostAllowedHostnames(), ...ours, ...allow_hosts];
  return async ({ req }: Context, next: Next) => {
    const { host: called, origin } = req.header();
    if (!validateHostHeader(called, hosts).ok)
      throw new ApiError(403, 'host_not_allowed', 'this Host is not one of ours; see serve.allow_hosts');
    if (!validateOriginHeader(origin, [...hosts, ...allow_origins]).ok)
      throw new ApiError(403, 'origin_not_allowed', 'pages of this Origin may not ask; see serve.allow_origins');
    await next();
  };
}

/** hono's own check takes no key but one of a token's characters; an owner's may be any. */
function keyGuard({ key }: ServerMeans) {
  const wanted = Buffer.from(sha256(`Bearer ${key}`));
  return async ({ req }: Context, next: Next) => {
    const { authorization = '' } = req.header();
    // Hashes are of one length, so that the time tells nothing of the key.
    const isKnown = timingSafeEqual(Buffer.from(sha256(authorization)), wanted);
    if (req.path !== '/health' && !isKnown)
      throw new ApiError(401, 'invalid_api_key', 'the key is missing or wrong; its owner sees it by talaria serve key');
    await next();
  };
}

/** As it stands in an address. */
export function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

const SESSION_HEADERS = ['X-Talaria-Session-Id', 'X-Hermes-Session-Id'] as const;

async function answer(c: Context, desk: TurnDesk, { wish, streams, frames, whole }: Wire): Promise<Response> {
  const [session] = SESSION_HEADERS.flatMap((name) => c.req.header(name) ?? []);
  const turn = await desk.begin(
    { ...wish, place: wish.place ?? (session ? { session } : undefined) },
    c.req.raw.signal,
  );
  for (const name of SESSION_HEADERS) c.header(name, turn.sessionId);
  if (!streams) {
    try {
      await Array.fromAsync(turn.events);
      return c.json(whole(turn));
    } finally {
      await turn.leave();
    }
  }
  return streamSSE(c, async (out) => {
    let stop: (() => void) | undefined;
    const beat = () => {
      stop = desk.app.clock.after(BEAT_MS, () => void out.write(': beat\n\n').then(beat));
    };
    beat();
    try {
      for await (const frame of frames(turn)) await out.write(frame);
    } catch (error) {
      await out.writeSSE({ data: await answerOf(error).text() });
    } finally {
      stop?.();
      await turn.leave();
    }
  });
}

const TYPES = { 401: 'authentication_error', 403: 'permission_error', 429: 'rate_limit_error' };
const HEADERS = { 401: { 'www-authenticate': 'Bearer' }, 429: { 'retry-after': '5' } };

function answerOf(error: unknown): Response {
  const { status = 500, param = null } = error instanceof ApiError ? error : {};
  const type = TYPES[status as keyof typeof TYPES] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
  const message = redactSecrets(errorText(error));
  const body = { error: { message, type, param, code: errorCode(error) ?? 'internal_error' } };
  return Response.json(body, { status, headers: HEADERS[status as keyof typeof HEADERS] ?? {} });
}
