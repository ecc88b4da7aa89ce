// Owns RoomCrypto over crypto-wasm: batches, one at a time in this process and of all processes of this home, and what becomes of a store
// that is lost, damaged, of another sign-in, or written by another process meanwhile (hivemind notes 5). Knows no order of keys (receive-keys,
// share-and-encrypt). Invariant: a batch works on what the file says now, and what it leaves in memory is what the file says.
import { join } from 'node:path';
import { DeviceId, initAsync, OlmMachine, StoreHandle, UserId } from '@matrix-org/matrix-sdk-crypto-wasm';
import type { Clock } from '#base/clock.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import { withFileLock } from '#base/platform.ts';
import type { MatrixHttp } from '../matrix/matrix-http.ts';
import { PeerError } from '../peer.ts';
import { privateKeyFile } from './account-data-key.ts';
import {
  CryptoFile,
  type DatabaseOpener,
  EncryptedRooms,
  OpenedMessages,
  ReachedDevices,
  storeKeyPath,
} from './crypto-file.ts';
import { type KeyBatch, OwnSessions, userIds } from './key-batch.ts';
import { changeRoomKeys } from './key-exchange.ts';
import { MemoryRecords } from './memory-records.ts';
import { readEvent, shareAndEncrypt } from './messages.ts';
import { dropSessions, findLateDevices, greetAll, LostSessions, receiveKeys } from './receive-keys.ts';
import type { ClearEvent, EncryptedRoom, EncryptionTarget, KeyChanges, LateDevice, RoomCrypto } from './room-crypto.ts';

interface KeyMachine {
  readonly olm: OlmMachine;
  readonly records: MemoryRecords;
  /** See KeyBatch. */
  readonly prepared: Set<string>;
  close(): void;
}

export interface MachineAccount {
  readonly userId: string;
  readonly deviceId: string;
  /** 32 bytes; encrypts every record of the store. */
  readonly storeKey: Uint8Array;
}

/** Throws whatever is wrong with the records: no shape, another key, another account. */
async function openKeyMachine(file: CryptoFile, account: MachineAccount): Promise<KeyMachine> {
  await initAsync();
  const records = new MemoryRecords();
  try {
    await records.restore(file.shapes(), file.records());
    const store = await StoreHandle.openWithKey(records.name, account.storeKey.slice());
    const olm = await OlmMachine.initFromStore(new UserId(account.userId), new DeviceId(account.deviceId), store);
    olm.roomKeyRequestsEnabled = false; // asks our own other devices only; lost-sessions asks the sender
    olm.roomKeyForwardingEnabled = false;
    return { olm, records, prepared: new Set(), close: () => close(olm, records) };
  } catch (error) {
    records.drop();
    throw error;
  }
}

function close(olm: OlmMachine, records: MemoryRecords): void {
  try {
    olm.close();
  } finally {
    records.drop();
  }
}

export interface MachineCryptoOptions {
  readonly http: MatrixHttp;
  readonly userId: string;
  readonly deviceId: string;
  /** Absolute path of `peers/`. */
  readonly folder: string;
  readonly clock: Clock;
  /** One sentence for the owner. */
  readonly warn: (sentence: string) => void;
  readonly openDatabase?: DatabaseOpener;
}

/** Opens or makes the key store in `options.folder`; loads crypto-wasm (8 MB). Throws PeerError `peers-encryption` when it cannot be used. */
export async function openMachineCrypto(
  options: MachineCryptoOptions,
  signal: AbortSignal = new AbortController().signal,
): Promise<RoomCrypto> {
  const crypto = new MachineCrypto(options);
  await crypto.start(signal);
  return crypto;
}

const NO_CHANGES = { shapes: [], dropped: [], records: [] };
/** A batch of another process may wait for the network. */
const LOCK_WAIT_MS = 60_000;

interface OpenStore {
  readonly file: CryptoFile;
  readonly keys: KeyMachine;
  readonly reached: ReachedDevices;
  readonly encrypted: EncryptedRooms;
  readonly opened: OpenedMessages;
  /** Of the file, when memory last equalled it. */
  generation: number;
}

class MachineCrypto implements RoomCrypto {
  readonly deviceId: string;
  readonly #options: MachineCryptoOptions;
  readonly #lost = new LostSessions();
  readonly #ownSessions = new OwnSessions();
  readonly #said = new Set<string>();
  #open: OpenStore | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  #position: string | undefined;
  #encrypted: readonly EncryptedRoom[] = [];

  /** Use `openMachineCrypto`. */
  constructor(options: MachineCryptoOptions) {
    this.deviceId = options.deviceId;
    this.#options = options;
  }

  /** Opens the store, so that `position` is known and a store that cannot be used is found at once. */
  start(signal: AbortSignal): Promise<void> {
    const { userId } = this.#options;
    if (userIds([userId]).length === 0) return Promise.reject(oddAccount(userId));
    return this.#batch(async () => undefined, signal);
  }

  position(): string | undefined {
    if (this.#open !== undefined) this.#position = this.#open.file.fact('position');
    return this.#position;
  }

  receive(changes: KeyChanges, signal: AbortSignal): Promise<void> {
    return this.#batch(async (batch) => {
      await receiveKeys(batch, changes, this.#lost);
      this.#position = changes.next;
      if (batch.file.fact('settled') === 'no') await this.#renew(signal);
    }, signal);
  }

  encryptedRooms(): readonly EncryptedRoom[] {
    if (this.#open !== undefined) this.#encrypted = this.#open.encrypted.all();
    return this.#encrypted;
  }

  encrypt(
    target: EncryptionTarget,
    events: readonly ClearEvent[],
    signal: AbortSignal,
  ): Promise<readonly JsonObject[]> {
    return this.#batch((batch) => shareAndEncrypt(batch, target, events), signal);
  }

  decrypt(roomId: string, event: JsonObject): Promise<ClearEvent | undefined> {
    return this.#alone(async () => {
      const { keys, opened } = await this.#current();
      return readEvent({ olm: keys.olm, opened, lost: this.#lost }, { roomId, event });
    });
  }

  lateDevices(target: EncryptionTarget, signal: AbortSignal): Promise<readonly LateDevice[]> {
    return this.#batch((batch) => findLateDevices(batch, target), signal);
  }

  noteReached(roomId: string, devices: readonly LateDevice[]): Promise<void> {
    if (devices.length === 0) return Promise.resolve();
    return this.#batch(async ({ later, reached, store }) => {
      later(() => reached.noteReached(roomId, devices));
      await store();
    });
  }

  async close(): Promise<void> {
    await this.#serial(async () => {
      this.#isClosed = true;
      this.#drop();
    });
  }

  #batch<T>(work: (batch: KeyBatch) => Promise<T>, signal: AbortSignal = new AbortController().signal): Promise<T> {
    return this.#alone(
      () => this.#locked(async () => work(this.#batchOn(await this.#ready(), signal)), signal),
      signal,
    );
  }

  #batchOn(open: OpenStore, signal: AbortSignal): KeyBatch {
    const { http, userId, deviceId } = this.#options;
    const waiting: (() => void)[] = [];
    const store = async ({ isLight = false } = {}) => {
      if (waiting.length === 0 && !open.keys.records.isChanged) return;
      await save(open, { userId, deviceId, waiting, isLight });
      waiting.length = 0;
    };
    const later = (write: () => void) => waiting.push(write);
    const warn = (sentence: string) => this.#warn(sentence);
    const { file, reached, encrypted } = open;
    const { olm, prepared } = open.keys;
    const ownSessions = this.#ownSessions;
    return { olm, prepared, file, reached, encrypted, ownSessions, http, userId, deviceId, warn, later, store, signal };
  }

  /** One piece of work at a time, with its failures in the words of the seam. */
  #alone<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#serial(async () => {
      if (this.#isClosed) throw new PeerError('the encryption is closed', { code: 'peers-encryption' });
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof PeerError)) this.#drop(); // memory may not be what the file says
        throw signal?.aborted ? error : this.#failure(error);
      }
    });
  }

  #serial<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => undefined);
    return done;
  }

  #locked<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const { folder, clock } = this.#options;
    const path = join(folder, 'crypto.lock');
    return withFileLock(path, work, { clock, waitMs: LOCK_WAIT_MS, ...(signal ? { signal } : {}) });
  }

  /** For reading: what is in memory when it is what the file says, else the file again. */
  async #current(): Promise<OpenStore> {
    const open = this.#open;
    if (open?.file.isInPlace && open.file.generation() === open.generation) return open;
    return this.#locked(() => this.#ready());
  }

  /** Under the lock: the store as the file says it now. */
  async #ready(): Promise<OpenStore> {
    const open = this.#open;
    if (open?.file.isInPlace && open.file.generation() === open.generation) return open;
    this.#drop();
    this.#open = await this.#openStore();
    this.#position = this.#open.file.fact('position');
    return this.#open;
  }

  async #openStore(): Promise<OpenStore> {
    const file = this.#openFile();
    try {
      const account = file.fact('account');
      if (account !== undefined && account !== this.#account) return await this.#begin(file, 'of another sign-in');
      return await this.#openKeys(file);
    } catch (error) {
      if (errorCode(error) === 'database-corrupt') return this.#reopen(file);
      if (error instanceof TalariaError && error.code !== 'key-store-unusable') throw this.#closed(file, error);
      return this.#begin(file, `unreadable (${errorText(error)})`);
    }
  }

  /** The connection has marked the file as damaged: the next opening keeps it aside. */
  #reopen(damaged: CryptoFile): Promise<OpenStore> {
    damaged.close();
    return this.#openNew(this.#encrypted);
  }

  #closed(file: CryptoFile, error: TalariaError): TalariaError {
    file.close();
    return error;
  }

  /** Keeps the file that cannot be used, and opens a new one. */
  async #begin(file: CryptoFile, what: string): Promise<OpenStore> {
    const encrypted = encryptedIn(file);
    const kept = file.setAside();
    this.#warn(
      `The keys in ${file.path} are ${what}; they were kept as ${kept}, and messages from before cannot be read.`,
    );
    return this.#openNew(encrypted);
  }

  /** What was encrypted once stays so, whatever became of the keys. */
  async #openNew(encrypted: readonly EncryptedRoom[]): Promise<OpenStore> {
    const open = await this.#openKeys(this.#openFile());
    if (encrypted.length > 0) await open.file.database.transaction(() => open.encrypted.note(encrypted));
    return open;
  }

  #openFile(): CryptoFile {
    const { folder, clock, openDatabase } = this.#options;
    const onNotice = ({ code, message }: { readonly code: string; readonly message: string }) => {
      if (code === 'database-quarantined') this.#warn(`${message}; messages from before cannot be read.`);
    };
    return new CryptoFile({ folder, clock, onNotice, ...(openDatabase ? { open: openDatabase } : {}) });
  }

  async #openKeys(file: CryptoFile): Promise<OpenStore> {
    const { folder, userId, deviceId } = this.#options;
    const storeKey = privateKeyFile(storeKeyPath(folder), (sentence) => this.#warn(sentence));
    const generation = file.generation();
    const keys = await openKeyMachine(file, { userId, deviceId, storeKey });
    const { database } = file;
    const notes = {
      reached: new ReachedDevices(database),
      encrypted: new EncryptedRooms(database),
      opened: new OpenedMessages(database),
    };
    this.#ownSessions.reopened();
    const open = { file, keys, ...notes, generation };
    const origin = file.fact('origin');
    if (origin !== undefined && origin !== file.origin) await this.#afterRestore(open);
    return open;
  }

  /** The file was copied or put back: it may be older than what others have seen of us. */
  async #afterRestore(open: OpenStore): Promise<void> {
    const batch = this.#batchOn(open, new AbortController().signal);
    this.#warn(`${open.file.path} was put back from a copy: keys that came since then are asked for again.`);
    await changeRoomKeys(batch);
    batch.later(() => open.file.setFact('settled', 'no'));
    await batch.store();
  }

  /** Under the lock: sessions with other devices begin anew. */
  async #renew(signal: AbortSignal): Promise<void> {
    const open = this.#open;
    if (open === undefined) return;
    open.generation = await open.file.write(NO_CHANGES, { from: open.generation, more: () => dropSessions(open.file) });
    this.#drop();
    this.#open = await this.#openStore();
    const batch = this.#batchOn(this.#open, signal);
    await greetAll(batch);
    batch.later(() => batch.file.setFact('settled', 'yes'));
    await batch.store();
  }

  get #account(): string {
    return `${this.#options.userId} ${this.#options.deviceId}`;
  }

  #drop(): void {
    const open = this.#open;
    this.#open = undefined;
    try {
      open?.keys.close();
    } finally {
      open?.file.close();
    }
  }

  #failure(error: unknown): unknown {
    if (error instanceof PeerError) return error;
    return new PeerError(`messages cannot be encrypted or read: ${errorText(error)}`, {
      code: 'peers-encryption',
      cause: error,
    });
  }

  #warn(sentence: string): void {
    if (this.#said.has(sentence)) return;
    this.#said.add(sentence);
    this.#options.warn(sentence);
  }
}

function encryptedIn(file: CryptoFile): readonly EncryptedRoom[] {
  try {
    return new EncryptedRooms(file.database).all();
  } catch {
    return []; // the file is about to be kept aside because it cannot be read
  }
}

function oddAccount(userId: string): PeerError {
  return new PeerError(`${userId} is no id that the encryption takes`, {
    code: 'peers-encryption',
    fix: 'Use an account whose server has a regular name, or `talaria config set peers.e2ee false`.',
  });
}

interface Saving {
  readonly userId: string;
  readonly deviceId: string;
  readonly waiting: readonly (() => void)[];
  readonly isLight: boolean;
}

async function save(open: OpenStore, { userId, deviceId, waiting, isLight }: Saving): Promise<void> {
  const { file, keys } = open;
  const changes = keys.records.changes();
  const more = () => {
    file.setFact('account', `${userId} ${deviceId}`);
    if (file.origin !== undefined) file.setFact('origin', file.origin);
    for (const write of waiting) write();
  };
  open.generation = await file.write(changes, { from: open.generation, more, isLight });
  keys.records.saved(changes);
}
