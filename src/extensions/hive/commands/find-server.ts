// Owns what stands before a sign-in: what a typed user and server mean, one request to a server that nobody is signed in to yet, what its
// refusals mean, and finding where it is reached (client-server API, server discovery). Invariants: nothing but https leaves the private
// network, so no password ever does in clear, and a password follows no redirect; no error holds what was sent; the server's own words are
// quoted, short and on one line; nothing is tried twice.

import { isIP } from 'node:net';
import { throwIfAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { exchangeOnce, readAnswer } from '../matrix/matrix-http.ts';
import { PeerError, type PeerErrorCode } from '../peer.ts';
import { shownLine } from './with-peers.ts';

export interface TypedUser {
  readonly name: string;
  /** Absent: the server that is signed in to knows. */
  readonly server?: string;
}

const WHOLE = /^@([^:\s@]+):([^\s/@]+)$/;
const SHOWN = /^([^:\s@]+)@([^\s/@]+)$/;
const ALONE = /^@?([^:\s@]+)$/;

export function readUser(typed: string): Result<TypedUser, 'user-invalid'> {
  const text = typed.trim();
  const [, name, server] = WHOLE.exec(text) ?? SHOWN.exec(text) ?? ALONE.exec(text) ?? [];
  if (name === undefined) return refuse('user-invalid', `${text === '' ? 'nothing' : text} is no user of a server`);
  return ok(server === undefined ? { name } : { name, server });
}

/** Do both mean one user? `userId`: `@name:server`. Servers write names and themselves in small letters. */
export function isUser({ name, server }: TypedUser, userId: string): boolean {
  const wanted = `@${name}:${server ?? ''}`.toLowerCase();
  const given = userId.toLowerCase();
  return server === undefined ? given.startsWith(wanted) : given === wanted;
}

export type TypedAddress =
  | { readonly kind: 'name'; readonly name: string }
  /** `isOpen`: http, on this machine or in a private network. */
  | { readonly kind: 'url'; readonly url: string; readonly isOpen: boolean };

export type AddressRefusal = 'address-invalid' | 'address-unprotected';

const NAME = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** `https://HOST`, `http://HOST` of a private network, or the name of a server. No slash at the end of what it gives. */
export function readAddress(typed: string): Result<TypedAddress, AddressRefusal> {
  const text = typed.trim();
  if (NAME.test(text)) return ok({ kind: 'name', name: text.toLowerCase() });
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || !/^https?:\/\//i.test(text))
    return refuse('address-invalid', `${text === '' ? 'nothing' : text} is no address of a server`);
  if (url.username || url.password || url.search || url.hash)
    return refuse('address-invalid', 'an address of a server holds no user, no password, no ? and no #');
  const isOpen = url.protocol === 'http:';
  if (isOpen && !isPrivateHost(url.hostname))
    return refuse('address-unprotected', `http to ${url.hostname} would send your password readable over the network`);
  return ok({ kind: 'url', url: url.href.replace(/\/+$/, ''), isOpen });
}

const PRIVATE_V4 = [/^127\./, /^10\./, /^192\.168\./, /^169\.254\./, /^172\.(?:1[6-9]|2\d|3[01])\./];
const PRIVATE_NAME = /^[^.]+$|\.(?:localhost|local|internal|lan|home\.arpa)$/i;

/** A loopback or private address, or a name that only a private network knows: one word, or an ending kept for that. */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  switch (isIP(host)) {
    case 4:
      return PRIVATE_V4.some((range) => range.test(host));
    case 6:
      return host === '::1' || /^f[cd][0-9a-f]{2}:/i.test(host) || /^fe[89ab][0-9a-f]:/i.test(host);
    default:
      return PRIVATE_NAME.test(host);
  }
}

export interface ServerQuestion {
  readonly method: 'GET' | 'POST';
  /** Whole address. */
  readonly url: string;
  readonly body?: JsonObject;
  readonly token?: string;
}

export interface ServerReply {
  readonly status: number;
  readonly body: JsonObject;
}

/** Throws PeerError when there is no answer, or one that is no JSON object. */
export type AskServer = (question: ServerQuestion) => Promise<ServerReply>;

const MOST_BYTES = 1_048_576;
const CHECK = 'Check the address (https or http, and the port), and that a Matrix server runs there.';

export function createAskServer(clock: Clock, signal: AbortSignal): AskServer {
  return async (question) => {
    const { method, url, token } = question;
    const redirect = method === 'POST' || token !== undefined ? 'manual' : 'follow';
    try {
      const { response, text } = await exchangeOnce(clock, { ...question, redirect, maxBytes: MOST_BYTES }, signal);
      return { status: response.status, body: bodyOf(response.status, text, new URL(url).origin) };
    } catch (error) {
      throwIfAborted(signal);
      throw error instanceof PeerError ? forTyped(error) : error;
    }
  };
}

function bodyOf(status: number, text: string, server: string): JsonObject {
  const parsed = parseJsonObject(text);
  if (parsed.ok) return parsed.value;
  if (status < 500) return readAnswer(text, server);
  const options = { code: 'peers-server-error', status, retryable: true } as const;
  throw new PeerError(`${server} has a fault (HTTP ${status})`, options);
}

/** What was typed is at fault here, not a variable. */
function forTyped({ code, message, retryable, cause, status }: PeerError): PeerError {
  return new PeerError(message, {
    code: code as PeerErrorCode,
    retryable,
    fix: code === 'peers-server-error' ? 'Try again later.' : CHECK,
    ...(cause === undefined ? {} : { cause }),
    ...(status === undefined ? {} : { status }),
  });
}

interface Meaning {
  readonly code: PeerErrorCode;
  readonly fix: string;
}

const MEANINGS: Readonly<Record<string, Meaning>> = {
  M_USER_IN_USE: { code: 'peers-forbidden', fix: 'Leave --register out to sign in, or take another name.' },
  M_EXCLUSIVE: { code: 'peers-forbidden', fix: 'Take another name: this one is kept for something else.' },
  M_INVALID_USERNAME: { code: 'peers-forbidden', fix: 'A name has small letters, digits and . _ - = / only.' },
  M_WEAK_PASSWORD: { code: 'peers-forbidden', fix: 'Choose a longer password.' },
  M_USER_DEACTIVATED: { code: 'peers-forbidden', fix: 'The account was closed: make another one with --register.' },
  M_UNKNOWN_TOKEN: { code: 'peers-auth', fix: 'Sign in again: talaria peers login URL USER' },
  M_LIMIT_EXCEEDED: { code: 'peers-rate-limited', fix: 'Wait a little, then try again.' },
};

const WRONG_PASSWORD = 'Check user and password; --register makes a new account.';
const CLOSED = 'Ask whoever runs the server for an account, or for a registration token (MATRIX_REGISTRATION_TOKEN).';

/** @param doing what it does not do, after `URL does not` */
export function serverRefusal({ status, body }: ServerReply, url: string, doing: string, registers = false): PeerError {
  const name = typeof body.errcode === 'string' ? body.errcode : '';
  const said = typeof body.error === 'string' ? `: ${shownLine(body.error, 200)}` : '';
  const meaning = Object.hasOwn(MEANINGS, name) ? MEANINGS[name] : undefined;
  const { code, fix } = meaning ?? byStatus(status, registers);
  return new PeerError(`${url} does not ${doing}${said} (${shownLine(name || `HTTP ${status}`, 60)})`, {
    code,
    status,
    fix: withWait(fix, body.retry_after_ms),
  });
}

function byStatus(status: number, registers: boolean): Meaning {
  if (status === 429) return { code: 'peers-rate-limited', fix: 'Wait a little, then try again.' };
  if (status >= 500) return { code: 'peers-server-error', fix: 'Try again later.' };
  if (status === 401 || status === 403) return { code: 'peers-auth', fix: registers ? CLOSED : WRONG_PASSWORD };
  return { code: 'peers-bad-response', fix: 'Check the address, and that it is a Matrix server.' };
}

function withWait(fix: string, ms: unknown): string {
  return typeof ms === 'number' && ms > 0 && ms < 86_400_000 ? `${fix} It asks for ${Math.ceil(ms / 1_000)} s.` : fix;
}

export interface FoundServer {
  /** Without a slash at its end. */
  readonly url: string;
  /** http: what is sent can be read by whoever is on the way. */
  readonly isOpen: boolean;
}

/** Throws PeerError when nobody answers there, or no Matrix server. */
export async function findServer(typed: string, ask: AskServer): Promise<Result<FoundServer, AddressRefusal>> {
  const address = readAddress(typed);
  if (!address.ok) return address;
  const found = await resolveAddress(address.value, ask);
  if (!found.ok) return found;
  const { status, body } = await ask({ method: 'GET', url: `${found.value.url}/_matrix/client/versions` });
  if (status === 200 && Array.isArray(body.versions)) return found;
  throw new PeerError(`${found.value.url} is no Matrix server (HTTP ${status})`, {
    code: 'peers-bad-response',
    status,
    fix: 'Type the address of the server itself, for instance https://matrix.example.org.',
  });
}

async function resolveAddress(address: TypedAddress, ask: AskServer): Promise<Result<FoundServer, AddressRefusal>> {
  if (address.kind === 'url') return ok({ url: address.url, isOpen: address.isOpen });
  const told = await wellKnown(`https://${address.name}`, ask);
  if (told === undefined) return ok({ url: `https://${address.name}`, isOpen: false });
  const read = readAddress(told);
  // A name that is asked over https does not lead to where everybody reads along.
  if (read.ok && read.value.kind === 'url' && !read.value.isOpen) return ok({ url: read.value.url, isOpen: false });
  const detail = `${address.name} says that its server is at ${told}, and that cannot be used`;
  return refuse(read.ok ? 'address-invalid' : read.reason, detail);
}

/** What a server name says of where its server is; undefined when it says nothing. */
async function wellKnown(origin: string, ask: AskServer): Promise<string | undefined> {
  try {
    const { status, body } = await ask({ method: 'GET', url: `${origin}/.well-known/matrix/client` });
    const told = status === 200 ? body['m.homeserver'] : undefined;
    const url = typeof told === 'object' && told !== null && 'base_url' in told ? told.base_url : undefined;
    return typeof url === 'string' ? url : undefined;
  } catch (error) {
    // Nothing there, or a page: the server may still be at its own name.
    if (error instanceof PeerError) return undefined;
    throw error;
  }
}
