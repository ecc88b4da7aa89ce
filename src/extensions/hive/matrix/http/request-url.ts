// Owns the address of one request: the homeserver's, `/_matrix/client/`, segments that are each encoded, and the query. Pure.
// Invariant: no segment can lead anywhere but below that path.
import { PeerError } from '../../peers/peer-error.ts';
import type { MatrixCall } from './matrix-http.ts';

/** Checks the address once. Throws `peers-not-configured`. */
export function readHomeserver(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isUsable = url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (isUsable && url.search === '' && url.hash === '') return url;
  throw new PeerError('MATRIX_HOMESERVER is no address of a server', {
    code: 'peers-not-configured',
    fix: 'Set MATRIX_HOMESERVER to an address such as https://matrix.example.org.',
  });
}

export function requestUrl(homeserver: URL, { path, query = {} }: Pick<MatrixCall, 'path' | 'query'>): URL {
  if (path.some((segment) => /^\.{0,2}$/.test(segment)))
    throw new PeerError('an id that cannot stand in an address', {
      code: 'peers-bad-response',
      fix: 'Look at the rooms of the account with another client.',
    });
  const base = homeserver.href.replace(/\/+$/, '');
  const url = new URL(`${base}/_matrix/client/${path.map(encodeURIComponent).join('/')}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}
