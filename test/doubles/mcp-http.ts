/** The double of mcp-server.ts over HTTP, on the loopback: as it is, or behind a login (OAuth) that checks what it is given. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Teardown } from '#testing/temp-home.ts';
import { buildServer } from './mcp-server.ts';

export interface McpHttp {
  readonly url: string;
  /** Of each request to the server itself. */
  readonly headers: IncomingHttpHeaders[];
  /** Grants so far: `authorization_code`, `refresh_token`. */
  readonly grants: string[];
  /** What was given out counts no more. */
  expire(): void;
}

const json = (value: object, status = 200) => Response.json(value, { status });

export async function startMcpHttp(context: Teardown, { login = false, metadata = true } = {}): Promise<McpHttp> {
  const handler = createMcpHandler(buildServer);
  const seen: McpHttp = { url: '', headers: [], grants: [], expire: () => void valid.clear() };
  const valid = new Set<string>();
  const challenges = new Map<string, string>();
  const answers: Record<string, (request: Request, origin: string) => Promise<Response> | Response> = {
    '/mcp': (request, origin) => {
      seen.headers.push(Object.fromEntries(request.headers));
      if (!login || valid.has(request.headers.get('authorization') ?? '')) return handler.fetch(request);
      const where = metadata ? `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource"` : 'Bearer';
      return new Response('no', { status: 401, headers: { 'www-authenticate': where } });
    },
    '/.well-known/oauth-protected-resource': (_, origin) =>
      json({ resource: `${origin}/mcp`, authorization_servers: [origin] }),
    '/.well-known/oauth-authorization-server': (_, origin) =>
      json({
        ...{ issuer: origin, authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token` },
        ...{ registration_endpoint: `${origin}/register`, response_types_supported: ['code'] },
        ...{ code_challenge_methods_supported: ['S256'], token_endpoint_auth_methods_supported: ['none'] },
      }),
    '/register': async (request) => json({ ...Object(await request.json()), client_id: 'talaria-1' }, 201),
    '/authorize': (request) => {
      const asked = new URL(request.url).searchParams;
      const back = new URL(asked.get('redirect_uri') ?? '');
      challenges.set('code-1', asked.get('code_challenge') ?? '');
      back.search = new URLSearchParams({ code: 'code-1', state: asked.get('state') ?? '' }).toString();
      return new Response(null, { status: 302, headers: { location: back.href } });
    },
    '/token': async (request) => {
      const given = new URLSearchParams(await request.text());
      const verifier = createHash('sha256')
        .update(given.get('code_verifier') ?? '')
        .digest('base64url');
      const isGood = given.get('refresh_token') === 'again' || challenges.get(given.get('code') ?? '') === verifier;
      if (!isGood) return json({ error: 'invalid_grant' }, 400);
      seen.grants.push(given.get('grant_type') ?? '');
      const token = `token-${seen.grants.length}`;
      valid.add(`Bearer ${token}`);
      return json({ access_token: token, token_type: 'Bearer', expires_in: 3_600, refresh_token: 'again' });
    },
  };
  const listener = getRequestListener(async (request) => {
    const { pathname, origin } = new URL(request.url);
    const answer = metadata || pathname === '/mcp' ? answers[pathname] : undefined;
    return (await answer?.(request, origin)) ?? new Response('nothing here', { status: 404 });
  });
  const server = createServer((...both) => void listener(...both));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await handler.close();
  });
  return Object.assign(seen, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` });
}
