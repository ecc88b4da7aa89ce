// Owns the in-memory PeerTransport: agents of one process that meet without a server, by the rules that hold for every transport.
// Knows no protocol. Invariant: all state lies in the hub, so a handle that is closed and joined again finds everything (R4.14).
import { type Clock, systemClock } from '#base/clock.ts';
import type { PeerTransport } from '../peers/peer-transport.ts';
import { openHandle } from './hub-handle.ts';
import type { HubState } from './hub-state.ts';
import { peerIdIn } from './meeting-peer.ts';

export interface PeerHub {
  /** A handle of the agent with that opaque id, such as `hermes-of-bob@hub`; any number of them for one agent. */
  join(id: string): PeerTransport;
  /** `id` goes away from what connects it with that peer, for good. */
  leave(id: string, peerId: string): void;
}

export interface PeerHubOptions {
  readonly clock?: Clock;
  /** Stands for the network: asked by every call that would use one; throws PeerError for what the network does. */
  readonly reach?: (signal: AbortSignal) => Promise<void>;
}

export function createPeerHub({ clock = systemClock, reach = async () => undefined }: PeerHubOptions = {}): PeerHub {
  const state: HubState = { meetings: new Map(), agents: new Map() };
  return {
    join: (id) => openHandle(id, { state, clock, reach }),
    leave: (id, peerId) => {
      for (const meeting of state.meetings.values())
        if (meeting.members.has(id) && peerIdIn(meeting, id) === peerId) meeting.members.set(id, 'left');
    },
  };
}
