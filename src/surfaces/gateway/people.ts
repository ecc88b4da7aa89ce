// Owns who may talk to Talaria in a channel, and as whom: owners and guests, and the code that makes a stranger one of them.
// Invariants: a code is kept as its hash, counts once and for an hour; who is not known gets a code and nothing else.
import { randomInt } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { sha256 } from '#base/ids.ts';
import { ok, type Result, refuse } from '#base/result.ts';

export type Seat = 'owner' | 'guest';

export interface Person {
  readonly channel: string;
  readonly person: string;
  readonly name: string;
  readonly seat: Seat;
  readonly since: number;
}

interface Stranger {
  readonly channel: string;
  readonly person: string;
  readonly name: string;
  readonly chat: string;
}

/** Without letters and digits that look alike. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const [CODE_LENGTH, CODE_MS, MOST_OPEN] = [8, 3_600_000, 3];
const AGAIN_MS = 600_000;
const MOST_WRONG = 5;

export class People {
  readonly #db: Database;
  readonly #clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.#db = database;
    this.#clock = clock;
  }

  all(): readonly Person[] {
    return this.#db.all<Person>('SELECT * FROM people ORDER BY since');
  }

  seatOf(channel: string, person: string): Seat | undefined {
    const sql = 'SELECT seat FROM people WHERE channel = ? AND person = ?';
    return this.#db.get<{ readonly seat: Seat }>(sql, channel, person)?.seat;
  }

  /** A code for somebody new; undefined: he has one, or too many are open, and nothing is said to him. */
  begin({ channel, person, name, chat }: Stranger): Promise<string | undefined> {
    const now = this.#clock.now();
    return this.#db.transaction(() => {
      this.#db.run('DELETE FROM codes WHERE at < ?', now - CODE_MS);
      const open = this.#db.all<{ readonly person: string; readonly channel: string; readonly at: number }>(
        'SELECT * FROM codes',
      );
      const own = open.filter((one) => one.channel === channel && one.person === person);
      if (own.some(({ at }) => now - at < AGAIN_MS) || open.length - own.length >= MOST_OPEN) return undefined;
      this.#db.run('DELETE FROM codes WHERE channel = ? AND person = ?', channel, person);
      const code = Array.from({ length: CODE_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
      this.#db.run('INSERT INTO codes VALUES(?, ?, ?, ?, ?, ?)', sha256(code), channel, person, name, chat, now);
      return code;
    });
  }

  /** Gives who was let in, and the chat he wrote from. */
  pair(code: string, seat: Seat, as?: string): Promise<Result<Person & Stranger, 'locked' | 'wrong-code'>> {
    const now = this.#clock.now();
    return this.#db.transaction(() => {
      this.#db.run('DELETE FROM wrong_codes WHERE at < ?', now - CODE_MS);
      const { wrong } = this.#db.get<{ readonly wrong: number }>('SELECT count(*) AS wrong FROM wrong_codes') ?? {
        wrong: 0,
      };
      if (wrong >= MOST_WRONG)
        return refuse('locked', `${MOST_WRONG} codes were wrong within an hour; try again later`);
      const sql = 'SELECT * FROM codes WHERE hash = ? AND at >= ?';
      const found = this.#db.get<Stranger>(sql, sha256(code.trim().toUpperCase()), now - CODE_MS);
      if (!found) {
        this.#db.run('INSERT INTO wrong_codes VALUES(?)', now);
        return refuse('wrong-code', 'this code is wrong, used or older than an hour');
      }
      const { channel, person, chat } = found;
      const name = as ?? found.name;
      this.#db.run('DELETE FROM codes WHERE channel = ? AND person = ?', channel, person);
      this.#db.run('INSERT OR REPLACE INTO people VALUES(?, ?, ?, ?, ?)', channel, person, name, seat, now);
      return ok({ channel, person, chat, name, seat, since: now });
    });
  }

  /** Those that the configuration names. */
  async allow(channel: string, person: string): Promise<void> {
    const sql = "INSERT OR IGNORE INTO people VALUES(?, ?, ?, 'owner', ?)";
    if (this.seatOf(channel, person) !== 'owner')
      await this.#db.transaction(() => this.#db.run(sql, channel, person, person, this.#clock.now()));
  }

  /** By id or name. Gives those that are gone. */
  forget(who: string): Promise<readonly Person[]> {
    return this.#db.transaction(() => {
      const meant = this.all().filter(({ person, name }) => person === who || name.toLowerCase() === who.toLowerCase());
      for (const { channel, person } of meant) {
        this.#db.run('DELETE FROM people WHERE channel = ? AND person = ?', channel, person);
        this.#db.run('DELETE FROM lanes WHERE lane = ?', `${channel}:${person}`);
      }
      return meant;
    });
  }
}
