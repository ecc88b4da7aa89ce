// Owns what an endpoint of the fake homeserver is given and gives back, the way from a request to it (which one, signed in as whom, with which
// body), and reading fields of a body with the refusals of a real server. Knows no endpoint and no socket.
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { type Account, badRequest, type Device, MatrixFailure, type World, type WorldSession } from './world.ts';

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

const PIECE_CHARS = 65_536;

/** Pieces of about 64 Ki characters; what lies deeper than `depth` stays whole. */
export function* jsonPieces(value: JsonValue, depth = 3): Generator<string> {
  let held = '';
  for (const part of parts(value, depth)) {
    held += part;
    if (held.length < PIECE_CHARS) continue;
    yield held;
    held = '';
  }
  if (held !== '') yield held;
}

function* parts(value: JsonValue, depth: number): Generator<string> {
  if (depth === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) {
    yield JSON.stringify(value);
    return;
  }
  let before = '{';
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* parts(item, depth - 1);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

export interface Call {
  readonly world: World;
  /** Decoded values of the named segments of the path. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Empty for methods without a body. */
  readonly body: JsonObject;
  /** Aborts when the client goes away or the server stops. */
  readonly signal: AbortSignal;
}

export interface SignedCall extends Call {
  readonly account: Account;
  readonly device: Device;
  readonly accessToken: string;
}

/** For what is no 200 with an object. A class, so that no content of an event can look like one. */
export class Answer {
  readonly status: number;
  readonly body: JsonValue;

  constructor(status: number, body: JsonValue) {
    this.status = status;
    this.body = body;
  }
}

type Given = Answer | JsonObject;

interface RouteShape {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** After `/_matrix/client/<version>/`; `:name` takes one segment. A leading slash begins at the root instead. */
  readonly path: string;
  /** An empty body counts as `{}` where the server is not strict. */
  readonly emptyBody?: boolean;
}

export interface OpenRoute extends RouteShape {
  readonly open: (call: Call) => Given | Promise<Given>;
}

export interface SignedRoute extends RouteShape {
  readonly signed: (call: SignedCall) => Given | Promise<Given>;
}

export type Route = OpenRoute | SignedRoute;

/** Runs `act` once for a transaction id of this device and endpoint; afterwards the first answer is given again. */
export function once(call: SignedCall, key: string, act: () => JsonObject): JsonObject {
  const known = call.device.transactions.get(key);
  if (known) return known;
  const answer = act();
  call.device.transactions.set(key, answer);
  return answer;
}

/** @throws MatrixFailure 400 M_BAD_JSON when it is there and no text */
export function textField(body: JsonObject, field: string): string | undefined {
  const value = body[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw badRequest('M_BAD_JSON', `'${field}' must be a string`);
  return value;
}

/** @throws MatrixFailure 400 M_MISSING_PARAM, M_BAD_JSON */
export function neededText(body: JsonObject, field: string): string {
  const value = textField(body, field);
  if (value === undefined) throw badRequest('M_MISSING_PARAM', `Missing params: ['${field}']`);
  return value;
}

/** `{}` when absent. */
export function objectField(body: JsonObject, field: string): JsonObject {
  const value = body[field] ?? {};
  if (!isJsonObject(value)) throw badRequest('M_BAD_JSON', `'${field}' must be an object`);
  return value;
}

export function textList(body: JsonObject, field: string): readonly string[] {
  const value = body[field] ?? [];
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    throw badRequest('M_BAD_JSON', `'${field}' must be a list of strings`);
  }
  return value;
}

/** A whole number of the query, or undefined. */
export function numberQuery(query: Readonly<Record<string, string>>, field: string): number | undefined {
  const text = query[field];
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw badRequest('M_INVALID_PARAM', `Query parameter '${field}' must be an integer`);
  return Number(text);
}
