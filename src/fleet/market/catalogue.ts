// Owns the catalogue over HTTP: what anybody may read of a shop, and the doors to buy, to be delivered and to review. Knows no key and no key's content.
// Invariants: reading changes nothing and names nobody but sellers; what comes is bounded before it is read; a fault of the chain is told as one, and
// nothing is lost by it.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { errorText, TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { type JsonObject, type JsonValue, parseJson, parseJsonObject } from '#base/json.ts';
import { catalogueList, cataloguePage, type Page } from './catalogue-page.ts';
import type { Chain } from './chain.ts';
import { bloomOf, type Listing, wordsOf } from './listing.ts';
import { takeReview } from './review.ts';
import { type Answer, notFound, refused, type Shop } from './shop.ts';

export interface Catalogue {
  readonly address: string;
  close(): Promise<void>;
}

const MOST_BODY = 64 * 1024;
const PAGE = 50;
const JSON_TYPE = 'application/json; charset=utf-8';

/** Throws TalariaError `port-in-use`. */
export async function serveCatalogue(
  ground: { readonly shop: Shop; readonly chain: Chain },
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Catalogue> {
  const filters = new Filters(ground.shop);
  const server = createServer((request, response) => void serve(request, response, { ...ground, filters }));
  server.requestTimeout = 30_000;
  server.listen(port, host);
  await Promise.race([once(server, 'listening'), failedToListen(server, port)]);
  const at = server.address();
  const bound = typeof at === 'object' && at !== null ? at.port : port;
  return {
    address: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function failedToListen(server: Server, port: number): Promise<never> {
  const [cause] = await once(server, 'error');
  throw new TalariaError(`port ${port} cannot be listened at: ${errorText(cause)}`, {
    code: 'port-in-use',
    cause,
    fix: 'Give another one: talaria market serve --port N.',
  });
}

interface Ground {
  readonly shop: Shop;
  readonly chain: Chain;
  readonly filters: Filters;
}

interface Asked {
  readonly url: URL;
  /** What stands for `:id` in the path. */
  readonly id: string;
  readonly payment?: string;
  readonly body: JsonObject;
}

type Route = (asked: Asked, ground: Ground) => Answer | string | Promise<Answer | string>;

/** Each path once; `:id` is one segment. A string is a page, or text where the path says so. */
const ROUTES: Readonly<Record<string, Route>> = {
  'GET /': ({ url }, { shop }) => catalogueList(listed(shop, url), url.searchParams.get('category') ?? undefined),
  'GET /skills/:id': ({ id }, { shop }) => {
    const listing = onSale(shop, id);
    return listing === undefined ? notFound(id) : cataloguePage(listing, shop.price(listing), shop.rows.reviews(id));
  },
  'GET /api/v1/skills': ({ url }, { shop }) => found({ ...listed(shop, url) }),
  'GET /api/v1/skills/:id': ({ id }, { shop }) => {
    const listing = onSale(shop, id);
    if (listing === undefined) return notFound(id);
    const reviews = shop.rows.reviews(id).flatMap((one) => known(one));
    return found({ listing: plain(listing), price: String(shop.price(listing)), reviews });
  },
  'GET /api/v1/skills/:id/preview': ({ id }, { shop }) => {
    const listing = onSale(shop, id);
    return listing === undefined ? notFound(id) : found({ preview: listing.preview });
  },
  'GET /api/v1/sellers/:id': ({ id }, { shop }) => found(shop.rows.seller(id)),
  'GET /api/v1/categories': (_, { shop }) => found({ categories: shop.rows.categories().map((one) => ({ ...one })) }),
  'GET /api/v1/filter': (_, { filters }) => found(filters.now()),
  'POST /api/v1/skills/:id/purchase': ({ url, id, body, payment }, { shop }) =>
    shop.purchase(id, { url: url.href, box: body.box, ...(payment === undefined ? {} : { payment }) }),
  'GET /api/v1/deliver/:id': ({ url, id }, { shop }) => {
    const [listing, box] = [url.searchParams.get('listing'), url.searchParams.get('box')];
    return shop.deliver(id, { ...(listing === null ? {} : { listing }), ...(box === null ? {} : { box }) });
  },
  'POST /api/v1/carry': ({ body }, { shop }) => shop.carry(body),
  'POST /api/v1/reviews': ({ body }, { shop, chain }) => takeReview({ chain, rows: shop.rows }, body),
};

function known(json: string): readonly JsonValue[] {
  const read = parseJson(json);
  return read.ok ? [read.value] : [];
}

function found(body: JsonObject): Answer {
  return { status: 200, body };
}

function plain(listing: Listing): JsonValue {
  return { ...listing } as unknown as JsonValue;
}

function onSale(shop: Shop, id: string): Listing | undefined {
  const lot = shop.rows.lot(id);
  return lot === undefined || lot.withdrawn || !lot.onChain ? undefined : lot.listing;
}

/** A page of them, the newest first. */
function listed(shop: Shop, url: URL): Page {
  const category = url.searchParams.get('category');
  const [, at, id] = /^(\d{1,16})-(0x[0-9a-f]{64})$/.exec(url.searchParams.get('before') ?? '') ?? [];
  const found = shop.rows.listings({
    limit: PAGE,
    ...(category === null ? {} : { category }),
    ...(at === undefined || id === undefined ? {} : { before: [Number(at), id] as const }),
  });
  const last = found.at(-1);
  return {
    listings: found.map(plain),
    prices: Object.fromEntries(found.map((one) => [one.id, String(shop.price(one))])),
    next: found.length < PAGE || last === undefined ? '' : `${last.listed_at}-${last.id}`,
  };
}

/** The words of all that is on sale, kept until that changes. */
class Filters {
  readonly #shop: Shop;
  #made: { readonly stamp: string; readonly filter: JsonObject } | undefined;

  constructor(shop: Shop) {
    this.#shop = shop;
  }

  now(): JsonObject {
    const { rows } = this.#shop;
    const stamp = rows.stamp();
    if (this.#made?.stamp !== stamp) {
      const key = randomHex(16);
      const words = new Set(rows.listings({ limit: 1_000_000 }).flatMap((one) => wordsOf(one)));
      this.#made = { stamp, filter: { key, filter: bloomOf(words, key) } };
    }
    return this.#made.filter;
  }
}

async function serve(request: IncomingMessage, response: ServerResponse, ground: Ground): Promise<void> {
  const answer = await answerTo(request, ground).catch((error: unknown) => faultOf(error));
  if (typeof answer === 'string') {
    const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(answer) ?? [];
    response.writeHead(200, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy,
      'X-Content-Type-Options': 'nosniff',
    });
    response.end(request.method === 'HEAD' ? undefined : answer);
    return;
  }
  response.writeHead(answer.status, {
    'Content-Type': JSON_TYPE,
    'X-Content-Type-Options': 'nosniff',
    ...answer.headers,
  });
  response.end(request.method === 'HEAD' ? undefined : JSON.stringify(answer.body));
}

async function answerTo(request: IncomingMessage, ground: Ground): Promise<Answer | string> {
  const url = URL.parse(request.url ?? '/', `http://${request.headers.host ?? 'localhost'}`);
  if (url === null) return refused(400, 'bad-address', 'This is no address.');
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const paths = Object.entries(ROUTES).flatMap(([key, route]) => {
    const [verb = '', path = ''] = key.split(' ');
    const id = idIn(path, url.pathname);
    return id === undefined ? [] : [{ verb, route, id }];
  });
  const matching = paths.find(({ verb }) => verb === method);
  if (matching === undefined) {
    return paths.length === 0
      ? refused(404, 'no-such-page', 'There is no such page.')
      : refused(405, 'no-such-method', `Use ${paths.map(({ verb }) => verb).join(', ')}.`);
  }
  const body = method === 'POST' ? await bodyOf(request) : {};
  if (body === undefined) return refused(413, 'body-invalid', `A JSON object of up to ${MOST_BODY} bytes is needed.`);
  const payment = request.headers['payment-signature'];
  return matching.route({ url, id: matching.id, body, ...(typeof payment === 'string' ? { payment } : {}) }, ground);
}

/** Empty where the path names none. */
function idIn(path: string, asked: string): string | undefined {
  const [wanted, given] = [path.split('/'), asked.split('/')];
  if (wanted.length !== given.length) return undefined;
  const isIt = wanted.every((part, at) => part === ':id' || part === given[at]);
  return isIt ? (given[wanted.indexOf(':id')] ?? '') : undefined;
}

async function bodyOf(request: IncomingMessage): Promise<JsonObject | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += part.length;
    if (bytes > MOST_BODY) return undefined;
    parts.push(part);
  }
  const read = parseJsonObject(bytes === 0 ? '{}' : Buffer.concat(parts).toString('utf8'));
  return read.ok ? read.value : undefined;
}

function faultOf(error: unknown): Answer {
  const isKnown = error instanceof TalariaError;
  return refused(
    503,
    isKnown ? error.code : 'fault',
    isKnown ? error.message : 'Something failed here; what was paid is not lost.',
  );
}
