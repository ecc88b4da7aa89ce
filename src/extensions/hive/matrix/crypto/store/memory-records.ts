// Owns the key store in memory: the databases of one machine under a name of this opening, rebuilt from saved records, and the list of
// what changed since the last save. Knows no SQLite. Invariant: a change stays in the list until `saved` says that it is on disk, and
// the list names single records, so that a save costs what changed, however much is known (hivemind notes 5).
import { deserialize, serialize } from 'node:v8';
import { indexedDB } from 'fake-indexeddb';
import { TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import type { BaseShape, RecordChange, SavedRecord, StoreChanges, StoreShape } from './record-change.ts';
import { type RecordKey, readRecordKey, recordKeyText } from './record-key.ts';
import { type RawDatabase, type RawStore, watchStores } from './watch-stores.ts';

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
