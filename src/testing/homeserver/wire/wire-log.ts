// Owns the record of requests and the faults that tests order. Knows no endpoint. Invariant: a fault is used up by the first request
// that matches it, the earliest ordered first.
import type { HomeserverFault, HomeserverRequest } from '../fake-homeserver.ts';

interface Order {
  readonly match: (request: HomeserverRequest) => boolean;
  readonly fault: HomeserverFault;
  left: number;
}

export interface WireLog {
  requests(): readonly HomeserverRequest[];
  clear(): void;
  fail(match: Order['match'], fault: HomeserverFault, times?: number): () => void;
  limitRate(retryAfterMs: number): () => void;
  /** Writes the request down and gives the fault that it shall meet. */
  take(request: HomeserverRequest): HomeserverFault | undefined;
}

export function createWireLog(): WireLog {
  let log: HomeserverRequest[] = [];
  const orders: Order[] = [];
  const remove = (order: Order) => {
    const index = orders.indexOf(order);
    if (index >= 0) orders.splice(index, 1);
  };
  const fail: WireLog['fail'] = (match, fault, times = 1) => {
    const order: Order = { match, fault, left: times };
    orders.push(order);
    return () => remove(order);
  };
  const take = (request: HomeserverRequest): HomeserverFault | undefined => {
    log.push(Object.freeze(request));
    const order = orders.find((one) => one.match(request));
    if (!order) return undefined;
    order.left -= 1;
    if (order.left <= 0) remove(order);
    return order.fault;
  };
  return {
    requests: () => [...log],
    clear: () => {
      log = [];
    },
    fail,
    limitRate: (retryAfterMs) => fail(isClientRequest, tooMany(retryAfterMs), Number.POSITIVE_INFINITY),
    take,
  };
}

function isClientRequest({ path }: HomeserverRequest): boolean {
  return path.startsWith('/_matrix/client/');
}

function tooMany(retryAfterMs: number): HomeserverFault {
  return {
    type: 'status',
    status: 429,
    headers: { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) },
    body: JSON.stringify({ errcode: 'M_LIMIT_EXCEEDED', error: 'Too Many Requests', retry_after_ms: retryAfterMs }),
  };
}
