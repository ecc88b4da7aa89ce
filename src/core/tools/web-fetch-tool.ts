// Owns the web_fetch tool: one page of the public web, fetched with hard bounds (scheme, address as DNS gave it, redirects, size, time), and as text
// that reads well. It belongs to the toolset `web`, which no session has by default. Ours and no package: reading is linear, and three times as fast
// as one that builds a tree. Invariants: no address of this machine or its network is reached unless the configuration names the host; the address
// that was checked is the address that is connected to, at every redirect; among foreign words no host is reached that was not allowed, since an
// address can carry away what was read; reading never throws; scripts, styles and what is not shown leave nothing behind.
import { type LookupAddress, lookup } from 'node:dns';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { z } from 'zod';
import { deadline } from '#base/abort.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { headTail } from '#base/text.ts';
import { defineTool, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';
import { isTainted } from '#core/model/message.ts';
import { describeBinary } from './files/text-file.ts';
import { isHostNamed, isPublicAddress, plainHost } from './public-address.ts';
import { closedNote, createWallDesk } from './terminal/openings.ts';
import { OUTPUT_LIMITS, WEB_FETCH } from './tool-cards.ts';

export interface WebFetchOptions {
  /** Hosts with private addresses that may be reached, e.g. `wiki.local`. */
  readonly privateHosts?: readonly string[];
  /** Hosts that are reached without a question, as the configuration names them for commands. */
  readonly hosts?: readonly string[];
  /** Default 30. */
  readonly seconds?: number;
}

export function createWebFetchTool(options: WebFetchOptions = {}) {
  return defineTool<z.infer<typeof WEB_FETCH.input>>({
    ...WEB_FETCH,
    summary: ({ url }) => `fetch ${url}`,
    run: (request, context, signal) => fetchText(request.url, { options, context }, signal),
  });
}

interface Fetching {
  readonly options: WebFetchOptions;
  readonly context: ToolContext;
}

async function fetchText(url: string, { options, context }: Fetching, signal: AbortSignal): Promise<ToolOutput> {
  const seconds = options.seconds ?? 30;
  const staysOnHost = isTainted(context.history());
  const { privateHosts = [] } = options;
  const bounds = { maxBytes: OUTPUT_LIMITS.pageBytes, maxRedirects: 5, privateHosts, staysOnHost };
  const checked = checkUrl(url, bounds);
  if (!checked.ok) return { text: checked.detail, isError: true };
  const closed = staysOnHost ? await closedHost(checked.value, { options, context }) : undefined;
  if (closed !== undefined) return { text: closed, isError: true };
  const limit = deadline(
    context.clock,
    signal,
    seconds * 1_000,
    () => new TalariaError(`no answer within ${seconds} s`, { code: 'fetch-timeout' }),
  );
  try {
    const page = await fetchPage(url, bounds, limit.signal);
    return page.ok ? describePage(page.value) : { text: page.detail, isError: true };
  } catch (error) {
    if (signal.aborted) throw error;
    return {
      text: `${url}: ${limit.signal.aborted ? `no whole answer within ${seconds} s` : 'the answer was broken off or could not be read'}`,
      isError: true,
    };
  } finally {
    limit.clear();
  }
}

/** Asked as commands ask for a host, and remembered with theirs; the words when it stays closed. */
async function closedHost({ href, hostname, port, protocol }: URL, { options, context }: Fetching) {
  const target = { host: plainHost(hostname), port: Number(port || (protocol === 'https:' ? 443 : 80)) };
  const named = [...(options.hosts ?? []), ...(options.privateHosts ?? [])];
  const opening = { kind: 'host', host: `${target.host}:${target.port}` } as const;
  if (named.some((pattern) => isHostNamed(pattern, target))) return undefined;
  return (await createWallDesk(href, context).mayOpen(opening)) ? undefined : closedNote(opening);
}

function describePage(page: FetchedPage): ToolOutput {
  const type = (page.contentType.split(';')[0] ?? '').trim().toLowerCase() || 'unknown type';
  const head = `${page.url} (HTTP ${page.status}, ${type}, ${page.bytes.length} bytes${page.cut ? ', cut' : ''})`;
  const failed = page.status >= 400 ? { isError: true } : {};
  const binary = describeBinary(page.bytes.subarray(0, 8_192));
  if (binary !== undefined || /^(?:image|audio|video|font)\//.test(type)) {
    return { text: `${head}\n[${binary ?? type}: not shown]`, isError: true };
  }
  const text = decodePage(page);
  const { title, text: body } = isHtml(type, text) ? htmlText(text, page.url) : { title: '', text };
  const shown = headTail(body, OUTPUT_LIMITS.pageChars - 4_000, 4_000);
  return { text: [head, title, shown].filter((part) => part !== '').join('\n\n'), ...failed };
}

function isHtml(type: string, text: string): boolean {
  return type.includes('html') || (type === 'unknown type' && /^\s*<(?:!doctype|html)/i.test(text));
}

/** In the encoding that the header or the page names; UTF-8 when it names none or an unknown one. */
function decodePage(page: FetchedPage): string {
  const start = page.bytes.subarray(0, 2_048).toString('latin1');
  const named =
    /charset=["']?([\w-]+)/i.exec(page.contentType)?.[1] ??
    /<meta[^>]{0,200}charset=["']?([\w-]+)/i.exec(start)?.[1] ??
    'utf-8';
  try {
    return new TextDecoder(named).decode(page.bytes);
  } catch (error) {
    if (error instanceof RangeError) return page.bytes.toString('utf8');
    throw error;
  }
}

interface FetchBounds {
  readonly maxBytes: number;
  readonly maxRedirects: number;
  /** Hosts that may be reached although their addresses are private. */
  readonly privateHosts: readonly string[];
  /** A redirect to another host is refused: who asks for it is asked about it. */
  readonly staysOnHost?: boolean;
}

interface FetchedPage {
  readonly url: string;
  readonly status: number;
  readonly contentType: string;
  readonly bytes: Buffer;
  /** The page goes on behind `maxBytes`. */
  readonly cut: boolean;
}

type FetchRefusal = 'bad-url' | 'private-address' | 'too-many-redirects' | 'other-host' | 'unreachable';

/** By the rules of the tool; whoever asks bounds the time. */
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

function checkUrl(text: string, bounds: Pick<FetchBounds, 'privateHosts'>): Result<URL, FetchRefusal> {
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
      const contentType = response.headers['content-type'] ?? '';
      const page = { url: url.href, status: response.statusCode ?? 0, contentType };
      readBody(response, bounds.maxBytes).then((body) => resolve(ok({ ...page, ...body })), reject);
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

function unreachable(url: URL, error: Error): Result<never, FetchRefusal> {
  if (error instanceof PrivateAddress) return refuse('private-address', error.message);
  return refuse(
    'unreachable',
    `${url.host} could not be reached: ${errorCode(error) ?? ''} ${errorText(error)}`.trim(),
  );
}

/** Decoded bytes, at most `max`: a small answer that unpacks to gigabytes is cut like a large one. */
async function readBody(response: IncomingMessage, max: number): Promise<Pick<FetchedPage, 'bytes' | 'cut'>> {
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

const DROPPED = new Set(
  'script style noscript template svg head iframe object select nav footer form dialog'.split(' '),
);
const BLOCKS = new Set(
  'p div section article main header aside ul ol table tr blockquote pre figure figcaption dl dt dd h1 h2 h3 h4 h5 h6 hr address details summary'.split(
    ' ',
  ),
);

interface Writer {
  out: string[];
  /** Depth inside of a dropped element, and its name. */
  dropped: string | undefined;
  droppedDepth: number;
  pre: number;
  href: string | undefined;
}

/** `base` makes links absolute. */
export function htmlText(html: string, base: string): { readonly title: string; readonly text: string } {
  const title = decodeEntities(/<title[^>]{0,500}>([^<]{0,2000})/i.exec(html.slice(0, 200_000))?.[1] ?? '').trim();
  const writer: Writer = { out: [], dropped: undefined, droppedDepth: 0, pre: 0, href: undefined };
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    writeText(writer, html.slice(at, open < 0 ? html.length : open));
    if (open < 0) break;
    at = readMarkup(writer, html, open, base);
  }
  return { title, text: tidy(writer.out.join('')) };
}

/** Elements whose content is no markup. */
const RAW_ENDS: Readonly<Record<string, RegExp>> = { script: /<\/script/, style: /<\/style/ };

/** Position behind the comment, declaration or tag that begins at `open`. */
function readMarkup(writer: Writer, html: string, open: number, base: string): number {
  if (html.startsWith('<!--', open)) return behind(html, /-->/g, open + 4);
  if (!/[a-zA-Z/!?]/.test(html[open + 1] ?? '')) {
    writeText(writer, '<');
    return open + 1;
  }
  const end = html.indexOf('>', open);
  if (end < 0) return html.length;
  const tag = html.slice(open + 1, Math.min(end, open + 4_000));
  const name = /^\/?([a-zA-Z][\w-]*)/.exec(tag)?.[1]?.toLowerCase() ?? '';
  const raw = RAW_ENDS[name];
  if (raw) return tag.startsWith('/') ? end + 1 : behind(html, new RegExp(raw, 'gi'), end);
  if (tag.startsWith('/')) closeTag(writer, name);
  else openTag(writer, name, tag, base);
  return end + 1;
}

/** Position behind the next `>` after `mark`; the end when it never comes, so that what is open is searched only once. */
function behind(html: string, mark: RegExp, from: number): number {
  mark.lastIndex = from;
  const found = mark.exec(html);
  const close = found ? html.indexOf('>', found.index) : -1;
  return close < 0 ? html.length : close + 1;
}

function openTag(writer: Writer, name: string, tag: string, base: string): void {
  const empty = tag.endsWith('/');
  if (writer.dropped !== undefined) {
    if (name === writer.dropped && !empty) writer.droppedDepth += 1;
    return;
  }
  if (DROPPED.has(name) && !empty) {
    writer.dropped = name;
    writer.droppedDepth = 1;
    return;
  }
  if (BLOCKS.has(name)) writer.out.push('\n\n');
  if (name === 'pre') writer.pre += 1;
  if (name === 'a') writer.href = linkOf(tag, base);
  writer.out.push(MARKS_OPEN[name] ?? '');
}

const MARKS_OPEN: Readonly<Record<string, string>> = {
  ...{ h1: '# ', h2: '## ', h3: '### ', h4: '#### ', h5: '##### ', h6: '###### ' },
  ...{ li: '\n- ', br: '\n', td: ' | ', th: ' | ', pre: '```\n', hr: '---', tr: '\n' },
};

function closeTag(writer: Writer, name: string): void {
  if (writer.dropped !== undefined) {
    if (name !== writer.dropped) return;
    writer.droppedDepth -= 1;
    if (writer.droppedDepth === 0) writer.dropped = undefined;
    return;
  }
  if (name === 'a' && writer.href !== undefined) {
    writer.out.push(` (${writer.href})`);
    writer.href = undefined;
  }
  if (name === 'pre') {
    writer.pre = Math.max(0, writer.pre - 1);
    writer.out.push('\n```');
  }
  if (BLOCKS.has(name)) writer.out.push('\n\n');
}

function linkOf(tag: string, base: string): string | undefined {
  const raw = /\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(tag);
  const target = decodeEntities(raw?.[1] ?? raw?.[2] ?? raw?.[3] ?? '').trim();
  if (target === '' || target.startsWith('#') || /^(?:javascript|data|mailto):/i.test(target)) return undefined;
  return URL.parse(target, base)?.href;
}

function writeText(writer: Writer, raw: string): void {
  if (raw === '' || writer.dropped !== undefined) return;
  const text = decodeEntities(raw);
  writer.out.push(writer.pre > 0 ? text : text.replace(/[\s\u00a0]+/g, ' '));
}

/** Each name with its sign. */
const NAMED = new Map(
  [
    ...'amp& lt< gt> quot" apos\' nbsp\u00a0 copy© reg® trade™ hellip… mdash— ndash– lsquo‘ rsquo’ ldquo“ rdquo” bull• middot·'.split(
      ' ',
    ),
    ...'laquo« raquo» euro€ pound£ times× deg° para¶ sect§ larr← rarr→ auml\u00e4 ouml\u00f6 uuml\u00fc Auml\u00c4 Ouml\u00d6 Uuml\u00dc'.split(
      ' ',
    ),
    ...'szlig\u00df eacute\u00e9 egrave\u00e8 agrave\u00e0 ccedil\u00e7'.split(' '),
  ].map((entry) => [entry.slice(0, -1), entry.slice(-1)]),
);

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,10}));/g,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return NAMED.get(name) ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number.parseInt(decimal, 10);
      return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
        ? String.fromCodePoint(code)
        : '\uFFFD';
    },
  );
}

function tidy(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replace(/\u00a0/g, ' ').trimEnd())
    .map((line) => (/^ \S/.test(line) ? line.slice(1) : line))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
