// One agent with keys on disk, for the tests of this folder: opens, syncs, talks, and dies in several ways. The server is hive-key-server.
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import { openMachineCrypto } from '#extensions/hive/matrix/crypto/open-machine-crypto.ts';
import type { EncryptionTarget, KeyChanges, RoomCrypto } from '#extensions/hive/matrix/crypto/room-crypto.ts';
import type { DatabaseOpener } from '#extensions/hive/matrix/crypto/store/crypto-file.ts';
import type { MatrixHttp } from '#extensions/hive/matrix/http/matrix-http.ts';
import { createTempHome } from '#testing/temp-home.ts';

export const MEGOLM = { algorithm: 'm.megolm.v1.aes-sha2' };
let events = 0;

/** The server, in this process or in another. */
export interface KeyServer {
  http(userId: string, deviceId: string): MatrixHttp;
  changes(userId: string, deviceId: string, since?: string): KeyChanges | Promise<KeyChanges>;
}

export interface AgentOptions {
  readonly server: KeyServer;
  readonly userId: string;
  readonly deviceId: string;
  readonly folder: string;
  readonly openDatabase?: DatabaseOpener;
}

export class Agent {
  readonly warnings: string[] = [];
  readonly crypto: RoomCrypto;
  readonly #options: AgentOptions;
  since: string | undefined;

  private constructor(options: AgentOptions, crypto: RoomCrypto, warnings: string[]) {
    this.#options = options;
    this.crypto = crypto;
    this.warnings = warnings;
    this.since = crypto.position();
  }

  static async open(options: AgentOptions): Promise<Agent> {
    const { server, userId, deviceId } = options;
    const warnings: string[] = [];
    const crypto = await openMachineCrypto({
      ...options,
      http: server.http(userId, deviceId),
      clock: systemClock,
      warn: (sentence) => warnings.push(sentence),
    });
    return new Agent(options, crypto, warnings);
  }

  /** One sync; the position advances only when it was taken in. */
  async sync(): Promise<void> {
    const { server, userId, deviceId } = this.#options;
    const changes = await server.changes(userId, deviceId, this.since);
    await this.crypto.receive(changes, never());
    this.since = changes.next;
  }

  async say(target: EncryptionTarget, text: string): Promise<JsonObject> {
    const clear = { type: 'm.room.message', content: { msgtype: 'm.text', body: text } };
    const [content] = await this.crypto.encrypt(target, [clear], never());
    return eventOf(this.#options.userId, target.roomId, content ?? {});
  }

  async read(event: JsonObject): Promise<string | undefined> {
    const { room_id, ...rest } = event;
    const clear = await this.crypto.decrypt(String(room_id), rest);
    return clear === undefined ? undefined : String(clear.content.body);
  }
}

export function room(roomId: string, ...members: readonly string[]): EncryptionTarget {
  return { roomId, members, settings: MEGOLM };
}

export function eventOf(sender: string, roomId: string, content: JsonObject): JsonObject {
  events += 1;
  return {
    type: 'm.room.encrypted',
    room_id: roomId,
    sender,
    event_id: `$event${events}`,
    origin_server_ts: 1_700_000_000_000 + events,
    content,
  };
}

export function never(): AbortSignal {
  return new AbortController().signal;
}

/** Opens agents by name on one server, each in a home of its own, synced once and closed with the test; again for the same name is a restart. */
export function agentsOn(server: KeyServer, t: TestContext) {
  const home = createTempHome(t);
  const open = async (name: string): Promise<Agent> => {
    const folder = folderOf(name);
    const agent = await Agent.open({ server, userId: `@${name}:x`, deviceId: name.toUpperCase(), folder });
    t.after(() => agent.crypto.close());
    await agent.sync();
    return agent;
  };
  const folderOf = (name: string) => join(home.path, name, 'peers');
  return { open, folderOf };
}
