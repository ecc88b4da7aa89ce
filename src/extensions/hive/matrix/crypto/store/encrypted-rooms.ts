// Owns which rooms were ever seen encrypted, with their newest settings. Knows no server. Invariant: a room never leaves the list, whatever
// a server says later: encryption can be switched on, not off.
import type { Database } from '#base/database/connection.ts';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import type { EncryptedRoom } from '../room-crypto.ts';

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
