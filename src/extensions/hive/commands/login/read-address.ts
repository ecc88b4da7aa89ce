// Owns what a typed address of a server means: a whole address, or the name of a server that is still to be asked where it is. Pure.
// Invariant: nothing but https leaves the private network, so no password ever does in clear.
import { isIP } from 'node:net';
import { ok, type Result, refuse } from '#base/result.ts';

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
