// Owns the socket of the fake homeserver: real HTTP on 127.0.0.1, the record of requests, and the faults that tests order. Knows no endpoint.
// Invariants: after `down` nothing runs, no socket, no timer, no waiting request, and the port stays the same through down and up; a fault is
// used up by the first request that matches it; a big answer never stands in memory as one string.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Clock } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { jsonPieces, type RoutedAnswer, type Router, tokenOf } from './calls.ts';

export interface HomeserverRequest {
  readonly method: string;
  /** Path with its escapes, without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly userId?: string;
}

/** `html`: a web page with status 200. `reset`: the connection breaks, nothing took effect. `lost-answer`: the same after it took effect. */
export type HomeserverFault =
  | {
      readonly type: 'status';
      readonly status: number;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly type: 'html' }
  | { readonly type: 'reset' }
  | { readonly type: 'slow'; readonly ms: number }
  | { readonly type: 'lost-answer' };

interface Order {
  readonly match: (request: HomeserverRequest) => boolean;
  readonly fault: HomeserverFault;
  left: number;
}

export interface WireLog {
  requests(): readonly HomeserverRequest[];
  clear(): void;
  fail(match: Order['match'], fault: HomeserverFault, times?: number): () => void;
  limitRate(retryAfterMs: number): () => void;
  /** Writes the request down and gives the fault that it shall meet. */
  take(request: HomeserverRequest): HomeserverFault | undefined;
}

export function createWireLog(): WireLog {
  let log: HomeserverRequest[] = [];
  const orders: Order[] = [];
  const remove = (order: Order) => {
    const index = orders.indexOf(order);
    if (index >= 0) orders.splice(index, 1);
  };
  const fail: WireLog['fail'] = (match, fault, times = 1) => {
    const order: Order = { match, fault, left: times };
    orders.push(order);
    return () => remove(order);
  };
  const take = (request: HomeserverRequest): HomeserverFault | undefined => {
    log.push(Object.freeze(request));
    const order = orders.find((one) => one.match(request));
    if (!order) return undefined;
    order.left -= 1;
    if (order.left <= 0) remove(order);
    return order.fault;
  };
  return {
    requests: () => [...log],
    clear: () => {
      log = [];
    },
    fail,
    limitRate: (retryAfterMs) => fail(isClientRequest, tooMany(retryAfterMs), Number.POSITIVE_INFINITY),
    take,
  };
}

function isClientRequest({ path }: HomeserverRequest): boolean {
  return path.startsWith('/_matrix/client/');
}

function tooMany(retryAfterMs: number): HomeserverFault {
  return {
    type: 'status',
    status: 429,
    headers: { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) },
    body: JSON.stringify({ errcode: 'M_LIMIT_EXCEEDED', error: 'Too Many Requests', retry_after_ms: retryAfterMs }),
  };
}

export interface ListenerParts {
  readonly router: Router;
  readonly log: WireLog;
  readonly clock: Clock;
  readonly userOf: (accessToken: string) => string | undefined;
}

export interface Listener {
  readonly port: number;
  readonly openSockets: number;
  down(): Promise<void>;
  up(): Promise<void>;
}

export async function openListener(parts: ListenerParts): Promise<Listener> {
  const sockets = new Set<Socket>();
  let stopping = new AbortController();
  let server: Server | undefined;

  const listen = async (port: number): Promise<number> => {
    stopping = new AbortController();
    const { signal } = stopping;
    const opened = createServer((message, response) => {
      serve(parts, { message, response, stopping: signal }).catch((error: unknown) => refuse(response, error));
    });
    opened.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      opened.once('error', reject);
      opened.listen(port, '127.0.0.1', () => resolve());
    });
    server = opened;
    return (opened.address() as AddressInfo).port;
  };
  const down = async (): Promise<void> => {
    const closing = server;
    server = undefined;
    stopping.abort();
    for (const socket of sockets) socket.destroy();
    if (closing) await new Promise<void>((resolve) => closing.close(() => resolve()));
  };
  const port = await listen(0);
  return {
    port,
    get openSockets() {
      return sockets.size;
    },
    down,
    up: async () => {
      if (!server) await listen(port);
    },
  };
}

interface Exchange {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly stopping: AbortSignal;
}

async function serve(parts: ListenerParts, { message, response, stopping }: Exchange): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const signal = AbortSignal.any([stopping, gone.signal]);
  const request = await readRequest(message, parts);
  const fault = parts.log.take(request);
  if (fault && (await playInstead(fault, response))) return;
  if (fault?.type === 'slow') await parts.clock.sleep(fault.ms, signal).catch(() => undefined);
  if (signal.aborted) return;
  const answer = await parts.router({ ...request, signal });
  if (fault?.type === 'lost-answer') response.destroy();
  else await send(response, answer, signal);
}

/** True: the fault was the whole answer. */
async function playInstead(fault: HomeserverFault, response: ServerResponse): Promise<boolean> {
  switch (fault.type) {
    case 'status': {
      const text = fault.body ?? JSON.stringify({ errcode: 'M_UNKNOWN', error: 'ordered by the test' });
      const type = text.trimStart().startsWith('<') ? 'text/html' : 'application/json';
      response.writeHead(fault.status, { 'content-type': type, ...fault.headers }).end(text);
      return true;
    }
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<!doctype html><html><head><title>Welcome</title></head><body>hello</body></html>');
      return true;
    case 'reset':
      response.destroy();
      return true;
    case 'slow':
    case 'lost-answer':
      return false;
  }
}

/** One piece with its length, or many as the client takes them. */
async function send(response: ServerResponse, answer: RoutedAnswer, signal: AbortSignal): Promise<void> {
  const pieces = jsonPieces(answer.body);
  const first = pieces.next().value ?? '';
  let next = pieces.next();
  const headers = { 'content-type': 'application/json', ...answer.headers };
  if (signal.aborted) return;
  if (next.done) {
    response.writeHead(answer.status, { ...headers, 'content-length': Buffer.byteLength(first) }).end(first);
    return;
  }
  response.writeHead(answer.status, headers).write(first);
  for (; !next.done; next = pieces.next()) {
    if (signal.aborted) return;
    if (!response.write(next.value)) await once(response, 'drain', { signal }).catch(() => undefined);
  }
  response.end();
}

/** Only for a bug of the fake itself: the client sees it, so the test does. */
function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(500, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ errcode: 'M_UNKNOWN', error: errorText(error) }));
}

async function readRequest(message: IncomingMessage, parts: ListenerParts): Promise<HomeserverRequest> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of message) chunks.push(chunk as Uint8Array);
  const [path = '', search = ''] = (message.url ?? '').split(/\?(.*)/s);
  const query = Object.fromEntries(new URLSearchParams(search));
  const headers = Object.fromEntries(Object.entries(message.headers).map(([name, value]) => [name, String(value)]));
  const token = tokenOf({ headers, query });
  const userId = token === undefined ? undefined : parts.userOf(token);
  const body = Buffer.concat(chunks).toString('utf8');
  return { method: message.method ?? '', path, query, body, headers, ...(userId !== undefined && { userId }) };
}
