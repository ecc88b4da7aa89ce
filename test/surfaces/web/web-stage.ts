/** The pages as `talaria serve` has them, in a home of its own, and a visitor with a cookie. */
import { request } from 'node:http';
import type { TestContext } from 'node:test';
import { spokenSurface } from '#surfaces/cli/surface-commands.ts';
import { webPart } from '#surfaces/web/commands.ts';
import type { ServerStep } from '#testing/scripted-server.ts';
import { KEY, type Served, type ServeOptions, startServe } from '../api/serve-stage.ts';

/** A browser that was let in. */
export interface Visit {
  readonly cookie: string;
  get(path: string, init?: RequestInit): Promise<Response>;
  text(path: string): Promise<string>;
  /** A form of the page at `from`. */
  post(from: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Response>;
}

export interface Site extends Served, Visit {}

export const page = webPart(async (words, seat) => {
  const seated = { isScreen: false, version: '', parts: async () => [], ...seat };
  return (await spokenSurface(words)?.(seated)) ?? [];
});

export async function startSite(
  t: TestContext,
  steps: readonly ServerStep[] = [],
  options: ServeOptions = {},
): Promise<Site> {
  const served = await startServe(t, steps, { ...options, parts: [page] });
  return { ...served, ...(await startVisit(served.url)) };
}

export async function startVisit(url: string): Promise<Visit> {
  const entered = await fetch(`${url}/?key=${KEY}`, { redirect: 'manual' });
  const cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const get: Visit['get'] = (path, { headers, ...init } = {}) =>
    fetch(url + path, { redirect: 'manual', ...init, headers: { cookie, ...headers } });
  const text: Visit['text'] = async (path) => (await get(path)).text();
  return {
    cookie,
    get,
    text,
    post: async (from, fields, headers = {}) => {
      const token = /name="token" value="(\w+)"/.exec(await text(from))?.[1] ?? '';
      return get('/act', {
        method: 'POST',
        body: new URLSearchParams({ token, ...fields }),
        headers: { origin: url, referer: url + from, ...headers },
      });
    },
  };
}

/** A GET under any Host, which fetch does not allow. */
export function asHost(url: string, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

/** Looks until it is so; events come from another part of the same process. */
export async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (let round = 0; round < 400; round++) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('it did not come');
}
