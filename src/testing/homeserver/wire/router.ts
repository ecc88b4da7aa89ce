// Owns the way from a request to its endpoint: which one, signed in as whom, with which body. Knows no socket.
// Invariant: every answer is a JSON object with a status; nothing that an endpoint throws as MatrixFailure escapes.
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '#base/json.ts';
import type { World, WorldSession } from '../store/world.ts';
import { Answer, type Call, type Route } from './call.ts';
import { badRequest, MatrixFailure } from './matrix-failure.ts';

export interface RoutedRequest {
  readonly method: string;
  /** With its escapes. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

export interface RoutedAnswer {
  readonly status: number;
  readonly body: JsonValue;
  readonly headers: Readonly<Record<string, string>>;
}

export type Router = (request: RoutedRequest) => Promise<RoutedAnswer>;

interface Pattern {
  readonly route: Route;
  readonly segments: readonly string[];
}

const CLIENT = /^\/_matrix\/client\/(?:r0|v1|v3|unstable)\/(.*)$/;

export function createRouter(world: World, routes: readonly Route[]): Router {
  const patterns = routes.map((route) => ({ route, segments: route.path.split('/') }));
  return async (request) => {
    try {
      const { route, path } = findRoute(patterns, request);
      const given = await run(world, route, { request, path });
      const { status, body } = given instanceof Answer ? given : new Answer(200, given);
      return { status, body, headers: {} };
    } catch (error) {
      if (error instanceof MatrixFailure) return { status: error.status, body: error.body, headers: error.headers };
      throw error;
    }
  };
}

function findRoute(patterns: readonly Pattern[], { method, path }: RoutedRequest) {
  const rest = CLIENT.exec(path)?.[1] ?? path;
  const given = rest.split('/').map(decodeSegment);
  const fitting = patterns.filter(({ segments }) => fits(segments, given));
  if (fitting.length === 0) throw new MatrixFailure(404, 'M_UNRECOGNIZED', 'Unrecognized request');
  const found = fitting.find(({ route }) => route.method === method);
  if (!found) throw new MatrixFailure(405, 'M_UNRECOGNIZED', 'Unrecognized request');
  const named = found.segments.flatMap((segment, index) =>
    segment.startsWith(':') ? [[segment.slice(1), given[index] ?? ''] as const] : [],
  );
  return { route: found.route, path: Object.fromEntries(named) };
}

function fits(segments: readonly string[], given: readonly string[]): boolean {
  return (
    segments.length === given.length && segments.every((one, index) => one.startsWith(':') || one === given[index])
  );
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badRequest('M_INVALID_PARAM', 'The path has a broken escape');
  }
}

interface Found {
  readonly request: RoutedRequest;
  readonly path: Readonly<Record<string, string>>;
}

async function run(world: World, route: Route, { request, path }: Found) {
  const { query, signal } = request;
  if ('open' in route) return route.open({ world, path, query, signal, body: readBody(world, route, request) });
  const accessToken = tokenOf(request);
  const { account, device } = signedIn(world, accessToken);
  const call: Call = { world, path, query, signal, body: readBody(world, route, request) };
  return route.signed({ ...call, account, device, accessToken: accessToken ?? '' });
}

export function tokenOf({ headers, query }: Pick<RoutedRequest, 'headers' | 'query'>): string | undefined {
  const bearer = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
  return bearer ?? query.access_token;
}

function signedIn(world: World, accessToken: string | undefined): WorldSession {
  if (accessToken === undefined) throw new MatrixFailure(401, 'M_MISSING_TOKEN', 'Missing access token');
  const session = world.session(accessToken);
  if (session) return session;
  throw new MatrixFailure(401, 'M_UNKNOWN_TOKEN', 'Invalid access token passed.', { soft_logout: false });
}

function readBody(world: World, route: Route, { body, headers }: RoutedRequest): JsonObject {
  const { strict } = world.settings;
  if (route.method === 'GET') return {};
  if (body === '' && (route.method === 'DELETE' || (route.emptyBody && !strict))) return {};
  if (strict && !/^application\/json\b/i.test(headers['content-type'] ?? '')) {
    throw badRequest('M_NOT_JSON', 'Content-Type must be application/json');
  }
  const parsed = parseJson(body);
  if (!parsed.ok) throw badRequest('M_NOT_JSON', 'Content not JSON.');
  if (!isJsonObject(parsed.value)) throw badRequest('M_BAD_JSON', 'Content must be a JSON object.');
  return parsed.value;
}
