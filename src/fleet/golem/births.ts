// Owns the register of births of a home, `golems/births.db` (hierarchy notes A7, B3): which golems there ever were, what became of them, and
// whose an address is. Knows no golem's own files: a row stays when its folder goes. Invariants: an id is born once and ends once; a golem
// speaks with the key that it was born with, and no other key of this home speaks for it.
import { join } from 'node:path';
import { type Clock, systemClock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { openDatabase, type RoomSchema } from '#base/database.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { stored } from './golem-rows.ts';
import type { DeathCause } from './hooks.ts';

export interface Birth {
  /** `ledger-gen2`. */
  readonly id: string;
  readonly name: string;
  /** From 1. */
  readonly generation: number;
  /** Address. */
  readonly signer: string;
  readonly archetype: string;
  readonly domain: string;
  /** Absolute, of what its domain looks at; null: it has no folder. */
  readonly dir: string | null;
  /** Ids, oldest first; the last is its own. */
  readonly lineage: readonly string[];
  /** Epoch ms. */
  readonly bornAt: number;
  readonly end?: { readonly at: number; readonly cause: DeathCause };
}

const COLUMNS = [
  ...['id TEXT PRIMARY KEY', 'name TEXT NOT NULL', 'generation INTEGER NOT NULL', 'signer TEXT NOT NULL'],
  ...['archetype TEXT NOT NULL', 'domain TEXT NOT NULL', 'dir TEXT', 'lineage TEXT NOT NULL'],
  ...['born_at INTEGER NOT NULL', 'ended_at INTEGER', 'death_cause TEXT', 'UNIQUE(name, generation)'],
];

const schema: RoomSchema = {
  room: 'golem-births',
  steps: [
    `CREATE TABLE births(${COLUMNS.join(', ')}) WITHOUT ROWID`,
    'CREATE TABLE signers(address TEXT PRIMARY KEY, how TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID',
  ],
};

/** Makes the file when there is none; a damaged one is left as it is. Throws TalariaError as `openDatabase` does. */
export function openBirths(home: string, clock: Clock = systemClock): Births {
  return new Births(home, clock);
}

/** Opened for this, and closed when it has settled. */
export function withBirths<T>(home: string, clock: Clock, work: (births: Births) => T): T {
  const births = openBirths(home, clock);
  const done = work(births);
  if (done instanceof Promise) return done.finally(() => births.close()) as T;
  births.close();
  return done;
}

/** What a promise of it resolved is on the disk. */
export class Births {
  readonly #database: Database;
  readonly #clock: Clock;

  constructor(home: string, clock: Clock) {
    const path = join(home, 'golems', 'births.db');
    this.#database = openDatabase(path, { rooms: [schema], onCorrupt: 'throw', clock }).database;
    this.#clock = clock;
  }

  /** Refuses an id that was born before, whatever became of it. */
  async add(birth: Omit<Birth, 'end'>): Promise<Result<void, 'born-before'>> {
    const { id, name, generation, archetype, domain, dir, bornAt } = birth;
    const signer = birth.signer.toLowerCase();
    const values = [id, name, generation, signer, archetype, domain, dir, JSON.stringify(birth.lineage), bornAt];
    const isNew = await this.#database.transaction(() => {
      const sql = 'INSERT INTO births VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL) ON CONFLICT DO NOTHING';
      if (this.#database.run(sql, ...values).changes === 0) return false;
      this.#database.run("INSERT OR REPLACE INTO signers VALUES(?, 'born', ?)", signer, bornAt);
      return true;
    });
    return isNew ? ok(undefined) : refuse('born-before', `There was a golem ${id} before: take its next generation.`);
  }

  /** The newest of that name, dead or alive. */
  get(name: string): Birth | undefined {
    const sql = 'SELECT * FROM births WHERE name = ? ORDER BY generation DESC LIMIT 1';
    const row = this.#database.get<StoredBirth>(sql, name);
    return row && birthOf(row);
  }

  /** In order of birth. */
  list(): readonly Birth[] {
    return this.#database.all<StoredBirth>('SELECT * FROM births ORDER BY born_at, id').map(birthOf);
  }

  /** False: it had ended before, which stays, or was never born. `at`: epoch ms. */
  async ended(id: string, cause: DeathCause, at: number): Promise<boolean> {
    const sql = 'UPDATE births SET ended_at = ?, death_cause = ? WHERE id = ? AND ended_at IS NULL';
    return this.#database.transaction(() => this.#database.run(sql, at, cause, id).changes === 1);
  }

  /** `own`: that golem was born here with that key. A key of this home that speaks for another golem is nobody's. */
  standing(address: string, golem: string): 'own' | 'accepted' | undefined {
    const signer = address.toLowerCase();
    const isOwn = this.#database.get('SELECT 1 FROM births WHERE id = ? AND signer = ?', golem, signer);
    if (isOwn) return 'own';
    const isAccepted = this.#database.get("SELECT 1 FROM signers WHERE address = ? AND how = 'accepted'", signer);
    return isAccepted ? 'accepted' : undefined;
  }

  /** The owner takes what this address signs for good. Changes nothing for an address of this home. */
  async accept(address: string): Promise<Result<string, 'not-an-address'>> {
    const signer = address.trim().toLowerCase();
    if (!/^0x[0-9a-f]{40}$/.test(signer)) return refuse('not-an-address', 'An address is 0x and 40 hex characters.');
    const sql = "INSERT INTO signers VALUES(?, 'accepted', ?) ON CONFLICT DO NOTHING";
    await this.#database.transaction(() => this.#database.run(sql, signer, this.#clock.now()));
    return ok(signer);
  }

  close(): void {
    this.#database.close();
  }
}

interface StoredBirth extends Omit<Birth, 'lineage' | 'bornAt' | 'end'> {
  readonly lineage: string;
  readonly born_at: number;
  readonly ended_at: number | null;
  readonly death_cause: DeathCause | null;
}

function birthOf({ lineage, born_at: bornAt, ended_at: at, death_cause: cause, ...rest }: StoredBirth): Birth {
  return {
    ...rest,
    lineage: stored<readonly string[]>(lineage) ?? [],
    bornAt,
    ...(at === null || cause === null ? {} : { end: { at, cause } }),
  };
}
