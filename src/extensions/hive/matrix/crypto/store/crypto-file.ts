// Owns `peers/crypto.sqlite`: the records of the key store, the position of the sync they belong to, which devices our messages reached,
// and a generation that every write raises. Knows no cryptography. Invariant: one `write` is one transaction; it fails when another
// process has written since `generation` was read (hivemind notes 5, 8).
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { RoomSchema } from '#base/database/migrate.ts';
import { quarantine } from '#base/database/quarantine.ts';
import { type DatabaseNotice, type OpenDatabaseOptions, type OpenedDatabase, openDatabase } from '#base/database.ts';
import { TalariaError } from '#base/errors.ts';
import { isJsonObject, type JsonObject, parseJson } from '#base/json.ts';
import { privateFolder } from '#base/platform.ts';
import type { BaseShape, SavedRecord, StoreChanges } from './record-change.ts';

export type DatabaseOpener = (path: string, options: OpenDatabaseOptions) => OpenedDatabase;

const SCHEMA: RoomSchema = {
  room: 'hive-crypto',
  steps: [
    `CREATE TABLE bases(name TEXT PRIMARY KEY, shape TEXT NOT NULL) WITHOUT ROWID;
     CREATE TABLE records(base TEXT NOT NULL, store TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY(base, store, key));
     CREATE TABLE facts(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
     CREATE TABLE reached(room TEXT NOT NULL, user TEXT NOT NULL, device TEXT NOT NULL, losses INTEGER NOT NULL DEFAULT 0,
       is_reached INTEGER NOT NULL DEFAULT 1, PRIMARY KEY(room, user, device)) WITHOUT ROWID;
     CREATE TABLE asked(session TEXT PRIMARY KEY) WITHOUT ROWID;
     CREATE TABLE spoken(room TEXT PRIMARY KEY) WITHOUT ROWID;`,
    `CREATE TABLE encrypted(room TEXT PRIMARY KEY, settings TEXT NOT NULL) WITHOUT ROWID;
     CREATE TABLE opened(session BLOB NOT NULL, place INTEGER NOT NULL, event BLOB NOT NULL, PRIMARY KEY(session, place)) WITHOUT ROWID;`,
  ],
};

/**
 * `position`: of the sync; `account`: user and device; `origin`: which file this was when it was written; `settled`: `yes`, what the
 * server keeps of this device is ours; `no`, the file was put back from a copy; absent, it is new.
 */
export type FactName = 'position' | 'account' | 'origin' | 'settled';

export interface CryptoFileOptions {
  /** Absolute path of `peers/`. */
  readonly folder: string;
  readonly clock: Clock;
  readonly open?: DatabaseOpener;
  readonly onNotice: (notice: DatabaseNotice) => void;
}

/** Where the key lies that encrypts the records. */
export function storeKeyPath(folder: string): string {
  return join(folder, 'store.key');
}

export class CryptoFile {
  readonly path: string;
  readonly database: Database;
  readonly #keyPath: string;
  readonly #clock: Clock;
  readonly #inode: string | undefined;

  /** Opens or makes the file. Throws TalariaError as `openDatabase`. */
  constructor({ folder, clock, open = openDatabase, onNotice }: CryptoFileOptions) {
    privateFolder(folder);
    this.path = join(folder, 'crypto.sqlite');
    this.#keyPath = storeKeyPath(folder);
    this.#clock = clock;
    const opened = open(this.path, { rooms: [SCHEMA], clock });
    this.database = opened.database;
    this.#inode = this.place;
    for (const notice of opened.notices) onNotice(notice);
  }

  /** Still the file that its path names: nobody has taken it away or put another in its place. */
  get isInPlace(): boolean {
    return this.#inode !== undefined && this.place === this.#inode;
  }

  /**
   * Tells a store that was copied or put back from the one that was written to, also when a copy was written over it: its key is a file that
   * is written once, and no copying keeps the time of that.
   */
  get origin(): string | undefined {
    const facts = statSync(this.#keyPath, { throwIfNoEntry: false, bigint: true });
    return facts === undefined ? undefined : `${this.place} ${facts.ctimeNs}`;
  }

  get place(): string | undefined {
    const facts = statSync(this.path, { throwIfNoEntry: false, bigint: true });
    return facts === undefined ? undefined : `${facts.ino} ${facts.birthtimeMs}`;
  }

  generation(): number {
    const row = this.database.get<{ value: string }>("SELECT value FROM facts WHERE name = 'generation'");
    return Number(row?.value ?? 0);
  }

  fact(name: FactName): string | undefined {
    return this.database.get<{ value: string }>('SELECT value FROM facts WHERE name = ?', name)?.value;
  }

  setFact(name: FactName, value: string): void {
    this.database.run(
      'INSERT INTO facts VALUES(?, ?) ON CONFLICT DO UPDATE SET value = excluded.value WHERE value <> excluded.value',
      name,
      value,
    );
  }

  shapes(): readonly BaseShape[] {
    return this.database.all<{ shape: string }>('SELECT shape FROM bases ORDER BY name').map(({ shape }) => {
      const parsed = parseJson(shape);
      if (parsed.ok && isJsonObject(parsed.value)) return parsed.value as JsonObject & BaseShape;
      throw new TalariaError('the key store has a database without a shape', { code: 'key-store-unusable' });
    });
  }

  records(): Iterable<SavedRecord> {
    return this.database.iterate<SavedRecord>('SELECT base, store, key, value FROM records');
  }

  /**
   * Writes the changes and whatever `more` adds, and raises the generation. Gives the new one. Throws TalariaError `key-store-moved` when
   * the file is no longer at `from`. `isLight`: a power cut may take it back.
   */
  write(
    changes: StoreChanges,
    options: { readonly from: number; readonly more?: () => void; readonly isLight?: boolean },
  ): Promise<number> {
    const work = () => {
      if (this.generation() !== options.from) {
        throw new TalariaError(`${this.path} was written by another process`, {
          code: 'key-store-moved',
          retryable: true,
        });
      }
      this.#apply(changes);
      options.more?.();
      const next = options.from + 1;
      this.database.run(
        "INSERT INTO facts VALUES('generation', ?) ON CONFLICT DO UPDATE SET value = excluded.value",
        String(next),
      );
      return next;
    };
    return options.isLight ? this.database.lightTransaction(work) : this.database.transaction(work);
  }

  #apply({ shapes, dropped, records }: StoreChanges): void {
    for (const shape of shapes) {
      this.database.run(
        'INSERT INTO bases VALUES(?, ?) ON CONFLICT DO UPDATE SET shape = excluded.shape',
        shape.name,
        JSON.stringify(shape),
      );
    }
    for (const { base, store } of dropped) {
      this.database.run('DELETE FROM records WHERE base = ? AND store = ?', base, store);
    }
    for (const { base, store, key, value } of records) {
      if (value === undefined)
        this.database.run('DELETE FROM records WHERE base = ? AND store = ? AND key = ?', base, store, key);
      else
        this.database.run(
          'INSERT INTO records VALUES(?, ?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
          base,
          store,
          key,
          value,
        );
    }
  }

  /** Closes it and keeps it under another name. Gives that name. */
  setAside(): string {
    this.database.close();
    return quarantine(this.path, this.#clock);
  }

  close(): void {
    this.database.close();
  }
}
