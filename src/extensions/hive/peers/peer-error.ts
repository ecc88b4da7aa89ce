// Owns what can go wrong between us and the peers, with two texts: `message` and `fix` are the owner's and may name server and variable;
// `forModel` is what a model reads and speaks of peers alone. Knows no protocol. Invariant: no text holds a secret.
import { TalariaError, type TalariaErrorOptions } from '#base/errors.ts';

export type PeerErrorCode =
  | 'peers-not-configured'
  | 'peers-unreachable' // refused, DNS, TLS, reset
  | 'peers-timeout'
  | 'peers-auth' // the token is unknown or expired
  | 'peers-forbidden' // the server refuses this act
  | 'peers-rate-limited'
  | 'peers-server-error' // 5xx
  | 'peers-bad-response' // HTML, broken JSON, a shape that no server of this kind gives
  | 'peers-too-large'
  | 'peers-encryption' // cannot be encrypted: nothing was sent
  | 'peer-unknown'
  | 'peer-ambiguous'
  | 'peer-left'
  | 'peer-not-sent' // nothing to send, too much, or not shown to the owner
  | 'peer-secret'; // holds a secret: nothing was sent

export interface PeerErrorOptions extends TalariaErrorOptions {
  readonly code: PeerErrorCode;
  /** HTTP status, when a server answered. */
  readonly status?: number;
  /** The server's own word for it, e.g. `M_NOT_FOUND`. */
  readonly errcode?: string;
  readonly retryAfterMs?: number;
  /** Default by code. */
  readonly forModel?: string;
}

const FOR_MODEL: Readonly<Record<PeerErrorCode, string>> = {
  'peers-not-configured': 'the peer network is not configured',
  'peers-unreachable': 'the peer network cannot be reached',
  'peers-timeout': 'the peer network did not answer in time',
  'peers-auth': 'the peer network does not accept our sign-in; the owner has to sign in again',
  'peers-forbidden': 'the peer network does not allow this',
  'peers-rate-limited': 'the peer network asks us to wait; try again later',
  'peers-server-error': 'the peer network has a fault',
  'peers-bad-response': 'the peer network gave an answer that cannot be read',
  'peers-too-large': 'this is too large to send',
  'peers-encryption': 'this could not be encrypted, so nothing was sent',
  'peer-unknown': 'there is no such peer',
  'peer-ambiguous': 'several peers have this name',
  'peer-left': 'this peer has left',
  'peer-not-sent': 'nothing was sent',
  'peer-secret': 'this holds a secret, so nothing was sent; say it without the secret',
};

export class PeerError extends TalariaError {
  override readonly name = 'PeerError';
  readonly status: number | undefined;
  readonly errcode: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly forModel: string;

  constructor(message: string, options: PeerErrorOptions) {
    super(message, options);
    this.status = options.status;
    this.errcode = options.errcode;
    this.retryAfterMs = options.retryAfterMs;
    this.forModel = options.forModel ?? FOR_MODEL[options.code];
  }
}
