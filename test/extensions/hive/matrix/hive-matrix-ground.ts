/** Agents over the Matrix backend on one fake homeserver, as the transport contract and the tests of this folder take them. */
import { type Clock, systemClock } from '#base/clock.ts';
import { type HiveConfig, hiveSchema } from '#extensions/hive/hive-config.ts';
import { createMatrixTransport, type MatrixParts } from '#extensions/hive/matrix/matrix-transport.ts';
import type { PeerTransport } from '#extensions/hive/peers/peer-transport.ts';
import type { FakeHomeserverOptions } from '#testing/homeserver/fake-homeserver.ts';
import { type FakeServer, startFake } from '../../../contract/hive/hive-fake-server.ts';
import type { TestAccount } from '../../../contract/hive/hive-homeserver.ts';
import type { HiveTransportGround } from '../../../contract/hive/hive-transport-ground.ts';

export interface Given {
  readonly clock?: Clock;
  readonly join?: Partial<HiveConfig['join']>;
  readonly parts?: Partial<MatrixParts>;
  /** Sentences for the log are put here. */
  readonly warnings?: string[];
}

export function transportFor(server: { readonly url: string }, account: TestAccount, given: Given = {}): PeerTransport {
  const { clock = systemClock, join = {}, parts = {}, warnings = [] } = given;
  return createMatrixTransport({
    account: { homeserver: server.url, userId: account.userId, accessToken: account.accessToken },
    config: hiveSchema.parse({ join }),
    clock,
    warn: (text) => void warnings.push(text),
    ...parts,
  });
}

/** Ground of the transport contract. `partsOf` gives each handle what encryption needs, by name. */
export async function matrixGround(
  options: FakeHomeserverOptions = {},
  partsOf: (name: string, account: TestAccount, server: FakeServer) => Partial<MatrixParts> = () => ({}),
): Promise<HiveTransportGround & { readonly server: FakeServer }> {
  const server = await startFake(options);
  const accounts = new Map<string, Promise<TestAccount>>();
  const handles: PeerTransport[] = [];
  const accountOf = (name: string) => {
    const account = accounts.get(name) ?? server.register(`hermes-of-${name}`);
    accounts.set(name, account);
    return account;
  };
  return {
    server,
    start: async (name) => {
      const isNew = !accounts.has(name);
      const account = await accountOf(name);
      // Who was never there has no keys yet, so nothing can be encrypted for it.
      if (isNew) {
        const first = transportFor(server, account, { parts: partsOf(name, account, server) });
        await first.refresh(new AbortController().signal);
        await first.close();
      }
      const transport = transportFor(server, account, { parts: partsOf(name, account, server) });
      handles.push(transport);
      return transport;
    },
    breakNetwork: async () => {
      await server.wire.down();
      return () => server.wire.up();
    },
    leave: async (name, peerId) => {
      const account = await accountOf(name);
      const at = peerId.lastIndexOf('@');
      const other = `@${peerId.slice(0, at)}:${peerId.slice(at + 1)}`;
      const headers = { authorization: `Bearer ${account.accessToken}`, 'content-type': 'application/json' };
      const call = async (method: string, path: string) => {
        const body = method === 'POST' ? { body: '{}' } : {};
        return (await fetch(`${server.url}/_matrix/client/v3/${path}`, { method, headers, ...body })).json();
      };
      const { joined_rooms: rooms } = (await call('GET', 'joined_rooms')) as { joined_rooms: readonly string[] };
      for (const room of rooms)
        if (server.doors.state(room, 'm.room.member', other) !== undefined)
          await call('POST', `rooms/${encodeURIComponent(room)}/leave`);
    },
    close: async () => {
      for (const handle of handles) await handle.close();
      await server.stop();
    },
  };
}
