// A server that keeps keys and passes messages between devices, in memory: what the crypto layer asks for, and nothing else. It takes
// one-time keys as Synapse does (a changed key under a known id is refused) and forgets a message when a later position is asked from.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { KeyChanges } from '#extensions/hive/matrix/crypto/room-crypto.ts';
import type { MatrixCall, MatrixHttp } from '#extensions/hive/matrix/http/matrix-http.ts';
import { PeerError } from '#extensions/hive/peers/peer-error.ts';

interface Waiting {
  readonly at: number;
  readonly event: JsonObject;
}

interface StoredDevice {
  keys: JsonObject | undefined;
  readonly oneTime: Map<string, JsonValue>;
  fallback: readonly [string, JsonValue] | undefined;
  isFallbackUsed: boolean;
  inbox: Waiting[];
}

export interface ServerCall extends MatrixCall {
  readonly userId: string;
  readonly deviceId: string;
}

export class HiveKeyServer {
  /** Every call that arrived, in order. */
  readonly calls: ServerCall[] = [];
  /** Throw here to fail a call before it has an effect. */
  before: (call: ServerCall) => void = () => undefined;
  /** Throw here to lose the answer of a call. */
  after: (call: ServerCall) => void = () => undefined;
  readonly #devices = new Map<string, Map<string, StoredDevice>>();
  readonly #changed: { readonly at: number; readonly userId: string }[] = [];
  readonly #sent = new Set<string>();
  #now = 0;

  /** What one device of one user asks with. */
  http(userId: string, deviceId: string): MatrixHttp {
    return async (call, signal) => {
      signal.throwIfAborted();
      const full: ServerCall = { ...call, userId, deviceId };
      this.before(full);
      this.calls.push(full);
      const answer = this.answer(full);
      this.after(full);
      return structuredClone(answer);
    };
  }

  answer(call: ServerCall): JsonObject {
    const [, first, second] = call.path;
    const body = structuredClone(call.body ?? {});
    if (first === 'keys' && second === 'upload') return this.#upload(call, body);
    if (first === 'keys' && second === 'query') return this.#query(body);
    if (first === 'keys' && second === 'claim') return this.#claim(body);
    if (first === 'sendToDevice') return this.#pass(call, body);
    throw new PeerError(`no such place: ${call.path.join('/')}`, { code: 'peers-server-error', status: 404 });
  }

  /** The parts of a sync that concern keys, from a position of an earlier one. */
  changes(userId: string, deviceId: string, since?: string): KeyChanges {
    const from = Number(since ?? 0);
    const device = this.#device(userId, deviceId);
    device.inbox = device.inbox.filter(({ at }) => at > from);
    const changed = since === undefined ? [] : this.#changed.filter(({ at }) => at > from).map((one) => one.userId);
    return {
      toDevice: device.inbox.map(({ event }) => structuredClone(event)),
      changed: [...new Set(changed)],
      left: [],
      oneTimeKeyCounts: { signed_curve25519: device.oneTime.size },
      unusedFallbackKeyTypes: device.fallback !== undefined && !device.isFallbackUsed ? ['signed_curve25519'] : [],
      next: String(this.#now),
      ...(since === undefined ? { isInitial: true } : {}),
    };
  }

  /** Puts a message into a device's inbox as the server itself would. */
  deliver(to: { readonly userId: string; readonly deviceId: string }, event: JsonObject): void {
    this.#now += 1;
    this.#device(to.userId, to.deviceId).inbox.push({ at: this.#now, event });
  }

  waiting(userId: string, deviceId: string): readonly JsonObject[] {
    return this.#device(userId, deviceId).inbox.map(({ event }) => event);
  }

  oneTimeKeys(userId: string, deviceId: string): readonly string[] {
    return [...this.#device(userId, deviceId).oneTime.keys()];
  }

  /** Somebody takes a one-time key and does nothing with it. */
  claimFor(userId: string, deviceId: string): void {
    this.#claimOne(userId, deviceId);
  }

  deviceKeys(userId: string, deviceId: string): JsonObject | undefined {
    return this.#device(userId, deviceId).keys;
  }

  paths(): readonly string[] {
    return this.calls.map(({ userId, path }) => `${userId} ${path.slice(1, 3).join('/')}`);
  }

  #device(userId: string, deviceId: string): StoredDevice {
    const devices = this.#devices.get(userId) ?? new Map<string, StoredDevice>();
    this.#devices.set(userId, devices);
    const fresh = { keys: undefined, oneTime: new Map(), fallback: undefined, isFallbackUsed: false, inbox: [] };
    const device = devices.get(deviceId) ?? fresh;
    devices.set(deviceId, device);
    return device;
  }

  #upload({ userId, deviceId }: ServerCall, body: JsonObject): JsonObject {
    const device = this.#device(userId, deviceId);
    if (body.device_keys !== undefined && JSON.stringify(device.keys) !== JSON.stringify(body.device_keys)) {
      device.keys = object(body.device_keys);
      this.#now += 1;
      this.#changed.push({ at: this.#now, userId });
    }
    const fresh = Object.entries(object(body.one_time_keys));
    for (const [id, key] of fresh) {
      const known = device.oneTime.get(id);
      if (known === undefined || JSON.stringify(known) === JSON.stringify(key)) continue;
      throw new PeerError(`One time key ${id} already exists`, { code: 'peers-bad-response', status: 400 });
    }
    for (const [id, key] of fresh) device.oneTime.set(id, key ?? null);
    for (const [id, key] of Object.entries(object(body.fallback_keys))) {
      device.fallback = [id, key ?? null];
      device.isFallbackUsed = false;
    }
    return { one_time_key_counts: { signed_curve25519: device.oneTime.size } };
  }

  #query(body: JsonObject): JsonObject {
    const users = Object.keys(object(body.device_keys)).map((userId) => {
      const devices = [...(this.#devices.get(userId) ?? [])].filter(([, device]) => device.keys !== undefined);
      return [userId, Object.fromEntries(devices.map(([id, device]) => [id, device.keys ?? {}]))];
    });
    return { device_keys: Object.fromEntries(users), failures: {} };
  }

  #claim(body: JsonObject): JsonObject {
    const users = Object.entries(object(body.one_time_keys)).map(([userId, devices]) => {
      const claimed = Object.keys(object(devices)).map((deviceId) => [deviceId, this.#claimOne(userId, deviceId)]);
      return [userId, Object.fromEntries(claimed)];
    });
    return { one_time_keys: Object.fromEntries(users), failures: {} };
  }

  #claimOne(userId: string, deviceId: string): JsonObject {
    const device = this.#device(userId, deviceId);
    const [oldest] = device.oneTime;
    if (oldest !== undefined) {
      device.oneTime.delete(oldest[0]);
      return Object.fromEntries([oldest]);
    }
    if (device.fallback === undefined) return {};
    device.isFallbackUsed = true;
    return Object.fromEntries([device.fallback]);
  }

  #pass({ userId, deviceId, path }: ServerCall, body: JsonObject): JsonObject {
    const [, , type = '', transaction = ''] = path;
    const once = `${userId} ${deviceId} ${transaction}`;
    if (this.#sent.has(once)) return {};
    this.#sent.add(once);
    for (const [to, devices] of Object.entries(object(body.messages))) {
      for (const [device, content] of Object.entries(object(devices))) {
        const known = device === '*' ? [...(this.#devices.get(to)?.keys() ?? [])] : [device];
        for (const id of known) this.deliver({ userId: to, deviceId: id }, { type, sender: userId, content });
      }
    }
    return {};
  }
}

function object(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
