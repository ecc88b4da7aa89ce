// Owns the key store in memory: the databases of one machine under a name of this opening, rebuilt from saved records, and the list of
// what changed since the last save. The one place where we reach below the surface of fake-indexeddb: every record passes `storeRecord`,
// `deleteRecord` or `clear` of its raw store. Knows no SQLite. Invariants: a change is told before the call that made it returns, and stays
// in the list, by single records, until `saved` says that it is on disk; equal keys give equal texts in every process (v8.serialize does not).
import 'fake-indexeddb/auto';
import { deserialize, serialize } from 'node:v8';
import { IDBDatabase, indexedDB } from 'fake-indexeddb';
import { TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { isJsonObject, type JsonValue, parseJson } from '#base/json.ts';

/** What IndexedDB takes as a key, without dates. */
export type RecordKey = string | number | ArrayBuffer | ArrayBufferView | readonly RecordKey[];

export function recordKeyText(key: RecordKey): string {
  return JSON.stringify(plain(key));
}

export function readRecordKey(text: string): RecordKey {
  const parsed = parseJson(text);
  if (!parsed.ok) throw unreadable(text);
  return keyOf(parsed.value, text);
}

function plain(key: RecordKey): JsonValue {
  if (typeof key === 'string') return key;
  if (typeof key === 'number') return Number.isFinite(key) ? key : { infinite: key > 0 };
  if (key instanceof ArrayBuffer) return { bytes: Buffer.from(key).toString('base64') };
  if (ArrayBuffer.isView(key))
    return { bytes: Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('base64') };
  if (Array.isArray(key)) return key.map(plain);
  throw unreadable(String(key));
}

function keyOf(value: JsonValue | undefined, text: string): RecordKey {
  if (typeof value === 'string' || typeof value === 'number') return value;
  if (Array.isArray(value)) return value.map((part: JsonValue) => keyOf(part, text));
  if (!isJsonObject(value)) throw unreadable(text);
  if (typeof value.infinite === 'boolean') return value.infinite ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  if (typeof value.bytes === 'string') return new Uint8Array(Buffer.from(value.bytes, 'base64')).buffer;
  throw unreadable(text);
}

function unreadable(text: string): TalariaError {
  return new TalariaError(`the key store holds a record under a key that is none: ${text.slice(0, 80)}`, {
    code: 'key-store-unusable',
  });
}

export interface IndexShape {
  readonly name: string;
  readonly keyPath: string | readonly string[];
  readonly unique: boolean;
  readonly multiEntry: boolean;
}

export interface StoreShape {
  readonly name: string;
  readonly keyPath: string | readonly string[] | null;
  readonly autoIncrement: boolean;
  readonly indexes: readonly IndexShape[];
}

/** One IndexedDB database without its records. `name` is the part that does not change from opening to opening. */
export interface BaseShape {
  readonly name: string;
  readonly version: number;
  readonly stores: readonly StoreShape[];
}

export interface SavedRecord {
  readonly base: string;
  readonly store: string;
  /** As `recordKeyText` writes it. */
  readonly key: string;
  readonly value: Uint8Array;
}

export interface RecordChange extends Omit<SavedRecord, 'value'> {
  /** Absent: the record was deleted. */
  readonly value?: Uint8Array;
}

export interface StoreChanges {
  /** Databases whose stores or indexes are not as they were. */
  readonly shapes: readonly BaseShape[];
  /** Stores that are gone with all they held. */
  readonly dropped: readonly { readonly base: string; readonly store: string }[];
  readonly records: readonly RecordChange[];
}

interface RawRecord {
  readonly key: RecordKey;
  readonly value: unknown;
}

interface RawIndex {
  readonly name: string;
  readonly keyPath: string | readonly string[];
  readonly unique: boolean;
  readonly multiEntry: boolean;
}

interface RawStore {
  readonly name: string;
  readonly keyPath: string | readonly string[] | null;
  readonly autoIncrement: boolean;
  readonly rawDatabase: RawDatabase;
  readonly rawIndexes: ReadonlyMap<string, RawIndex>;
  readonly records: { get(key: unknown): RawRecord | undefined; values(range?: unknown): Iterable<RawRecord> };
  storeRecord(record: { key?: RecordKey; value: unknown }, ...rest: readonly unknown[]): RecordKey;
  deleteRecord(key: unknown, ...rest: readonly unknown[]): void;
  clear(...rest: readonly unknown[]): void;
}

interface RawDatabase {
  readonly name: string;
  readonly version: number;
  readonly rawObjectStores: ReadonlyMap<string, RawStore>;
  readonly connections: readonly { close(): void }[];
}

interface Upgrading {
  createObjectStore(...args: readonly unknown[]): { readonly _rawObjectStore: RawStore };
}

type ChangeListener = (store: RawStore, key: RecordKey) => void;

const listeners = new Map<string, ChangeListener>();
let isWatching = false;

/** Tells of every record of databases whose name begins with `<name>::` that is written or deleted. Returns what ends it. */
function watchStores(name: string, listener: ChangeListener): () => void {
  if (!isWatching) watchNewStores();
  isWatching = true;
  listeners.set(name, listener);
  return () => listeners.delete(name);
}

function watchNewStores(): void {
  const prototype = IDBDatabase.prototype as unknown as Upgrading;
  const create = prototype.createObjectStore;
  prototype.createObjectStore = function createWatched(this: Upgrading, ...args: readonly unknown[]) {
    const made = create.call(this, ...args);
    watchStore(made._rawObjectStore);
    return made;
  };
}

function watchStore(store: RawStore): void {
  const { storeRecord, deleteRecord, clear } = store;
  const tell = (keys: readonly RecordKey[]) => {
    const listener = listeners.get(store.rawDatabase.name.split('::')[0] ?? '');
    if (listener !== undefined) for (const key of keys) listener(store, key);
  };
  store.storeRecord = (...args) => {
    const key = storeRecord.apply(store, args);
    tell([key]);
    return key;
  };
  store.deleteRecord = (range, ...rest) => {
    const keys = keysIn(store, isRange(range) ? range : undefined, range);
    deleteRecord.call(store, range, ...rest);
    tell(keys);
  };
  store.clear = (...rest: readonly unknown[]) => {
    const keys = keysIn(store);
    clear.call(store, ...rest);
    tell(keys);
  };
}

function isRange(key: unknown): key is object {
  return typeof key === 'object' && key !== null && 'lowerOpen' in key;
}

function keysIn(store: RawStore, range?: object, only?: unknown): RecordKey[] {
  if (range === undefined && only !== undefined) {
    const found = store.records.get(only);
    return found === undefined ? [] : [found.key];
  }
  return [...store.records.values(range)].map((record) => record.key);
}

interface OpenRequest {
  result: { createObjectStore(name: string, options: object): UpgradedStore; close(): void };
  error: unknown;
  onupgradeneeded: (() => void) | null;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
}

interface UpgradedStore {
  createIndex(name: string, keyPath: string | readonly string[], options: object): void;
}

interface Factory {
  readonly _databases: Map<string, RawDatabase>;
  readonly _connectionQueues: Map<string, unknown>;
  open(name: string, version: number): OpenRequest;
}

interface Touched {
  readonly store: RawStore;
  readonly key: RecordKey;
}

export class MemoryRecords {
  /** What the machine calls its store. */
  readonly name = `peers-${randomHex(8)}`;
  readonly #touched = new Map<string, Touched>();
  readonly #savedShapes = new Map<string, BaseShape>();
  readonly #unwatch: () => void;

  constructor() {
    this.#unwatch = watchStores(this.name, (store, key) => this.#touch(store, key));
  }

  /** Makes the databases anew. Records of a store that no shape names are an error. */
  async restore(shapes: readonly BaseShape[], records: Iterable<SavedRecord>): Promise<void> {
    for (const shape of shapes) {
      await this.#make(shape);
      this.#savedShapes.set(shape.name, shape);
    }
    for (const { base, store, key, value } of records) {
      const raw = this.#bases().get(base)?.rawObjectStores.get(store);
      if (raw === undefined) {
        throw new TalariaError(`the key store names no ${base}/${store}`, { code: 'key-store-unusable' });
      }
      raw.storeRecord({ key: readRecordKey(key), value: deserialize(value) });
    }
    this.#touched.clear();
  }

  get isChanged(): boolean {
    return this.#touched.size > 0 || this.#newShapes().length > 0;
  }

  /** What must be written so that the file says what memory holds. */
  changes(): StoreChanges {
    const shapes = this.#newShapes();
    const dropped = shapes.flatMap((shape) => this.#storesGone(shape));
    const whole = shapes.flatMap((shape) => this.#storesNew(shape));
    const records = new Map<string, RecordChange>();
    for (const store of whole) {
      for (const { key } of store.records.values()) records.set(touchId(store, key), change(store, key));
    }
    for (const [id, { store, key }] of this.#touched) records.set(id, change(store, key));
    return { shapes, dropped, records: [...records.values()] };
  }

  /** `changes` are on disk. Call it before anything else may have changed. */
  saved(changes: StoreChanges): void {
    for (const shape of changes.shapes) this.#savedShapes.set(shape.name, shape);
    this.#touched.clear();
  }

  /** Forgets everything, whoever still uses it. */
  drop(): void {
    this.#unwatch();
    for (const base of this.#bases().values()) {
      for (const connection of base.connections) connection.close();
      factory()._databases.delete(base.name);
      factory()._connectionQueues.delete(base.name);
    }
    this.#touched.clear();
  }

  #touch(store: RawStore, key: RecordKey): void {
    this.#touched.set(touchId(store, key), { store, key });
  }

  #bases(): ReadonlyMap<string, RawDatabase> {
    const mine = [...factory()._databases].filter(([name]) => name.startsWith(`${this.name}::`));
    return new Map(mine.map(([name, base]) => [baseName(name), base]));
  }

  #newShapes(): readonly BaseShape[] {
    const shapes = [...this.#bases().values()].map(shapeOf);
    return shapes.filter((shape) => JSON.stringify(this.#savedShapes.get(shape.name)) !== JSON.stringify(shape));
  }

  #storesGone({ name, stores }: BaseShape): { readonly base: string; readonly store: string }[] {
    const now = new Set(stores.map((store) => store.name));
    return this.#savedStores(name)
      .filter((store) => !now.has(store))
      .map((store) => ({ base: name, store }));
  }

  /** A store that the file does not know is written whole, however its records came into it. */
  #storesNew({ name }: BaseShape): RawStore[] {
    const known = new Set(this.#savedStores(name));
    const stores = [...(this.#bases().get(name)?.rawObjectStores.values() ?? [])];
    return stores.filter((store) => !known.has(store.name));
  }

  #savedStores(base: string): string[] {
    return (this.#savedShapes.get(base)?.stores ?? []).map((store) => store.name);
  }

  async #make(shape: BaseShape): Promise<void> {
    const request = factory().open(`${this.name}::${shape.name}`, shape.version);
    request.onupgradeneeded = () => {
      for (const { name, keyPath, autoIncrement, indexes } of shape.stores) {
        const store = request.result.createObjectStore(name, { keyPath, autoIncrement });
        for (const { name: index, keyPath: path, unique, multiEntry } of indexes) {
          store.createIndex(index, path, { unique, multiEntry });
        }
      }
    };
    await finished(request);
    request.result.close();
  }
}

function factory(): Factory {
  return indexedDB as unknown as Factory;
}

function finished(request: OpenRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve();
    request.onerror = () => reject(request.error);
  });
}

function change(store: RawStore, key: RecordKey): RecordChange {
  const isGone = store.rawDatabase.rawObjectStores.get(store.name) !== store;
  const record = isGone ? undefined : store.records.get(key);
  const place = { base: baseName(store.rawDatabase.name), store: store.name, key: recordKeyText(key) };
  return record === undefined ? place : { ...place, value: serialize(record.value) };
}

function touchId(store: RawStore, key: RecordKey): string {
  return `${store.rawDatabase.name}\n${store.name}\n${recordKeyText(key)}`;
}

function baseName(name: string): string {
  return name.slice(name.indexOf('::') + 2);
}

function shapeOf(base: RawDatabase): BaseShape {
  const stores = [...base.rawObjectStores.values()].map(storeShape).sort(byName);
  return { name: baseName(base.name), version: base.version, stores };
}

function storeShape({ name, keyPath, autoIncrement, rawIndexes }: RawStore): StoreShape {
  const indexes = [...rawIndexes.values()].map((one) => ({
    name: one.name,
    keyPath: one.keyPath,
    unique: one.unique,
    multiEntry: one.multiEntry,
  }));
  return { name, keyPath, autoIncrement, indexes: indexes.sort(byName) };
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
