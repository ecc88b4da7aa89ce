// Owns finding where a server is reached (client-server API, server discovery), and that it is one. Asks without signing in.
import { ok, type Result, refuse } from '#base/result.ts';
import { PeerError } from '../../peers/peer-error.ts';
import type { AskServer } from './ask-server.ts';
import { type AddressRefusal, readAddress, type TypedAddress } from './read-address.ts';

export interface FoundServer {
  /** Without a slash at its end. */
  readonly url: string;
  /** http: what is sent can be read by whoever is on the way. */
  readonly isOpen: boolean;
}

/** Throws PeerError when nobody answers there, or no Matrix server. */
export async function findServer(
  typed: string,
  ask: AskServer,
  signal: AbortSignal,
): Promise<Result<FoundServer, AddressRefusal>> {
  const address = readAddress(typed);
  if (!address.ok) return address;
  const found = await resolveAddress(address.value, ask, signal);
  if (!found.ok) return found;
  const { status, body } = await ask({ method: 'GET', url: `${found.value.url}/_matrix/client/versions` }, signal);
  if (status === 200 && Array.isArray(body.versions)) return found;
  throw new PeerError(`${found.value.url} is no Matrix server (HTTP ${status})`, {
    code: 'peers-bad-response',
    status,
    fix: 'Type the address of the server itself, for instance https://matrix.example.org.',
  });
}

async function resolveAddress(
  address: TypedAddress,
  ask: AskServer,
  signal: AbortSignal,
): Promise<Result<FoundServer, AddressRefusal>> {
  if (address.kind === 'url') return ok({ url: address.url, isOpen: address.isOpen });
  const told = await wellKnown(`https://${address.name}`, ask, signal);
  if (told === undefined) return ok({ url: `https://${address.name}`, isOpen: false });
  const read = readAddress(told);
  // A name that is asked over https does not lead to where everybody reads along.
  if (read.ok && read.value.kind === 'url' && !read.value.isOpen) return ok({ url: read.value.url, isOpen: false });
  const detail = `${address.name} says that its server is at ${told}, and that cannot be used`;
  return refuse(read.ok ? 'address-invalid' : read.reason, detail);
}

/** What a server name says of where its server is; undefined when it says nothing. */
async function wellKnown(origin: string, ask: AskServer, signal: AbortSignal): Promise<string | undefined> {
  try {
    const { status, body } = await ask({ method: 'GET', url: `${origin}/.well-known/matrix/client` }, signal);
    const told = status === 200 ? body['m.homeserver'] : undefined;
    const url = typeof told === 'object' && told !== null && 'base_url' in told ? told.base_url : undefined;
    return typeof url === 'string' ? url : undefined;
  } catch (error) {
    // Nothing there, or a page: the server may still be at its own name.
    if (error instanceof PeerError) return undefined;
    throw error;
  }
}
