/** What is used of fake-indexeddb below its surface, through real transactions: whatever changes a record is told, and nothing else is. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { IDBKeyRange, indexedDB } from 'fake-indexeddb';
import fc from 'fast-check';
import {
  MemoryRecords,
  type RecordChange,
  type RecordKey,
  readRecordKey,
  recordKeyText,
  type SavedRecord,
  type StoreChanges,
} from '#extensions/hive/crypto/memory-records.ts';

// The types of the package are those of a browser, which this program does not have.
type Loose = Record<string, (...args: readonly unknown[]) => Loose> & { result: Loose; error: unknown };

const factory = indexedDB as unknown as Loose;

const ranges = IDBKeyRange as unknown as Loose;

describe('records in memory', () => {
  test('every way to change a record is told once, with its last value', async () => {
    const { memory, base } = await made();
    await run(base, (store) => {
      store.put?.({ a: 1 }, 'one');
      store.put?.({ a: 2 }, 'one');
      store.add?.({ a: 3 }, 'two');
      store.put?.({ a: 4 }, 'three');
    });
    assert.deepEqual(keys(settle(memory)), ['one', 'three', 'two']);
    await run(base, (store) => store.put?.({ a: 5 }, 'two'));
    assert.deepEqual(keys(settle(memory)), ['two']);
    await run(base, (store) => {
      const cursor = store.openCursor?.('one') as unknown as { result: Loose; onsuccess: () => void };
      cursor.onsuccess = () => cursor.result?.update?.({ a: 9 });
    });
    assert.deepEqual(keys(settle(memory)), ['one']);
    await run(base, (store) => store.delete?.(ranges.bound?.('o', 'three')));
    const deleted = settle(memory).records;
    assert.deepEqual(
      deleted.map(({ key, value }) => [key, value]),
      [
        ['"one"', undefined],
        ['"three"', undefined],
      ],
    );
    await run(base, (store) => store.clear?.());
    assert.deepEqual(keys(settle(memory)), ['two']);
    assert.equal(memory.isChanged, false);
    memory.drop();
  });

  test('a transaction that is taken back leaves the file as it is', async () => {
    const { memory, base } = await made();
    await run(base, (store) => store.put?.({ a: 1 }, 'kept'));
    const file = new Map<string, RecordChange>();
    apply(file, settle(memory));
    await run(base, (store, transaction) => {
      store.put?.({ a: 2 }, 'kept');
      store.put?.({ a: 3 }, 'gone');
      transaction.abort?.();
    }).catch(() => undefined);
    apply(file, settle(memory));
    assert.deepEqual([...file.keys()], ['"kept"']);
    const { base: again } = await made(file);
    assert.deepEqual(await get(again, 'kept'), { a: 1 });
    memory.drop();
  });

  test('rebuilt, it has the same values, keys and indexes', async () => {
    const { memory, base } = await made();
    const values = [
      { text: 'ü\u0000', bytes: new Uint8Array([1, 2, 255]), list: [1, [2]], big: 2n ** 70n, none: undefined },
      [1, 2],
      'text',
      7,
    ];
    await run(base, (store) => {
      for (const [at, value] of values.entries()) store.put?.(value, at);
    });
    await run(base, (store) => store.put?.({ mark: 1 }, ['a', new Uint8Array([3])]));
    const file = new Map<string, RecordChange>();
    const changes = settle(memory);
    apply(file, changes);
    memory.drop();
    const { base: again } = await made(file);
    for (const [at, value] of values.entries()) assert.deepEqual(await get(again, at), value);
    assert.deepEqual(await get(again, ['a', new Uint8Array([3])]), { mark: 1 });
    const indexed = again.transaction?.('s').objectStore?.('s').index?.('marks').get?.(1);
    assert.deepEqual(await done(indexed as Loose), { mark: 1 });
  });

  test('an upgrade that makes, drops and renames stores is followed', async () => {
    const { memory, base } = await made();
    await run(base, (store) => store.put?.({ a: 1 }, 'old'));
    settle(memory);
    base.close?.();
    const upgraded = await openBase(memory.name, 2, (connection, transaction) => {
      connection.createObjectStore?.('t', { keyPath: 'id' }).put?.({ id: 'new' });
      (transaction.objectStore?.('s') as unknown as { name: string }).name = 'renamed';
    });
    const changes = settle(memory);
    assert.deepEqual(changes.dropped, [{ base: 'base', store: 's' }]);
    assert.deepEqual(
      changes.shapes.map(({ version, stores }) => [version, stores.map(({ name }) => name)]),
      [[2, ['renamed', 't']]],
    );
    assert.deepEqual(changes.records.map(({ store, key }) => [store, key]).sort(), [
      ['renamed', '"old"'],
      ['t', '"new"'],
    ]);
    upgraded.close?.();
    memory.drop();
  });

  test('keys go into text and back; equal keys give equal texts', () => {
    const leaf = fc.oneof(fc.string(), fc.double({ noNaN: true }), fc.uint8Array());
    const { key } = fc.letrec<{ key: RecordKey }>((tie) => ({
      key: fc.oneof({ depthSize: 'small' }, leaf, fc.array(tie('key'), { maxLength: 3 })),
    }));
    fc.assert(
      fc.property(key, (one) => {
        const text = recordKeyText(one);
        assert.equal(recordKeyText(readRecordKey(text)), text);
        assert.equal(recordKeyText(structuredClone(one) as RecordKey), text);
      }),
    );
    assert.throws(() => readRecordKey('{"date":7}'), { code: 'key-store-unusable' });
    assert.throws(() => readRecordKey('['), { code: 'key-store-unusable' });
  });
});

const SHAPE = {
  name: 'base',
  version: 1,
  stores: [
    {
      name: 's',
      keyPath: null,
      autoIncrement: false,
      indexes: [{ name: 'marks', keyPath: 'mark', unique: true, multiEntry: false }],
    },
  ],
};

async function made(file: ReadonlyMap<string, RecordChange> = new Map()) {
  const memory = new MemoryRecords();
  await memory.restore([SHAPE], [...file.values()] as SavedRecord[]);
  assert.equal(memory.isChanged, false);
  return { memory, base: await openBase(memory.name, 1) };
}

async function openBase(
  name: string,
  version: number,
  upgrade?: (base: Loose, transaction: Loose) => void,
): Promise<Loose> {
  const request = factory.open?.(`${name}::base`, version) as Loose & {
    onupgradeneeded: () => void;
    transaction: Loose;
  };
  request.onupgradeneeded = () => upgrade?.(request.result, request.transaction);
  return (await done(request)) as Loose;
}

function run(base: Loose, work: (store: Loose, transaction: Loose) => unknown): Promise<void> {
  const transaction = base.transaction?.('s', 'readwrite') as Loose & { oncomplete: () => void; onabort: () => void };
  work(transaction.objectStore?.('s') as Loose, transaction);
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(new Error('aborted'));
  });
}

function get(base: Loose, key: unknown): Promise<unknown> {
  return done(base.transaction?.('s').objectStore?.('s').get?.(key) as Loose);
}

function done(request: Loose): Promise<unknown> {
  const asked = request as Loose & { onsuccess: () => void; onerror: () => void };
  return new Promise((resolve, reject) => {
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
  });
}

function settle(memory: MemoryRecords): StoreChanges {
  const changes = memory.changes();
  memory.saved(changes);
  return changes;
}

function keys({ records }: StoreChanges): unknown[] {
  return records.map(({ key }) => readRecordKey(key)).sort();
}

function apply(file: Map<string, RecordChange>, { records }: StoreChanges): void {
  for (const record of records) {
    if (record.value === undefined) file.delete(record.key);
    else file.set(record.key, record);
  }
}
