// Owns `peers/crypto.sqlite`: the records of the key store, the position of the sync they belong to, which devices our messages reached and
// which keys we asked for, which rooms were ever seen encrypted, under which event each message key was first read (as digests), and a
// generation that every write raises. Knows no cryptography. Invariants: one `write` is one transaction, which fails when another process has
// written since `generation` was read (hivemind notes 5, 8); encryption of a room can be switched on, not off; a device that says that it
// lost its keys is believed LOSSES times a room; of two events with one message key only the first that was read is ever read.
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { quarantine } from '#base/database/damage.ts';
import {
  type DatabaseNotice,
  type OpenDatabaseOptions,
  type OpenedDatabase,
  openDatabase,
  type RoomSchema,
} from '#base/database.ts';
import { TalariaError } from '#base/errors.ts';
import { isJsonObject, type JsonObject, parseJson, parseJsonObject } from '#base/json.ts';
import { privateFolder } from '#base/platform.ts';
import type { BaseShape, SavedRecord, StoreChanges } from './memory-records.ts';
import type { EncryptedRoom, LateDevice } from './room-crypto.ts';

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

const SETTINGS = ['algorithm', 'rotation_period_ms', 'rotation_period_msgs'] as const;

export class EncryptedRooms {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Those that are not known like this yet. */
  news(rooms: readonly EncryptedRoom[]): readonly EncryptedRoom[] {
    const sql = 'SELECT 1 FROM encrypted WHERE room = ? AND settings = ?';
    return rooms.filter((room) => this.#database.get(sql, room.roomId, settingsText(room)) === undefined);
  }

  note(rooms: readonly EncryptedRoom[]): void {
    const sql = 'INSERT INTO encrypted VALUES(?, ?) ON CONFLICT DO UPDATE SET settings = excluded.settings';
    for (const room of rooms) this.#database.run(sql, room.roomId, settingsText(room));
  }

  all(): readonly EncryptedRoom[] {
    const rows = this.#database.all<{ room: string; settings: string }>('SELECT room, settings FROM encrypted');
    return rows.map(({ room, settings }) => {
      const parsed = parseJsonObject(settings);
      return { roomId: room, settings: parsed.ok ? parsed.value : {} };
    });
  }
}

/** Foreign JSON may hold more, and be nested deeper, than anybody can write out again. */
function settingsText({ settings }: EncryptedRoom): string {
  const kept: Record<string, JsonObject[string]> = {};
  for (const name of SETTINGS) {
    const value = settings[name];
    if (typeof value === 'string' || typeof value === 'number') kept[name] = value;
  }
  return JSON.stringify(kept);
}

/** No honest session holds more messages: its sender begins another one before. */
const MOST = 10_000;

export interface OpenedMessage {
  readonly roomId: string;
  readonly sessionId: string;
  /** Of the message in its session. */
  readonly index: number;
  readonly eventId: string;
}

export class OpenedMessages {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** False: this message was read under another event before. A power cut may make us forget the last ones. */
  async claim({ roomId, sessionId, index, eventId }: OpenedMessage): Promise<boolean> {
    const session = digest(JSON.stringify([roomId, sessionId]));
    const event = digest(eventId);
    const first = this.#first(session, index);
    if (first !== undefined) return event.equals(first);
    return this.#database.lightTransaction(() => {
      const sql = 'SELECT count(*) AS count FROM opened WHERE session = ?';
      if ((this.#database.get<{ count: number }>(sql, session)?.count ?? 0) >= MOST) return false;
      this.#database.run('INSERT OR IGNORE INTO opened VALUES(?, ?, ?)', session, index, event);
      return event.equals(this.#first(session, index) ?? event);
    });
  }

  #first(session: Uint8Array, index: number): Uint8Array | undefined {
    const sql = 'SELECT event FROM opened WHERE session = ? AND place = ?';
    return this.#database.get<{ event: Uint8Array }>(sql, session, index)?.event;
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest().subarray(0, 16);
}

const LOSSES = 5;

export class ReachedDevices {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  isReached(room: string, { userId, deviceId }: LateDevice): boolean {
    const sql = 'SELECT 1 FROM reached WHERE room = ? AND user = ? AND device = ? AND is_reached = 1';
    return this.#database.get(sql, room, userId, deviceId) !== undefined;
  }

  noteReached(room: string, devices: readonly LateDevice[]): void {
    for (const { userId, deviceId } of devices) {
      this.#database.run(
        'INSERT INTO reached(room, user, device) VALUES(?, ?, ?) ON CONFLICT DO UPDATE SET is_reached = 1',
        room,
        userId,
        deviceId,
      );
    }
  }

  /** False when this device has lost its keys of that room too often to be believed. */
  mayLose(room: string, { userId, deviceId }: LateDevice): boolean {
    const sql = 'SELECT losses FROM reached WHERE room = ? AND user = ? AND device = ?';
    return (this.#database.get<{ losses: number }>(sql, room, userId, deviceId)?.losses ?? 0) < LOSSES;
  }

  noteLoss(room: string, { userId, deviceId }: LateDevice): void {
    this.#database.run(
      `INSERT INTO reached(room, user, device, losses, is_reached) VALUES(?, ?, ?, 1, 0)
       ON CONFLICT DO UPDATE SET is_reached = 0, losses = losses + 1`,
      room,
      userId,
      deviceId,
    );
  }

  /** The device began anew: nothing of what was sent before can be read by it. */
  forget({ userId, deviceId }: LateDevice): void {
    this.#database.run('UPDATE reached SET is_reached = 0 WHERE user = ? AND device = ?', userId, deviceId);
  }

  hasAsked(session: string): boolean {
    return this.#database.get('SELECT 1 FROM asked WHERE session = ?', session) !== undefined;
  }

  noteAsked(session: string): void {
    this.#database.run('INSERT OR IGNORE INTO asked VALUES(?)', session);
  }

  hasSpoken(room: string): boolean {
    return this.#database.get('SELECT 1 FROM spoken WHERE room = ?', room) !== undefined;
  }

  noteSpoken(room: string): void {
    this.#database.run('INSERT OR IGNORE INTO spoken VALUES(?)', room);
  }

  rooms(): readonly string[] {
    return this.#database.all<{ room: string }>('SELECT room FROM spoken').map(({ room }) => room);
  }
}
