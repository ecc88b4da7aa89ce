// Owns the one place where we reach below the surface of fake-indexeddb: every record of every object store passes `storeRecord`,
// `deleteRecord` or `clear` of its raw store, also from cursors and from a rolled-back transaction. Knows no SQLite and no cryptography.
// Invariant: a change is told before the call that made it returns. test/extensions/hive/crypto/memory-records.test.ts pins what is used.
import 'fake-indexeddb/auto';
import { IDBDatabase } from 'fake-indexeddb';
import type { RecordKey } from './record-key.ts';

export interface RawRecord {
  readonly key: RecordKey;
  readonly value: unknown;
}

export interface RawIndex {
  readonly name: string;
  readonly keyPath: string | readonly string[];
  readonly unique: boolean;
  readonly multiEntry: boolean;
}

export interface RawStore {
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

export interface RawDatabase {
  readonly name: string;
  readonly version: number;
  readonly rawObjectStores: ReadonlyMap<string, RawStore>;
  readonly connections: readonly { close(): void }[];
}

interface Upgrading {
  createObjectStore(...args: readonly unknown[]): { readonly _rawObjectStore: RawStore };
}

export type ChangeListener = (store: RawStore, key: RecordKey) => void;

const listeners = new Map<string, ChangeListener>();
let isWatching = false;

/** Tells of every record of databases whose name begins with `<name>::` that is written or deleted. Returns what ends it. */
export function watchStores(name: string, listener: ChangeListener): () => void {
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
