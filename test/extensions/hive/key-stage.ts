/** Agents with keys on disk, a server of keys for them in memory, and such agents in processes that are killed. */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import type { DatabaseOpener } from '#extensions/hive/crypto/crypto-file.ts';
import { openMachineCrypto } from '#extensions/hive/crypto/machine-crypto.ts';
import type { EncryptionTarget, KeyChanges, RoomCrypto } from '#extensions/hive/crypto/room-crypto.ts';
import type { MatrixCall, MatrixHttp } from '#extensions/hive/matrix/matrix-http.ts';
import { PeerError, type PeerErrorCode } from '#public/peers.ts';
import type { JsonObject, JsonValue } from '#public/talaria.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { realClock } from '../../ground.ts';

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
      clock: realClock,
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
export function agentsOn(t: TestContext, more: Pick<AgentOptions, 'openDatabase'> = {}) {
  const server = new HiveKeyServer();
  const home = createTempHome(t);
  const folderOf = (name: string) => join(home.path, name, 'peers');
  const open = async (name: string, { sync = true, deviceId = name.toUpperCase() } = {}): Promise<Agent> => {
    const agent = await Agent.open({ server, userId: `@${name}:x`, deviceId, folder: folderOf(name), ...more });
    t.after(() => agent.crypto.close());
    if (sync) await agent.sync();
    return agent;
  };
  return { server, folderOf, open };
}

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
  return (value ?? {}) as JsonObject;
}

interface Question {
  readonly call?: ServerCall;
  readonly changes?: { readonly userId: string; readonly deviceId: string; readonly since?: string };
}

/** Gives the address. */
export async function serveKeys(server: HiveKeyServer, t: TestContext): Promise<string> {
  const http = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const question = JSON.parse(Buffer.concat(parts).toString('utf8')) as Question;
    try {
      response.end(JSON.stringify({ value: await answer(server, question) }));
    } catch (error) {
      const { code, status, message } = error as PeerError;
      response.end(JSON.stringify({ error: { code, status, message } }));
    }
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    http.closeAllConnections();
    http.close();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

async function answer(server: HiveKeyServer, { call, changes }: Question): Promise<unknown> {
  if (call !== undefined) return server.http(call.userId, call.deviceId)(call, new AbortController().signal);
  return server.changes(changes?.userId ?? '', changes?.deviceId ?? '', changes?.since);
}

export function remoteKeyServer(address: string): KeyServer {
  const ask = async (question: unknown, signal?: AbortSignal) => {
    const response = await fetch(address, { method: 'POST', body: JSON.stringify(question), signal: signal ?? null });
    const { value, error } = (await response.json()) as {
      value: unknown;
      error?: { message: string; code: PeerErrorCode; status?: number };
    };
    if (error === undefined) return value;
    throw new PeerError(error.message, { code: error.code, ...(error.status ? { status: error.status } : {}) });
  };
  return {
    http: (userId, deviceId) => async (call, signal) =>
      (await ask({ call: { ...call, userId, deviceId } }, signal)) as JsonObject,
    changes: async (userId, deviceId, since) => (await ask({ changes: { userId, deviceId, since } })) as KeyChanges,
  };
}

export interface AgentPlace {
  readonly address: string;
  readonly userId: string;
  readonly deviceId: string;
  readonly folder: string;
}

export class AgentProcess {
  readonly child: ChildProcess;
  readonly position: string | undefined;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcess, lines: AsyncIterator<string>, position: string | undefined) {
    this.child = child;
    this.#lines = lines;
    this.position = position;
  }

  static async start({ address, userId, deviceId, folder }: AgentPlace, t: TestContext): Promise<AgentProcess> {
    const script = join(import.meta.dirname, 'hive-agent-process.ts');
    const args = [script, address, userId, deviceId, folder];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    t.after(() => child.kill('SIGKILL'));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const first = JSON.parse((await lines.next()).value ?? '{}') as { position?: string | null };
    return new AgentProcess(child, lines, first.position ?? undefined);
  }

  /** Undefined when the process died. */
  async run<T = unknown>(command: JsonObject): Promise<T | undefined> {
    this.child.stdin?.write(`${JSON.stringify(command)}\n`);
    const line = await this.#lines.next();
    if (line.done) return undefined;
    const { value, error } = JSON.parse(line.value) as { value?: T; error?: string };
    if (error !== undefined) throw new Error(error);
    return value;
  }
}

export const PAIR = room('!pair:x', '@alice:x', '@bob:x');

export const SAY = { do: 'say', room: PAIR.roomId, members: PAIR.members } as const;

/** Bob dies at the first request of that kind. */
export function killAt(agent: AgentProcess, step: string): (call: ServerCall) => void {
  return ({ userId, path }) => {
    if (userId !== '@bob:x' || path[2] !== step) return;
    agent.child.kill('SIGKILL');
    throw new Error('the caller is dead');
  };
}

export async function killStage(t: TestContext) {
  const { server, folderOf, open } = agentsOn(t);
  const place = { address: await serveKeys(server, t), userId: '@bob:x', deviceId: 'BOB', folder: folderOf('bob') };
  return { server, alice: await open('alice'), start: () => AgentProcess.start(place, t) };
}

type Moment = 'before' | 'after';

/** He dies around a request of what he says; the next thing he says is read, and so is the answer. */
export async function diesWhileSaying(t: TestContext, moment: Moment, step: string): Promise<void> {
  const { server, alice, start } = await killStage(t);
  const first = await start();
  await first.run({ do: 'sync' });
  server[moment] = killAt(first, step);
  assert.equal(await first.run({ ...SAY, text: 'never sent' }), undefined);
  server[moment] = () => undefined;
  const second = await start();
  await second.run({ do: 'sync' });
  const said = await second.run<JsonObject>({ ...SAY, text: 'sent' });
  await alice.sync();
  assert.equal(await alice.read(said ?? {}), 'sent');
  const answer = await alice.say(PAIR, 'answer');
  await second.run({ do: 'sync' });
  assert.equal(await second.run({ do: 'read', event: answer }), 'answer');
}

/** He dies around the upload of his first keys; the same device goes on. */
export async function diesAtFirstKeys(t: TestContext, moment: Moment): Promise<void> {
  const { server, alice, start } = await killStage(t);
  const first = await start();
  server[moment] = killAt(first, 'upload');
  assert.equal(await first.run({ do: 'sync' }), undefined);
  server[moment] = () => undefined;
  const second = await start();
  await second.run({ do: 'sync' });
  const said = await alice.say(PAIR, 'hello');
  await second.run({ do: 'sync' });
  assert.equal(await second.run({ do: 'read', event: said }), 'hello');
  assert.deepEqual(await second.run({ do: 'warnings' }), []);
}

export function copyOf(folder: string): string {
  const copy = `${folder}-copy`;
  cpSync(folder, copy, { recursive: true, preserveTimestamps: true });
  return copy;
}

export const WAYS: Readonly<Record<string, (folder: string, copy: string) => void>> = {
  /** `cp -a copy/. peers/`: inode and birth time of every file stay. */
  'over it': (folder, copy) => {
    for (const name of readdirSync(folder)) if (/-(wal|shm)$/.test(name)) rmSync(join(folder, name));
    for (const name of readdirSync(copy)) overwrite(join(folder, name), join(copy, name));
  },
  /** `rm -r peers; cp -a copy peers` */
  'in its place': (folder, copy) => {
    rmSync(folder, { recursive: true });
    cpSync(copy, folder, { recursive: true, preserveTimestamps: true });
  },
  /** A snapshot of the disk, which leaves no trace in any time: only the database is as it was. */
  'without a trace': (folder, copy) => {
    for (const name of readdirSync(folder)) if (/-(wal|shm)$/.test(name)) rmSync(join(folder, name));
    overwrite(join(folder, 'crypto.sqlite'), join(copy, 'crypto.sqlite'));
  },
};

function overwrite(to: string, from: string): void {
  writeFileSync(to, readFileSync(from));
  const { atime, mtime } = statSync(from);
  utimesSync(to, atime, mtime);
}
