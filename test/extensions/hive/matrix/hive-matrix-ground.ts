/** Agents over the Matrix backend on one homeserver, as the transport contract and the tests of this folder take them. */
import { type Clock, systemClock } from '#base/clock.ts';
import { type HiveConfig, hiveSchema } from '#extensions/hive/hive-config.ts';
import { createFetchHttp } from '#extensions/hive/matrix/http/fetch-http.ts';
import type { MatrixHttp } from '#extensions/hive/matrix/http/matrix-http.ts';
import { createMatrixTransport, type MatrixParts } from '#extensions/hive/matrix/matrix-transport.ts';
import type { PeerTransport } from '#extensions/hive/peers/peer-transport.ts';
import type { TestAccount } from '../../../contract/hive/hive-homeserver.ts';
import type { HomeserverStart } from '../../../contract/hive/hive-introduction.ts';
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

const NEVER = new AbortController().signal;
const NOWHERE = 'http://127.0.0.1:9';

/** What each handle gets beside the plain parts. */
type PartsOf = (name: string, account: TestAccount, http: MatrixHttp) => Partial<MatrixParts>;

export async function matrixGround(
  start: HomeserverStart,
  partsOf: PartsOf = () => ({}),
): Promise<HiveTransportGround> {
  const { server, stop } = await start();
  const accounts = new Map<string, Promise<TestAccount>>();
  const handles: PeerTransport[] = [];
  let isBroken = false;
  const httpOf = ({ accessToken }: TestAccount): MatrixHttp => {
    const [there, gone] = [server.url, NOWHERE].map((homeserver) =>
      createFetchHttp({ homeserver, accessToken }, systemClock),
    );
    return (call, signal) => ((isBroken ? gone : there) as MatrixHttp)(call, signal);
  };
  const accountOf = (name: string) => {
    const account = accounts.get(name) ?? server.register(`hermes-of-${name}`);
    accounts.set(name, account);
    return account;
  };
  const handleOf = (name: string, account: TestAccount) => {
    const http = httpOf(account);
    const handle = transportFor(server, account, { parts: { http, ...partsOf(name, account, http) } });
    handles.push(handle);
    return handle;
  };
  return {
    start: async (name) => {
      const isNew = !accounts.has(name);
      const account = await accountOf(name);
      // Who was never there has no keys yet, so nothing can be encrypted for it.
      if (isNew) await handleOf(name, account).refresh(NEVER);
      return handleOf(name, account);
    },
    breakNetwork: async () => {
      isBroken = true;
      return async () => {
        isBroken = false;
      };
    },
    leave: async (name, peerId) => leaveRoomsWith(httpOf(await accountOf(name)), peerId),
    close: async () => {
      for (const handle of handles) await handle.close();
      await stop();
    },
  };
}

async function leaveRoomsWith(http: MatrixHttp, peerId: string): Promise<void> {
  const at = peerId.lastIndexOf('@');
  const other = `@${peerId.slice(0, at)}:${peerId.slice(at + 1)}`;
  const { joined_rooms: rooms } = await http({ method: 'GET', path: ['v3', 'joined_rooms'] }, NEVER);
  for (const room of rooms as readonly string[]) {
    const { joined } = await http({ method: 'GET', path: ['v3', 'rooms', room, 'joined_members'] }, NEVER);
    if (other in (joined as object)) await http({ method: 'POST', path: ['v3', 'rooms', room, 'leave'] }, NEVER);
  }
}
