// Owns what the file remembers of rooms and devices: which devices our messages of a room reached, which of them lost their keys since,
// which keys we have asked for, and in which rooms we have spoken. Knows no cryptography. Invariant: a device that says that it lost its
// keys counts as not reached, at most LOSSES times a room, so that nobody can make us repeat ourselves for ever.
import type { Database } from '#base/database/connection.ts';
import type { LateDevice } from '../room-crypto.ts';

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
