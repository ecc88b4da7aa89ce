// Owns the web_fetch tool: one page of the public web as text. It belongs to the toolset `web`, which no session has by default.
// Knows no other tool. Invariant: no address of this machine or its network is reached unless the configuration names the host; among
// foreign words no host is reached that was not allowed: an address can carry away what was read.
import { z } from 'zod';
import { deadline } from '#base/abort.ts';
import { TalariaError } from '#base/errors.ts';
import { headTail } from '#base/text.ts';
import { defineTool, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';
import { isTainted } from '#core/model/message.ts';
import { describeBinary } from '../file/text-file.ts';
import { OUTPUT_LIMITS } from '../output-limits.ts';
import { lenientInput } from '../registry/lenient-input.ts';
import { closedNote, createWallDesk } from '../terminal/openings.ts';
import type { FetchedPage } from './fetch-page.ts';
import { htmlText } from './html-text.ts';

export interface WebFetchOptions {
  /** Hosts with private addresses that may be reached, e.g. `wiki.local`. */
  readonly privateHosts?: readonly string[];
  /** Hosts that are reached without a question, as the configuration names them for commands. */
  readonly hosts?: readonly string[];
  /** Default 30. */
  readonly seconds?: number;
}

const input = lenientInput({ url: z.string().min(1) });

type FetchInput = z.infer<typeof input>;

export function createWebFetchTool(options: WebFetchOptions = {}) {
  return defineTool<FetchInput>({
    name: 'web_fetch',
    description: 'Fetch a web page as text.',
    input,
    toolset: 'web',
    effect: 'read',
    summary: ({ url }) => `fetch ${url}`,
    run: (request, context, signal) => fetchText(request.url, { options, context }, signal),
  });
}

interface Fetching {
  readonly options: WebFetchOptions;
  readonly context: ToolContext;
}

async function fetchText(url: string, { options, context }: Fetching, signal: AbortSignal): Promise<ToolOutput> {
  const { checkUrl, fetchPage } = await import('./fetch-page.ts');
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
  const { isHostNamed } = await import('../walls/proxy.ts');
  const target = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (protocol === 'https:' ? 443 : 80)) };
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
