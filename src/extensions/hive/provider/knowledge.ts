// Owns when the transport is refreshed: once for everybody who wants what is new at the same time (R4.50, R4.51). Knows no turn.
// Invariant: a caller's abort ends its own waiting; the refresh itself ends when nobody waits for it any more.
import { AbortedError, raceAbort } from '#base/abort.ts';
import type { PeerTransport } from '../peers/peer-transport.ts';
import type { Notices } from './notices.ts';
import type { TransportHold } from './transport-hold.ts';

export interface Knowledge {
  /** With what is known: refreshes only when that never went through. Throws when it fails. */
  ready(signal: AbortSignal): Promise<PeerTransport>;
  /** With what is new. Throws when it fails. */
  fresh(signal: AbortSignal): Promise<PeerTransport>;
  forget(): void;
}

interface Running {
  readonly done: Promise<PeerTransport>;
  readonly control: AbortController;
  waiting: number;
}

export function createKnowledge(hold: TransportHold, notices: Notices): Knowledge {
  let wasRefreshed = false;
  let running: Running | undefined;
  const refresh = async (signal: AbortSignal): Promise<PeerTransport> => {
    const transport = await hold.get(signal);
    notices.say(await transport.refresh(signal));
    wasRefreshed = true;
    return transport;
  };
  const begin = (): Running => {
    const control = new AbortController();
    const begun: Running = { done: refresh(control.signal), control, waiting: 0 };
    const over = () => {
      if (running === begun) running = undefined;
    };
    begun.done.then(over, over);
    return begun;
  };
  const fresh = async (signal: AbortSignal): Promise<PeerTransport> => {
    running ??= begin();
    const mine = running;
    mine.waiting += 1;
    try {
      return await raceAbort(mine.done, signal);
    } finally {
      mine.waiting -= 1;
      if (mine.waiting === 0) {
        if (running === mine) running = undefined;
        mine.control.abort(new AbortedError('nobody waits for it any more'));
      }
    }
  };
  return {
    fresh,
    ready: (signal) => (wasRefreshed ? hold.get(signal) : fresh(signal)),
    forget: () => {
      wasRefreshed = false;
    },
  };
}
