// Owns fetching one URL with hard bounds: scheme, address (as DNS gave it), redirects, size, time. Nothing of the page is understood here.
// Knows no tool. Invariant: the address that was checked is the address that is connected to, at every redirect.
import { type LookupAddress, lookup } from 'node:dns';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { errorCode, errorText } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { isPublicAddress } from './public-address.ts';

export interface FetchBounds {
  readonly maxBytes: number;
  readonly maxRedirects: number;
  /** Hosts that may be reached although their addresses are private. */
  readonly privateHosts: readonly string[];
  /** A redirect to another host is refused: who asks for it is asked about it. */
  readonly staysOnHost?: boolean;
}

export interface FetchedPage {
  readonly url: string;
  readonly status: number;
  readonly contentType: string;
  readonly bytes: Buffer;
  /** The page goes on behind `maxBytes`. */
  readonly cut: boolean;
}

export type FetchRefusal = 'bad-url' | 'private-address' | 'too-many-redirects' | 'other-host' | 'unreachable';

export async function fetchPage(
  address: string,
  bounds: FetchBounds,
  signal: AbortSignal,
): Promise<Result<FetchedPage, FetchRefusal>> {
  let url = address;
  for (let step = 0; step <= bounds.maxRedirects; step += 1) {
    const checked = checkUrl(url, bounds);
    if (!checked.ok) return checked;
    const answer = await askOnce(checked.value, bounds, signal);
    if (!answer.ok) return answer;
    if (!('location' in answer.value)) return ok(answer.value);
    url = answer.value.location;
    if (bounds.staysOnHost && URL.parse(url)?.hostname !== checked.value.hostname)
      return refuse('other-host', `${checked.value.href} leads to another host; fetch it by its own address: ${url}`);
  }
  return refuse('too-many-redirects', `more than ${bounds.maxRedirects} redirects, the last to ${url}`);
}

export function checkUrl(text: string, bounds: Pick<FetchBounds, 'privateHosts'>): Result<URL, FetchRefusal> {
  const url = URL.parse(text.includes('://') ? text : `https://${text}`);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    return refuse('bad-url', `${text} is no http or https address`);
  if (url.username !== '' || url.password !== '')
    return refuse('bad-url', 'addresses with a password in them are not fetched');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const allowed = bounds.privateHosts.includes(host);
  if (!allowed && isIP(host) !== 0 && !isPublicAddress(host)) return refuse('private-address', privateText(host));
  return ok(url);
}

function privateText(host: string): string {
  return `${host} is an address of this machine or its network, which web_fetch does not reach unless the configuration names it`;
}

class PrivateAddress extends Error {}

/** Name resolution that gives only addresses that may be reached: there is no second look-up that could differ. */
function publicLookup(bounds: FetchBounds): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      const found = error ? error : checkAddresses(host, addresses, bounds);
      if (found instanceof Error) callback(found, '', 0);
      else if (options.all) callback(null, [...found]);
      else callback(null, found[0]?.address ?? '', found[0]?.family ?? 0);
    });
  };
}

/** One private address among public ones is enough to refuse: an honest name has none. */
function checkAddresses(
  host: string,
  addresses: readonly LookupAddress[],
  bounds: FetchBounds,
): readonly LookupAddress[] | Error {
  const allowed = bounds.privateHosts.includes(host) || addresses.every(({ address }) => isPublicAddress(address));
  return allowed && addresses.length > 0 ? addresses : new PrivateAddress(privateText(host));
}

type Answer = FetchedPage | { readonly location: string };

function askOnce(url: URL, bounds: FetchBounds, signal: AbortSignal): Promise<Result<Answer, FetchRefusal>> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const options: RequestOptions = { lookup: publicLookup(bounds), signal, agent: false, headers: HEADERS };
    const sent = send(url.href, options, (response) => {
      const location = redirectOf(url, response);
      if (location !== undefined) {
        response.destroy();
        return resolve(ok({ location }));
      }
      readBody(response, bounds.maxBytes).then((body) => resolve(ok(describe(url, response, body))), reject);
    });
    sent.on('error', (error) => (signal.aborted ? reject(signal.reason) : resolve(unreachable(url, error))));
    sent.end();
  });
}

const HEADERS = {
  'user-agent': 'talaria-web-fetch',
  accept: 'text/html,text/plain,text/markdown,application/json;q=0.9,*/*;q=0.5',
  'accept-encoding': 'gzip, deflate, br',
};

function redirectOf(url: URL, response: IncomingMessage): string | undefined {
  const { location } = response.headers;
  if (location === undefined || !new Set([301, 302, 303, 307, 308]).has(response.statusCode ?? 0)) return undefined;
  return URL.parse(location, url.href)?.href ?? location;
}

function describe(
  url: URL,
  response: IncomingMessage,
  body: { readonly bytes: Buffer; readonly cut: boolean },
): FetchedPage {
  return {
    url: url.href,
    status: response.statusCode ?? 0,
    contentType: response.headers['content-type'] ?? '',
    ...body,
  };
}

function unreachable(url: URL, error: Error): Result<never, FetchRefusal> {
  if (error instanceof PrivateAddress) return refuse('private-address', error.message);
  return refuse(
    'unreachable',
    `${url.host} could not be reached: ${errorCode(error) ?? ''} ${errorText(error)}`.trim(),
  );
}

/** Decoded bytes, at most `max`: a small answer that unpacks to gigabytes is cut like a large one. */
async function readBody(
  response: IncomingMessage,
  max: number,
): Promise<{ readonly bytes: Buffer; readonly cut: boolean }> {
  const stream = unpack(response);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > max) break;
    }
  } finally {
    response.destroy();
  }
  return { bytes: Buffer.concat(chunks).subarray(0, max), cut: size > max };
}

function unpack(response: IncomingMessage): AsyncIterable<unknown> {
  const decoders: Readonly<Record<string, () => ReturnType<typeof createGunzip>>> = {
    gzip: createGunzip,
    deflate: createInflate,
    br: createBrotliDecompress,
  };
  const decoder = decoders[response.headers['content-encoding'] ?? '']?.();
  if (!decoder) return response;
  response.on('error', (error) => decoder.destroy(error));
  return response.pipe(decoder);
}
