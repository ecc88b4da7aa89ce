// Owns one HTTP request over node:http and node:https: connections that are kept, proxies, decompression, abort. In place of `fetch`,
// whose library costs a start a third of the time until the request leaves. Knows no model and no time-out.
// Invariant: at most one request, to exactly the address that was given: no redirect is followed and nothing is sent again; after an
// abort the socket is closed.
import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { HeaderValues } from './failure/retry-after.ts';

/** HTTP_PROXY, HTTPS_PROXY and NO_PROXY as they are set. Never used for this machine itself. */
export type Proxies = Readonly<Partial<Record<'HTTP_PROXY' | 'HTTPS_PROXY' | 'NO_PROXY', string>>>;

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
