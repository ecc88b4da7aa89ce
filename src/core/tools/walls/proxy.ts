// Owns the way of enclosed commands to the network: an HTTP proxy that lets through what was opened and asks for the rest while the
// connection waits. Knows no command and no namespace. Invariants: a name is resolved once, after it was allowed, and the address that was
// checked is the address that is connected to; a private address needs the owner's own word, in the configuration or to exactly it.
import { lookup as systemLookup } from 'node:dns/promises';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, createServer as createSocketServer, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorText } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { type HostPort, isHostNamed, isPublicAddress, plainHost } from '../public-address.ts';
import { NEAR } from './walls.ts';

export type Lookup = (host: string) => Promise<readonly string[]>;

export interface Address {
  readonly address: string;
  readonly port: number;
}

/** Where an address that was checked is connected to. */
export type Dial = (to: Address) => Address;

/** What one command may reach. */
export interface Gate {
  /** `name:port`, opened before it began. */
  readonly opened: readonly string[];
  readonly askHost: (host: string) => Promise<boolean>;
}

export interface Admission {
  /** `user:password` of the command's proxy address. */
  readonly credentials: string;
  /** Hosts that it did not get to, and why. */
  readonly refused: () => readonly string[];
  /** Its connections end. */
  release(): void;
}

export type WallProxy = ReturnType<typeof createProxy>;

const IDLE_MS = 300_000;
const HEADER_MS = 30_000;
const CONNECT_MS = 60_000;
const MOST_CONNECTIONS = 512;
const MOST_OF_ONE = 128;

interface Admitted {
  readonly gate: Gate;
  readonly answers: Map<string, Promise<boolean>>;
  readonly sockets: Set<Duplex>;
  readonly refused: Map<string, string>;
}

type Refusal = 'not-allowed' | 'private-address' | 'unreachable';

export interface ProxyOptions {
  readonly hosts: readonly string[];
  readonly lookup?: Lookup | undefined;
  readonly dial?: Dial | undefined;
}

export function createProxy(options: ProxyOptions) {
  const { lookup = allAddresses, dial = (to) => to } = options;
  const admitted = new Map<string, Admitted>();
  const who = (request: IncomingMessage) => admitted.get(credentialsOf(request));
  const way = (one: Admitted, target: HostPort) => findWay(one, target, options.hosts, lookup);
  const server = createServer({ headersTimeout: HEADER_MS, keepAliveTimeout: 5_000, requestTimeout: 0 });
  server.maxConnections = MOST_CONNECTIONS;
  server.on('connection', (socket: Socket) => socket.setTimeout(IDLE_MS, () => socket.destroy()));
  server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const one = who(request);
    const target = targetIn(request.url ?? '', 443);
    if (!one) return refuseSocket(socket, 407, NO_CREDENTIALS);
    if (!target) return refuseSocket(socket, 400, 'this is no host with a port');
    void enter(one, socket, async () => {
      const found = await way(one, target);
      if (found.ok) tunnel(one, socket, head, dial({ address: found.value, port: target.port }));
      else refuseSocket(socket, found.reason === 'unreachable' ? 502 : 403, found.detail);
    });
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const one = who(request);
    const url = URL.parse(request.url ?? '');
    if (!one) return answer(response, 407, NO_CREDENTIALS);
    if (url?.protocol !== 'http:') return answer(response, 400, 'a proxy is asked with a whole http address');
    const target = { host: plainHost(url.hostname), port: Number(url.port || 80) };
    void enter(one, request.socket, async () => {
      const found = await way(one, target);
      if (found.ok) forward(request, response, url, dial({ address: found.value, port: target.port }));
      else answer(response, found.reason === 'unreachable' ? 502 : 403, found.detail);
    });
  });
  return {
    admit(gate: Gate): Admission {
      const credentials = `talaria:${randomHex(16)}`;
      const one: Admitted = { gate, answers: new Map(), sockets: new Set(), refused: new Map() };
      admitted.set(credentials, one);
      return {
        credentials,
        refused: () => [...one.refused.values()],
        release() {
          admitted.delete(credentials);
          for (const socket of one.sockets) socket.destroy();
        },
      };
    },
    /** A path of a socket, or port 0 of the loopback; gives the port. */
    listen: (at: string | 0): Promise<number> =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        const heard = () => {
          const address = server.address();
          resolve(address !== null && typeof address === 'object' ? address.port : 0);
        };
        if (at === 0) server.listen(0, '127.0.0.1', heard);
        else server.listen(at, heard);
        server.unref();
      }),
    close: (): Promise<void> =>
      new Promise((resolve) => {
        for (const one of admitted.values()) for (const socket of one.sockets) socket.destroy();
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

const NO_CREDENTIALS = 'this command has no way to the network';

function credentialsOf(request: IncomingMessage): string {
  const [kind, value = ''] = (request.headers['proxy-authorization'] ?? '').split(' ');
  return kind?.toLowerCase() === 'basic' ? Buffer.from(value, 'base64').toString('utf8') : '';
}

/** Counts the connection to its command and lets nothing that goes wrong with it out. */
async function enter(one: Admitted, socket: Duplex, work: () => Promise<void>): Promise<void> {
  if (one.sockets.size >= MOST_OF_ONE && !one.sockets.has(socket)) {
    socket.destroy();
    return;
  }
  if (!one.sockets.has(socket)) socket.once('close', () => one.sockets.delete(socket));
  one.sockets.add(socket);
  try {
    await work();
  } catch (error) {
    refuseSocket(socket, 502, errorText(error));
  }
}

function targetIn(text: string, port: number): HostPort | undefined {
  const url = /[/?#@\\]/.test(text) ? null : URL.parse(`http://${text}`);
  if (!url || url.hostname === '') return undefined;
  const named = /:(\d+)$/.exec(text)?.[1];
  return { host: plainHost(url.hostname), port: named === undefined ? port : Number(named) };
}

async function findWay(
  one: Admitted,
  target: HostPort,
  hosts: readonly string[],
  lookup: Lookup,
): Promise<Result<string, Refusal>> {
  const name = `${target.host}:${target.port}`;
  const isNamed = hosts.some((pattern) => isHostNamed(pattern, target));
  const deny = (reason: Refusal, detail: string) => {
    one.refused.set(name, detail);
    return refuse(reason, detail);
  };
  const mayReach = async (what: string) => isNamed || one.gate.opened.includes(what) || (await askOnce(one, what));
  const isPlain = isIP(target.host) === 0 && target.host !== 'localhost' && !target.host.endsWith('.localhost');
  if (isPlain && !(await mayReach(name)))
    return deny('not-allowed', `${name} was not allowed; sandbox.hosts: ["${name}"] would open it without a question`);
  const addresses = isIP(target.host) === 0 ? await lookup(target.host) : [target.host];
  const [address] = addresses;
  if (address === undefined) return refuse('unreachable', `${target.host} has no address`);
  const near = addresses.find((one) => !isPublicAddress(one));
  if (near === undefined)
    return isPlain || (await mayReach(name)) ? ok(address) : deny('not-allowed', `${name} was not allowed`);
  const exact = `${name}${NEAR}${near}`;
  const isOwnWord = hosts.some((pattern) => isExact(pattern) && isHostNamed(pattern, target));
  if (isOwnWord || one.gate.opened.includes(exact) || (await askOnce(one, exact))) return ok(near);
  const where = `${name} is an address of this machine or its network`;
  return deny('private-address', `${where}, and was not allowed; sandbox.hosts: ["${name}"] would open it`);
}

/** One question a host and command at a time; the answer holds for the command. */
function askOnce(one: Admitted, name: string): Promise<boolean> {
  const asked = one.answers.get(name) ?? one.gate.askHost(name);
  one.answers.set(name, asked);
  return asked;
}

/** Whoever owns a name leads it where they like: a server near by is named with its port, or by its address. */
function isExact(pattern: string): boolean {
  return isIP(plainHost(pattern)) !== 0 || (!pattern.startsWith('*') && /:\d+$/.test(pattern));
}

async function allAddresses(host: string): Promise<readonly string[]> {
  return (await systemLookup(host, { all: true })).map(({ address }) => address);
}

function tunnel(one: Admitted, socket: Duplex, head: Buffer, to: Address): void {
  const outer = connect({ host: to.address, port: to.port, allowHalfOpen: true });
  one.sockets.add(outer);
  outer.setTimeout(CONNECT_MS, () => outer.destroy(new Error('it did not answer')));
  outer.once('connect', () => {
    outer.setTimeout(IDLE_MS);
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) outer.write(head);
    socket.pipe(outer).pipe(socket);
  });
  let failure: string | undefined;
  outer.on('error', (error) => {
    failure = errorText(error);
  });
  outer.on('close', () => {
    one.sockets.delete(outer);
    if (failure !== undefined && outer.bytesRead === 0 && outer.bytesWritten === 0) refuseSocket(socket, 502, failure);
    else socket.destroy();
  });
  socket.on('close', () => outer.destroy());
}

const OF_ONE_HOP = new Set('proxy-authorization proxy-connection connection keep-alive te upgrade trailer'.split(' '));

function forward(request: IncomingMessage, response: ServerResponse, url: URL, to: Address): void {
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !OF_ONE_HOP.has(name)));
  const outer = httpRequest({
    host: to.address,
    port: to.port,
    method: request.method,
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, host: url.host },
    agent: false,
    timeout: IDLE_MS,
  });
  outer.on('timeout', () => outer.destroy(new Error('it did not answer')));
  outer.on('response', (reply) => {
    const kept = Object.entries(reply.headers).filter(([name]) => !OF_ONE_HOP.has(name));
    response.writeHead(reply.statusCode ?? 502, Object.fromEntries(kept));
    reply.on('error', () => response.destroy());
    reply.pipe(response);
  });
  outer.on('error', (error) => (response.headersSent ? response.destroy() : answer(response, 502, errorText(error))));
  response.on('close', () => outer.destroy());
  request.pipe(outer);
}

/** Clients ask without credentials first, and give them when they are told how. */
const HOW = 'Basic realm="talaria"';

function answer(response: ServerResponse, status: number, text: string): void {
  const how = status === 407 ? { 'proxy-authenticate': HOW } : {};
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close', ...how });
  response.end(`Talaria: ${text}\n`);
}

/** The reason stands in the status line too: most clients show no body of a refused tunnel. */
function refuseSocket(socket: Duplex, status: number, text: string): void {
  const line = text.replace(/[^\x20-\x7e]/g, '?');
  const how = status === 407 ? `Proxy-Authenticate: ${HOW}\r\n` : '';
  const head = `HTTP/1.1 ${status} ${line}\r\n${how}Content-Type: text/plain\r\nConnection: close\r\n\r\n`;
  if (socket.writable) socket.end(`${head}Talaria: ${line}\n`);
}

/** A socket that leads to one address and nowhere else. */
export function leadTo(path: string, to: Address): Promise<{ close(): void }> {
  const open = new Set<Socket>();
  const server = createSocketServer({ allowHalfOpen: true }, (inner) => {
    const outer = connect({ host: to.address, port: to.port, allowHalfOpen: true });
    for (const [one, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      open.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  server.maxConnections = MOST_OF_ONE;
  server.unref();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () =>
      resolve({
        close() {
          for (const socket of open) socket.destroy();
          server.close();
        },
      }),
    );
  });
}
