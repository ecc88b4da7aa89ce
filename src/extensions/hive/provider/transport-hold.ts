// Owns the one transport of a provider: opened at first use, again after a failed opening or a close. Knows no turn.
// Invariant: never two at a time; one that comes after the close is closed too.
import { raceAbort, throwIfAborted } from '#base/abort.ts';
import type { PeerTransport } from '../peers/peer-transport.ts';

export interface TransportHold {
  readonly opened: PeerTransport | undefined;
  get(signal: AbortSignal): Promise<PeerTransport>;
  close(): Promise<void>;
}

export function holdTransport(open: () => Promise<PeerTransport>): TransportHold {
  let opening: Promise<PeerTransport> | undefined;
  let opened: PeerTransport | undefined;
  const begin = (): Promise<PeerTransport> => {
    const mine = open();
    mine.then(
      (transport) => {
        if (opening === mine) opened = transport;
      },
      () => {
        if (opening === mine) opening = undefined;
      },
    );
    return mine;
  };
  return {
    get opened() {
      return opened;
    },
    get: async (signal) => {
      throwIfAborted(signal);
      opening ??= begin();
      return raceAbort(opening, signal);
    },
    close: async () => {
      const closing = opening;
      [opening, opened] = [undefined, undefined];
      await (await closing)?.close();
    },
  };
}
