// Owns telling a plain no of the server from every failure after which a request may have taken effect all the same. Pure.
import { PeerError } from '../../peers/peer-error.ts';

/** Nothing came of it: the server understood, and said no. */
export function wasRefused(error: unknown): boolean {
  if (!(error instanceof PeerError) || error.code === 'peers-bad-response') return false;
  return error.status !== undefined && error.status < 500;
}
