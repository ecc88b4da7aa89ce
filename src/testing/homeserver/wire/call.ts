// Owns what an endpoint of the fake homeserver is given and what it gives back. Knows no endpoint.
import type { JsonObject, JsonValue } from '#base/json.ts';
import type { Account, Device } from '../store/account.ts';
import type { World } from '../store/world.ts';

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
