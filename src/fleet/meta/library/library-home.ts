// Owns the library's home, `<home>/library/` (hierarchy notes A8): a home without an agent, whose skills, records and versions are kept as anywhere,
// and `library.db` beside them: who proved what, what was given to whom and what came of it. Knows no rule of what enters. Invariants: skill text
// is written by the home's own door alone; a row of another version of Talaria is refused, a folder edited by hand is read as it stands.
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { openDatabase, type RoomSchema } from '#base/database.ts';
import { errorCode } from '#base/errors.ts';
import { parseJson } from '#base/json.ts';
import { lazy } from '#base/lazy.ts';
import { withFileLock } from '#base/platform.ts';
import { contentStems } from '#base/text/words.ts';
import type { Doors, Ground, OpenedHome } from '#core/agent/room.ts';
import type { BirthsDoor, GolemsDoor, LibraryEntry } from '#fleet/styx/clade.ts';
import { ownersOf } from '#fleet/styx/owner-key.ts';

/** What the library asks of golems; where their room is not, it knows nobody. */
export type Golems = BirthsDoor & Pick<GolemsDoor, 'tags'>;

/** JSON in the columns that say so. */
export interface EntryRow {
  readonly name: string;
  readonly status: LibraryEntry['status'];
  readonly why: string;
  readonly raw: number;
  /** After the discount, and after what staleness takes. */
  readonly confidence: number;
  readonly is_cross: number;
  readonly is_stale: number;
  readonly source: LibraryEntry['source'];
  /** JSON: ids, oldest first. */
  readonly lineage: string;
  /** JSON: of its record, its domain counted in. */
  readonly tags: string;
  readonly domain: string;
  readonly archetype: string;
  readonly description: string;
  readonly trigger: string;
  /** JSON: labels, in order. */
  readonly steps: string;
  /** Why the owner has to look first; null: he need not. */
  readonly doubt: string | null;
  /** He said that one golem is enough. */
  readonly is_promoted: number;
  /** Name of the entry that took it over. */
  readonly merged_into: string | null;
  readonly added_at: number;
  /** Epoch ms, of the last use that was verified. */
  readonly validated_at: number;
  readonly equipped: number;
  readonly validated: number;
  readonly contradicted: number;
}

/** What one golem said last of one skill. */
export interface ProofRow {
  readonly id: number;
  readonly golem: string;
  readonly signer: string;
  /** Its name there, and of its text the hash. */
  readonly skill: string;
  readonly hash: string;
  readonly entry: string | null;
  readonly source: LibraryEntry['source'];
  readonly standing: 'clade' | 'outside' | 'owner';
  readonly domain: string;
  readonly archetype: string;
  readonly depth: number;
  /** JSON: golems that it passed through, the last is this one; and those with everything that they came from. */
  readonly path: string;
  readonly ancestors: string;
  readonly raw: number;
  readonly validated: number;
  readonly uses: number;
  readonly successes: number;
  readonly failures: number;
  readonly bloodstain: number;
  readonly version: number | null;
  /** JSON: BundledSkill. */
  readonly content: string;
  readonly at: number;
}

const ENTRIES = [
  ...['name TEXT PRIMARY KEY', 'status TEXT NOT NULL', 'why TEXT NOT NULL', 'raw REAL NOT NULL'],
  ...['confidence REAL NOT NULL', 'is_cross INTEGER NOT NULL', 'is_stale INTEGER NOT NULL', 'source TEXT NOT NULL'],
  ...['lineage TEXT NOT NULL', 'tags TEXT NOT NULL', 'domain TEXT NOT NULL', 'archetype TEXT NOT NULL'],
  ...['description TEXT NOT NULL', 'trigger TEXT NOT NULL', 'steps TEXT NOT NULL', 'doubt TEXT'],
  ...['is_promoted INTEGER NOT NULL DEFAULT 0', 'merged_into TEXT'],
  ...['added_at INTEGER NOT NULL', 'validated_at INTEGER NOT NULL'],
];
const PROOFS = [
  ...['id INTEGER PRIMARY KEY', 'golem TEXT NOT NULL', 'signer TEXT NOT NULL', 'skill TEXT NOT NULL'],
  ...['hash TEXT NOT NULL', 'entry TEXT', 'source TEXT NOT NULL', 'standing TEXT NOT NULL', 'domain TEXT NOT NULL'],
  ...['archetype TEXT NOT NULL', 'depth INTEGER NOT NULL', 'path TEXT NOT NULL', 'ancestors TEXT NOT NULL'],
  ...['raw REAL NOT NULL', 'validated INTEGER NOT NULL', 'uses INTEGER NOT NULL', 'successes INTEGER NOT NULL'],
  ...['failures INTEGER NOT NULL', 'bloodstain INTEGER NOT NULL', 'version INTEGER', 'content TEXT NOT NULL'],
  ...['at INTEGER NOT NULL', 'UNIQUE(signer, golem, skill)'],
];
const EQUIPPED = [
  ...['id INTEGER PRIMARY KEY', 'entry TEXT NOT NULL', 'golem TEXT NOT NULL', 'signer TEXT NOT NULL'],
  ...['at INTEGER NOT NULL', 'confidence REAL NOT NULL', "outcome TEXT NOT NULL DEFAULT 'pending'"],
  ...['successes INTEGER NOT NULL DEFAULT 0', 'failures INTEGER NOT NULL DEFAULT 0', 'UNIQUE(entry, golem, signer)'],
];

const INGESTIONS = [
  ...['id INTEGER PRIMARY KEY', 'at INTEGER NOT NULL', 'name TEXT NOT NULL', 'source TEXT NOT NULL'],
  ...['hash TEXT NOT NULL', 'stage TEXT NOT NULL', 'outcome TEXT NOT NULL', 'reason TEXT NOT NULL'],
];
const LOADOUTS = [
  ...['id INTEGER PRIMARY KEY', 'at INTEGER NOT NULL', 'golem TEXT', 'signer TEXT', 'archetype TEXT NOT NULL'],
  ...['decision TEXT NOT NULL', 'proposed TEXT NOT NULL', 'taken TEXT NOT NULL'],
];
const GOLEMS = [
  ...['golem TEXT NOT NULL', 'signer TEXT NOT NULL', 'archetype TEXT NOT NULL', 'domain TEXT NOT NULL'],
  ...['is_dead INTEGER NOT NULL', 'at INTEGER NOT NULL', 'PRIMARY KEY(golem, signer)'],
];
/** Uses by the text that was followed, counted between two looks. */
const TEXT_USES = [
  ...['entry TEXT NOT NULL', 'hash TEXT NOT NULL', 'golem TEXT NOT NULL', 'successes INTEGER NOT NULL'],
  ...['failures INTEGER NOT NULL', 'PRIMARY KEY(entry, hash, golem)'],
];
/** Texts of an entry, in the order in which they stood; `looked`: looks that were taken at it. */
const TEXTS = [
  ...['entry TEXT NOT NULL', 'version INTEGER NOT NULL', 'hash TEXT NOT NULL', 'is_worse INTEGER NOT NULL DEFAULT 0'],
  ...['looked INTEGER NOT NULL DEFAULT 0', 'PRIMARY KEY(entry, version)'],
];
const CONFLICTS = [
  'one TEXT NOT NULL',
  'other TEXT NOT NULL',
  'at INTEGER NOT NULL',
  'kept TEXT',
  'PRIMARY KEY(one, other)',
];

const schema: RoomSchema = {
  room: 'library',
  steps: [
    `CREATE TABLE entries(${ENTRIES.join(', ')}) WITHOUT ROWID`,
    `CREATE TABLE proofs(${PROOFS.join(', ')}); CREATE INDEX proofs_by_entry ON proofs(entry)`,
    'CREATE INDEX proofs_by_archetype ON proofs(archetype, entry, successes, failures)',
    `CREATE TABLE equip_history(${EQUIPPED.join(', ')})`,
    `CREATE TABLE ingestions(${INGESTIONS.join(', ')}); CREATE INDEX ingestions_by_hash ON ingestions(hash)`,
    `CREATE TABLE conflicts(${CONFLICTS.join(', ')}) WITHOUT ROWID`,
    `CREATE TABLE loadouts(${LOADOUTS.join(', ')})`,
    `CREATE TABLE golems(${GOLEMS.join(', ')}) WITHOUT ROWID`,
    `CREATE TABLE text_uses(${TEXT_USES.join(', ')}) WITHOUT ROWID`,
    `CREATE TABLE texts(${TEXTS.join(', ')}) WITHOUT ROWID`,
    // What a golem answered last, as a hash.
    'CREATE TABLE answers(golem TEXT, signer TEXT, hash TEXT NOT NULL, PRIMARY KEY(golem, signer)) WITHOUT ROWID',
    // Keys of owners, trusted or not, that say whose a golem is; `is_taken`: what it left was looked at since that key counts.
    'CREATE TABLE vouches(golem TEXT, signer TEXT, owner TEXT, is_taken INTEGER DEFAULT 0, PRIMARY KEY(golem, signer, owner)) WITHOUT ROWID',
    // Orders to go back that were not sent yet.
    'CREATE TABLE owed(signer TEXT, skill TEXT, version INTEGER, PRIMARY KEY(signer, skill, version)) WITHOUT ROWID',
  ],
};

const NOBODY: Golems = {
  standing: async () => undefined,
  tags: async (_, archetype) =>
    EVERYTHING.includes(archetype)
      ? 'all'
      : archetype
          .toLowerCase()
          .split(/[^a-z0-9]+/)
          .filter(Boolean),
  changed: async () => 0,
  alive: async () => undefined,
};

/** Share of the words of one trigger that another has to hold to be looked at. */
const NEAR = 0.6;
/** Of the seed, and of ours. */
const EVERYTHING: readonly string[] = ['sleepwalker', 'observer'];

export interface LibraryOptions {
  /** Absolute; default `<home>/library`. */
  readonly root?: string;
  readonly golems?: Partial<Golems>;
}

/** An id alone is of as many golems as there are homes. */
export type Named = Pick<ProofRow, 'golem' | 'signer'>;

type SkillDoors = Pick<Doors, 'skills' | 'door' | 'skillRecords' | 'ranker'>;

export class Library {
  readonly ground: Ground;
  readonly clock: Clock;
  readonly root: string;
  readonly database: Database;
  readonly golems: Golems;
  readonly #home: OpenedHome;
  /** Names by the words of what they are for; filled when something comes in. */
  readonly #byStem = new Map<string, Set<string>>();
  readonly #known = new Set<string>();
  readonly #doors = lazy(() => this.#open());

  constructor(ground: Ground, golems: Golems, root: string) {
    this.ground = ground;
    this.clock = ground.clock;
    this.golems = golems;
    this.root = root;
    this.#home = ground.homeAt({ root, cwd: root });
    const path = join(root, 'library.db');
    this.database = openDatabase(path, { rooms: [schema], onCorrupt: 'throw', clock: ground.clock }).database;
  }

  /** Of its own home; opened when they are asked for. */
  doors(): Promise<SkillDoors> {
    return this.#doors();
  }

  async #open(): Promise<SkillDoors> {
    const { door } = this.#home.ground;
    const doors = {
      ...{ skills: await door('skills'), door: await door('door') },
      ...{ skillRecords: await door('skillRecords'), ranker: await door('ranker') },
    };
    await doors.door.reconcile();
    await doors.skills.refresh();
    return doors;
  }

  /** One at a time, over all processes: what comes in changes what stands. Throws TalariaError `locked`. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return withFileLock(join(this.root, 'reception.lock'), work, { clock: this.clock });
  }

  /** Vouches of keys that speak for the owner here. */
  vouches(where = '1', ...values: readonly string[]): readonly Named[] {
    const owners = ownersOf(this.ground.places.home);
    const all = this.database.all<Named & { owner: string }>(`SELECT * FROM vouches WHERE ${where}`, ...values);
    return all.filter(({ owner }) => owners.includes(owner));
  }

  /** Keys that say so of golems, and do not speak for the owner here. */
  strangers(): readonly string[] {
    const all = this.database.all<{ owner: string }>('SELECT DISTINCT owner FROM vouches ORDER BY owner LIMIT 9');
    const owners = ownersOf(this.ground.places.home);
    return all.map(({ owner }) => owner).filter((owner) => !owners.includes(owner));
  }

  /** Was it born in a home of this owner? Its rows alone say nothing. */
  isVouched({ golem, signer }: Named): boolean {
    return this.vouches('golem = ? AND signer = ?', golem, signer).length > 0;
  }

  /** Canonical ones first, then by confidence; held ones last. */
  entries(where = '1', ...values: readonly (string | number)[]): readonly EntryRow[] {
    return this.database.all<EntryRow>(`${SELECT} WHERE ${where} ${ORDER}`, ...values);
  }

  entry(name: string): EntryRow | undefined {
    return this.entries('name = ?', name)[0];
  }

  /** What of each that stands is needed to put them in order. */
  standing(): readonly Pick<EntryRow, 'name' | 'status' | 'confidence' | 'tags' | 'validated' | 'contradicted'>[] {
    const given = `SELECT entry, ${COUNTS.join(', ')} FROM equip_history GROUP BY entry`;
    const counts = 'ifnull(validated, 0) AS validated, ifnull(contradicted, 0) AS contradicted';
    return this.database.all(`SELECT name, status, confidence, tags, ${counts}
      FROM entries LEFT JOIN (${given}) ON entry = name WHERE status <> 'held'`);
  }

  /** Oldest first. */
  proofs(entry: string): readonly ProofRow[] {
    return this.database.all<ProofRow>('SELECT * FROM proofs WHERE entry = ? ORDER BY id', entry);
  }

  /** Texts of an entry that did worse than the one before. */
  worseTexts(entry: string): readonly string[] {
    const sql = 'SELECT hash FROM texts WHERE entry = ? AND is_worse = 1';
    return this.database.all<{ hash: string }>(sql, entry).map(({ hash }) => hash);
  }

  /** Entries whose trigger shares most of its words with this one. */
  near(trigger: string): readonly EntryRow[] {
    const { count = 0 } = this.database.get<{ count: number }>('SELECT count(*) AS count FROM entries') ?? {};
    if (count !== this.#known.size) {
      this.#byStem.clear();
      this.#known.clear();
      for (const row of this.database.iterate<EntryRow>('SELECT name, trigger FROM entries'))
        this.learn(row.name, row.trigger);
    }
    const stems = [...new Set(contentStems(trigger))];
    const shared = new Map<string, number>();
    for (const name of stems.flatMap((stem) => [...(this.#byStem.get(stem) ?? [])]))
      shared.set(name, (shared.get(name) ?? 0) + 1);
    const least = stems.length * NEAR;
    return [...shared].filter(([, words]) => words >= least).flatMap(([name]) => this.entry(name) ?? []);
  }

  /** A new entry is found from now on. */
  learn(name: string, trigger: string): void {
    this.#known.add(name);
    for (const stem of contentStems(trigger)) {
      const names = this.#byStem.get(stem) ?? new Set();
      this.#byStem.set(stem, names.add(name));
    }
  }

  async run(sql: string, ...values: readonly (string | number | null)[]): Promise<void> {
    await this.database.transaction(() => void this.database.run(sql, ...values));
  }

  async close(): Promise<void> {
    this.database.close();
    await this.#home.shutdown();
  }
}

const COUNTS = ["total(outcome = 'validated') AS validated", "total(outcome = 'contradicted') AS contradicted"];
const GIVEN = 'entries LEFT JOIN equip_history ON entry = name';
const SELECT = `SELECT entries.*, count(equip_history.id) AS equipped, ${COUNTS.join(', ')} FROM ${GIVEN}`;
const ORDER = "GROUP BY name ORDER BY status = 'held', status <> 'canonical', entries.confidence DESC, name";

/** Throws TalariaError as `openDatabase`; a damaged library.db stays as it is. */
export async function openLibrary(ground: Ground, options: LibraryOptions = {}): Promise<Library> {
  const { root = join(ground.places.home, 'library'), golems = {} } = options;
  const [births = NOBODY, lent = NOBODY] = [await lentBy(ground, 'births'), await lentBy(ground, 'golems')];
  const known: Golems = {
    standing: (signer, golem) => births.standing(signer, golem),
    changed: (domain, since) => births.changed(domain, since),
    alive: (called) => births.alive(called),
    tags: (domain, archetype) => lent.tags(domain, archetype),
  };
  return new Library(ground, { ...known, ...golems }, root);
}

/** Undefined: there is no such room. */
export async function lentBy<Name extends keyof Doors>({ door }: Ground, name: Name): Promise<Doors[Name] | undefined> {
  return door(name).catch((error: unknown) => {
    if (errorCode(error) === 'no-door') return undefined;
    throw error;
  });
}

export async function withLibrary<T>(
  ground: Ground,
  work: (library: Library) => Promise<T>,
  options: LibraryOptions = {},
): Promise<T> {
  const library = await openLibrary(ground, options);
  try {
    return await work(library);
  } finally {
    await library.close();
  }
}

export function entryOf(row: EntryRow): LibraryEntry {
  const { name, description, status, confidence, raw, source, equipped, validated, contradicted } = row;
  return {
    ...{ name, description, status, confidence, raw, source, equipped, validated, contradicted },
    ...{ isStale: row.is_stale === 1, isCrossValidated: row.is_cross === 1, lineage: listOf(row.lineage) },
  };
}

/** Of a column that holds a list of texts as JSON; only this room writes them. */
export function listOf(json: string): readonly string[] {
  const read = parseJson(json);
  return read.ok && Array.isArray(read.value) ? read.value.map(String) : [];
}
