/** Agents over the Matrix backend on one homeserver, as the transport contract and the tests of the backend take them. */
import { test } from 'node:test';
import type { EncryptedRoom, KeyChanges, LateDevice, RoomCrypto } from '#extensions/hive/crypto/room-crypto.ts';
import { createFetchHttp, type MatrixHttp } from '#extensions/hive/matrix/matrix-http.ts';
import { createMatrixTransport, type MatrixParts } from '#extensions/hive/matrix/matrix-transport.ts';
import { type HiveConfig, hiveSchema } from '#extensions/hive/settings.ts';
import { PeerError, type PeerTransport } from '#public/peers.ts';
import type { JsonObject } from '#public/talaria.ts';
import type { HomeserverStart } from '../../contract/hive/hive-raw-client.ts';
import { type FakeServer, startFake, type TestAccount, type WireRequest } from '../../contract/hive/hive-stage.ts';
import type { HiveTransportGround } from '../../contract/hive/hive-transport-ground.ts';
import { hasty, realClock } from '../../ground.ts';
import { verifies } from '../../verifies.ts';

export const NEVER = new AbortController().signal;

const NOWHERE = 'http://127.0.0.1:9';

export interface Given extends Partial<Pick<MatrixParts, 'clock' | 'http' | 'crypto' | 'cipher'>> {
  readonly join?: Partial<HiveConfig['join']>;
  /** Sentences for the log are put here. */
  readonly warnings?: string[];
}

export function transportFor(server: { readonly url: string }, account: TestAccount, given: Given = {}): PeerTransport {
  const { clock = realClock, join = {}, warnings = [], ...parts } = given;
  return createMatrixTransport({
    account: { homeserver: server.url, userId: account.userId, accessToken: account.accessToken },
    config: hiveSchema.parse({ join }),
    clock,
    warn: (text) => void warnings.push(text),
    ...parts,
  });
}

export function httpFor({ url }: { readonly url: string }, { accessToken }: Pick<TestAccount, 'accessToken'>) {
  return createFetchHttp({ homeserver: url, accessToken }, hasty(50));
}

/** What each handle gets beside the plain parts. */
type PartsOf = (name: string, account: TestAccount, http: MatrixHttp) => Pick<MatrixParts, 'crypto' | 'cipher'>;

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
      createFetchHttp({ homeserver, accessToken }, realClock),
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
    const handle = transportFor(server, account, { http, ...partsOf(name, account, http) });
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

/** A RoomCrypto that encrypts for whom it is told there is, by turning letters; it writes down what it was asked. */
export class RecordedCrypto implements RoomCrypto {
  readonly deviceId = 'DEVICE';
  readonly received: KeyChanges[] = [];
  readonly targets: (readonly string[])[] = [];
  /** By user id. */
  readonly devices = new Map<string, readonly string[]>();
  readonly reached = new Set<string>();
  readonly encrypted = new Map<string, EncryptedRoom>();
  fault: string | undefined;

  position(): undefined {
    return undefined;
  }

  async receive(changes: KeyChanges): Promise<void> {
    this.#check();
    this.received.push(changes);
    for (const room of changes.encrypted ?? []) this.encrypted.set(room.roomId, room);
  }

  encryptedRooms(): readonly EncryptedRoom[] {
    return [...this.encrypted.values()];
  }

  async encrypt(target: { readonly members: readonly string[] }, events: readonly { readonly content: JsonObject }[]) {
    this.#check();
    this.targets.push([...target.members].sort());
    return events.map(({ content }) => ({
      algorithm: 'm.megolm.v1.aes-sha2',
      ciphertext: Buffer.from(JSON.stringify(content)).toString('base64'),
    }));
  }

  async decrypt(_room: string, event: JsonObject) {
    this.#check();
    const { ciphertext } = event.content as { readonly ciphertext: string };
    return { type: 'm.room.message', content: JSON.parse(Buffer.from(ciphertext, 'base64').toString('utf8')) };
  }

  async lateDevices(target: { readonly roomId: string; readonly members: readonly string[] }) {
    this.#check();
    const all = target.members.flatMap((userId) =>
      (this.devices.get(userId) ?? []).map((deviceId) => ({ userId, deviceId })),
    );
    return all.filter((device) => !this.reached.has(`${target.roomId} ${device.deviceId}`));
  }

  async noteReached(roomId: string, devices: readonly LateDevice[]): Promise<void> {
    for (const { deviceId } of devices) this.reached.add(`${roomId} ${deviceId}`);
  }

  async close(): Promise<void> {
    // Nothing is open.
  }

  #check(): void {
    if (this.fault !== undefined) throw new PeerError(this.fault, { code: 'peers-encryption', fix: 'mend it' });
  }
}

/** One agent on a fake homeserver, on which no two events are of the same millisecond. */
export class MatrixScene {
  readonly server: FakeServer;
  readonly account: TestAccount;
  readonly crypto = new RecordedCrypto();
  readonly warnings: string[] = [];
  /** Of the server's clock, ms. */
  shift = 0;

  private constructor(server: FakeServer, account: TestAccount) {
    this.server = server;
    this.account = account;
  }

  static async run(names: readonly string[], body: (scene: MatrixScene) => Promise<void>): Promise<void> {
    let now = realClock.now();
    let scene: MatrixScene | undefined;
    const server = await startFake({ clock: { ...realClock, now: () => ++now + (scene?.shift ?? 0) } });
    try {
      const [account] = await Promise.all(names.map((name) => server.register(name)));
      scene = new MatrixScene(server, account as TestAccount);
      await body(scene);
    } finally {
      await server.stop();
    }
  }

  /** A handle of the agent: the first, one after a restart, that of a second process. */
  open(given: Given = {}): PeerTransport {
    return transportFor(this.server, this.account, { clock: hasty(50), warnings: this.warnings, ...given });
  }

  openEncrypting(): PeerTransport {
    return this.open({ crypto: async () => this.crypto });
  }

  say(room: string, sender: string, body: string): void {
    this.server.doors.inject(room, { type: 'm.room.message', sender, content: { msgtype: 'm.text', body } });
  }

  member(room: string, userId: string, membership: string, sender = userId): void {
    this.server.doors.inject(room, { type: 'm.room.member', sender, stateKey: userId, content: { membership } });
  }

  /** Bodies of what the agent said there, oldest first; undefined for what was encrypted. */
  said(room: string): readonly unknown[] {
    return (this.server.doors.timeline(room) as readonly Record<string, unknown>[])
      .filter(
        ({ type, sender }) => sender === this.account.userId && /^m\.room\.(?:message|encrypted)$/.test(`${type}`),
      )
      .map(({ content }) => (content as { readonly body?: unknown }).body);
  }

  asked(part: string, method?: string): readonly WireRequest[] {
    return this.server.wire
      .requests()
      .filter((one) => one.path.includes(part) && (method ?? one.method) === one.method);
  }

  /** Types of what was sent, attempts counted in. */
  sent(): readonly (string | undefined)[] {
    return this.asked('/send/').map(({ path }) => path.split('/').at(-2));
  }
}

type SceneBody = (scene: MatrixScene) => Promise<void>;

/** `test` and `verifies` whose bodies get the first of these on a server of its own, on which the others have accounts. */
export function testsOf(...names: readonly string[]) {
  const run = (body: SceneBody) => () => MatrixScene.run(names, body);
  return {
    test: (name: string, body: SceneBody) => void test(name, run(body)),
    verifies: (ids: string | readonly string[], name: string, body: SceneBody) => verifies(ids, name, run(body)),
  };
}
