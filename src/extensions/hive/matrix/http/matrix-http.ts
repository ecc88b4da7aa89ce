// Owns the seam between the Matrix backend and the wire: one request of the client-server API, with its time limit, retries and typed
// errors. Implemented by fetch-http; tests may put another in its place. Knows no endpoint.
import type { JsonObject } from '#base/json.ts';

export interface MatrixCall {
  readonly method: 'GET' | 'PUT' | 'POST';
  /** Segments after `/_matrix/client/`, each encoded by the implementation: `['v3', 'join', roomId]`. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  /** A POST or PUT without one sends `{}`. */
  readonly body?: JsonObject;
  /** May be sent again when it is not known whether it arrived. Default: true for GET and PUT, false for POST. */
  readonly repeatable?: boolean;
  /** Milliseconds without a byte after which it is given up; default 10,000. */
  readonly idleMs?: number;
  /** Bytes of the answer that are read before it is refused; default 16 MiB. */
  readonly maxBytes?: number;
}

/**
 * Throws PeerError for everything that server and wire do; an answer that is neither a JSON object nor a list is `peers-bad-response`.
 * A list comes as `{list}`.
 */
export type MatrixHttp = (call: MatrixCall, signal: AbortSignal) => Promise<JsonObject>;
