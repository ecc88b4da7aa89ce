/** A hub as the ground of the transport suite, with a network that can be broken. */

import { createPeerHub } from '#extensions/hive/hub/peer-hub.ts';
import { PeerError } from '#extensions/hive/peers/peer-error.ts';
import type { PeerTransport } from '#extensions/hive/peers/peer-transport.ts';
import type { HiveTransportGround } from '../../../contract/hive/hive-transport-ground.ts';

export async function hubGround(): Promise<HiveTransportGround> {
  let broken = false;
  const open: PeerTransport[] = [];
  const hub = createPeerHub({
    reach: async () => {
      if (broken) throw new PeerError('the hub cannot be reached', { code: 'peers-unreachable', retryable: true });
    },
  });
  const idOf = (name: string) => `hermes-of-${name}@localhost`;
  return {
    start: async (name) => {
      const transport = hub.join(idOf(name));
      open.push(transport);
      return transport;
    },
    breakNetwork: async () => {
      broken = true;
      return async () => {
        broken = false;
      };
    },
    leave: async (name, peerId) => hub.leave(idOf(name), peerId),
    close: async () => {
      for (const transport of open) await transport.close();
    },
  };
}
