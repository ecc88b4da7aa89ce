// Owns signing in to a server (OAuth 2.1, by the library): what is kept of it in `mcp-tokens/NAME.json`, and the loopback address that a browser comes
// back to. Knows no connection. Invariants: what is kept is private, and goes to the address and the issuer alone that it was given for; no token is
// in a log or a message; where nobody can sign in nothing is registered and no login begins.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import { atomicWrite } from '#base/atomic-write.ts';
import { TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import { readIfThere } from '#base/platform.ts';
import type { Ground } from '#core/agent/room.ts';
import type { McpServer, ServerConfig } from './servers.ts';

/** Takes a person to an address. */
export interface Authorize {
  readonly show: (address: string) => void;
  /** Where he can paste the address that his browser ended at. */
  readonly ask?: ((question: string) => Promise<string>) | undefined;
  readonly signal: AbortSignal;
}

export interface ServerTokens {
  readonly provider: OAuthClientProvider;
  /** What the browser came back with, once; undefined: no login has begun. */
  readonly answer: () => Promise<URLSearchParams | undefined>;
  readonly close: () => void;
}

export const tokenFile = (home: string, name: string): string => join(home, 'mcp-tokens', `${name}.json`);

/** Undefined: there is nothing to sign in with, and nobody to do it. */
export async function openTokens(
  { places, variables }: Ground,
  { name }: McpServer,
  { url = '', oauth }: ServerConfig,
  authorize?: Authorize,
): Promise<ServerTokens | undefined> {
  const path = tokenFile(places.home, name);
  if (!authorize && !existsSync(path)) return undefined;
  const read = parseJsonObject(readIfThere(path) ?? '{}');
  // Of another address than this one nothing is given; the library looks at the issuer, which it writes into each.
  let kept: JsonObject = read.ok && read.value.url === url ? read.value : { url };
  const keep = (changed: object) => {
    kept = { ...kept, ...changed };
    atomicWrite(path, `${JSON.stringify(kept)}\n`);
  };
  // That of the last login: a client that registered itself did so with it.
  const loopback = authorize && (await openLoopback(oauth.redirect_port || Number(kept.port ?? 0)));
  const redirectUrl = `http://127.0.0.1:${loopback?.port ?? 0}/callback`;
  const state = randomHex(16);
  let verifier = '';
  let pending: Promise<URLSearchParams> | undefined;
  const { client_id: id, client_secret: secret, scope } = oauth;
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: {
      ...{ client_name: 'Talaria', redirect_uris: [redirectUrl], response_types: ['code'] },
      grant_types: ['authorization_code', 'refresh_token'],
      ...(scope ? { scope } : {}),
    },
    state: () => state,
    clientInformation: () =>
      id ? { client_id: id, ...(secret ? { client_secret: secret } : {}) } : (kept.client as never),
    ...(id ? {} : { saveClientInformation: (client) => keep({ client, port: loopback?.port }) }),
    tokens: () => kept.tokens as never,
    saveTokens: (tokens) => keep({ tokens }),
    saveCodeVerifier: (text) => {
      verifier = text;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState: (discovery) => keep({ discovery }),
    discoveryState: () => kept.discovery as never,
    invalidateCredentials: (what) =>
      keep(what === 'all' ? { client: undefined, tokens: undefined, discovery: undefined } : { [what]: undefined }),
    redirectToAuthorization: ({ href }) => {
      if (!authorize || !loopback)
        throw new TalariaError(`it wants a login: talaria mcp login ${name}`, { code: 'login' });
      authorize.show(href);
      const [program, ...args] = (variables.BROWSER ?? '').split(' ');
      const options = { stdio: 'ignore', detached: true } as const;
      if (program) spawn(program, [...args, href], options).on('error', ({ message }) => authorize.show(message));
      pending = Promise.race([loopback.came, pasted(authorize)]).then((answer) => {
        if (answer.get('state') === state) return answer;
        throw new TalariaError('the answer belongs to another login', { code: 'login' });
      });
      pending.catch(() => undefined);
    },
  };
  const answer = async () => {
    const got = pending;
    pending = undefined;
    return got;
  };
  return { provider, answer, close: () => loopback?.close() };
}

async function openLoopback(port: number) {
  const came = Promise.withResolvers<URLSearchParams>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (pathname !== '/callback') return response.writeHead(404).end();
    response.end('Talaria has the answer; this page can be closed.\n');
    came.resolve(searchParams);
  });
  const listen = (at: number) =>
    new Promise<void>((resolve, reject) => server.once('error', reject).listen(at, '127.0.0.1', resolve));
  await listen(port).catch(() => listen(0)); // taken: then another one
  const { port: open } = server.address() as AddressInfo;
  return { port: open, came: came.promise, close: () => void server.close().closeAllConnections() };
}

const PASTE = 'If the browser does not come back here, paste the address that it ended at:';

/** Where nothing is pasted, the browser alone is waited for. */
function pasted({ ask, signal }: Authorize): Promise<URLSearchParams> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    const take = (said: string) => URL.canParse(said.trim()) && resolve(new URL(said.trim()).searchParams);
    ask?.(PASTE).then(take, reject);
  });
}
