// Owns the web_search tool: one question to the search engine that the configuration names, and its hits as text that reads well. Four engines
// differ by a row of a table. Knows no page behind a hit. Invariants: the key goes in a header, never into an address, and to no other host
// than the one that was named (no redirect is followed); an address stands once among the hits; what fails is said in one line.
import type { z } from 'zod';
import { deadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { oneLine } from '#base/text.ts';
import { defineTool, type ToolOutput } from '#core/agent/tool.ts';
import { type HttpAnswer, type HttpRequest, sendRequest } from '#core/model/providers/http-request.ts';
import { WEB_SEARCH } from './tool-cards.ts';
import { htmlText } from './web-fetch-tool.ts';

export interface WebSearchOptions extends Pick<HttpRequest, 'proxies'> {
  readonly backend: keyof typeof BACKENDS;
  /** Where it is, without its path; empty: its own public address. It may be private: the owner named it. */
  readonly baseUrl: string;
  /** Empty: none is sent. */
  readonly apiKey: string;
}

interface Backend {
  readonly baseUrl: string;
  readonly path: string;
  readonly auth: (key: string) => Readonly<Record<string, string>>;
  /** In the address. */
  readonly query?: (query: string, limit: number) => Readonly<Record<string, string>>;
  readonly body?: (query: string, limit: number) => JsonObject;
  /** Where the hits stand in the answer. */
  readonly hits: (answer: JsonObject) => JsonValue | undefined;
  /** Field of a hit with its text. */
  readonly text: string;
  /** What a refusal of the key or of the form means. */
  readonly refused?: string;
}

const MOST_CHARS = 500;
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

const BACKENDS = {
  searxng: {
    ...{ baseUrl: '', path: '/search', text: 'content', hits: ({ results }) => results },
    auth: bearer,
    query: (q) => ({ q, format: 'json' }),
    refused: 'it may give no JSON: add json to search.formats in its settings.yml',
  },
  brave: {
    ...{ baseUrl: 'https://api.search.brave.com', path: '/res/v1/web/search', text: 'description' },
    auth: (key) => ({ 'x-subscription-token': key }),
    query: (q, limit) => ({ q, count: `${limit}`, text_decorations: 'false' }),
    hits: ({ web }) => (isJsonObject(web) ? web.results : web),
  },
  tavily: {
    ...{ baseUrl: 'https://api.tavily.com', path: '/search', text: 'content', hits: ({ results }) => results },
    auth: bearer,
    body: (query, limit) => ({ query, max_results: limit }),
  },
  exa: {
    ...{ baseUrl: 'https://api.exa.ai', path: '/search', text: 'text', hits: ({ results }) => results },
    auth: (key) => ({ 'x-api-key': key }),
    body: (query, limit) => ({ query, numResults: limit, contents: { text: { maxCharacters: MOST_CHARS } } }),
  },
} as const satisfies Readonly<Record<string, Backend>>;

interface Question {
  readonly query: string;
  readonly limit: number;
  readonly backend: Backend;
  readonly options: WebSearchOptions;
}

export function createWebSearchTool(options: WebSearchOptions) {
  const backend: Backend = BACKENDS[options.backend];
  return defineTool<z.infer<typeof WEB_SEARCH.input>>({
    ...WEB_SEARCH,
    summary: ({ query }) => `search ${query}`,
    run: async ({ query, limit = 5 }, { clock }, signal) => {
      const found = await search({ query, limit, backend, options }, clock, signal);
      if (!found.ok) return { text: `${options.backend}: ${found.detail}`, isError: true, origin: 'observed' };
      return shown(found.value.slice(0, limit), query);
    },
  });
}

const SECONDS = 20;
const MOST_BYTES = 2_000_000;

function failure(message: string): TalariaError {
  return new TalariaError(message, { code: 'search-failed' });
}

async function search(question: Question, clock: Clock, signal: AbortSignal): Promise<Result<readonly string[]>> {
  const limit = deadline(clock, signal, SECONDS * 1_000, () => failure(`no answer within ${SECONDS} s`));
  const { backend } = question;
  try {
    const answer = await ask(question, limit.signal);
    const fault = faultOf(answer, backend);
    if (fault !== undefined) return refuse('search-failed', fault);
    const read = parseJson(await answer.text());
    if (read.ok && isJsonObject(read.value)) return ok(hitsOf(backend.hits(read.value), backend));
    return refuse('search-failed', 'it answered with no JSON; see web.search.base_url in config.yaml');
  } catch (error) {
    if (signal.aborted) throw error;
    return refuse('search-failed', `it could not be asked: ${oneLine(errorText(error), 200)}`);
  } finally {
    limit.clear();
  }
}

function ask({ query, limit, backend, options }: Question, signal: AbortSignal): Promise<HttpAnswer> {
  const { apiKey, proxies, baseUrl } = options;
  const address = new URL(`${(baseUrl || backend.baseUrl).replace(/\/+$/, '')}${backend.path}`);
  for (const [name, value] of Object.entries(backend.query?.(query, limit) ?? {}))
    address.searchParams.set(name, value);
  const body = backend.body && { body: JSON.stringify(backend.body(query, limit)) };
  const huge = new AbortController();
  let size = 0;
  return sendRequest(address.href, {
    ...{ method: body ? 'POST' : 'GET', headerBytes: 65_536, preliminary: 8, ...body, ...(proxies ? { proxies } : {}) },
    headers: {
      ...{ 'user-agent': 'talaria', accept: 'application/json', ...(apiKey === '' ? {} : backend.auth(apiKey)) },
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    signal: AbortSignal.any([signal, huge.signal]),
    onSent: () => undefined,
    onBytes: (bytes) => {
      size += bytes.length;
      if (size > MOST_BYTES) huge.abort(failure('its answer is too large'));
    },
  });
}

function faultOf({ status, headers }: HttpAnswer, { refused }: Backend): string | undefined {
  const said = `(HTTP ${status})`;
  if (status === 401 || status === 403) return `refused ${said}; ${refused ?? 'see web.search.api_key in config.yaml'}`;
  if (status === 429) return `too many searches ${said}; try again in ${Number(headers.get('retry-after')) || 60} s`;
  if ([402, 432, 433].includes(status)) return `its plan is used up ${said}`;
  if (status >= 300 && status < 400) return `it is somewhere else ${said}; see web.search.base_url in config.yaml`;
  return status >= 400 ? `it failed ${said}` : undefined;
}

/** Title, address and excerpt of each, an address once. */
function hitsOf(found: JsonValue | undefined, { text }: Backend): readonly string[] {
  const hits = new Map<string, string>();
  for (const hit of Array.isArray(found) ? found.filter(isJsonObject) : []) {
    const url = URL.parse(String(hit.url));
    if (!url || !/^https?:$/.test(url.protocol)) continue;
    const [title, excerpt] = [hit.title, hit[text]].map((value) =>
      typeof value === 'string' ? oneLine(htmlText(value, url.href).text, MOST_CHARS) : '',
    );
    const key = `${url.host}${url.pathname.replace(/\/$/, '')}${url.search}`;
    const lines = [title || url.href, url.href, excerpt].filter((line) => line !== '');
    if (!hits.has(key)) hits.set(key, lines.join('\n'));
  }
  return [...hits.values()];
}

function shown(hits: readonly string[], query: string): ToolOutput {
  if (hits.length === 0) return { text: `Nothing was found for ${JSON.stringify(query)}.`, origin: 'observed' };
  return { text: hits.map((hit, at) => `${at + 1}. ${hit}`).join('\n\n') };
}
