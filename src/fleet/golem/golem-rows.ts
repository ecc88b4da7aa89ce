// Owns golem.db: the state of one life, its ticks, what was predicted before each act, what the owner said, and the tables of the mind. Knows no
// domain and no skill. Invariants: a tick is one commit, state and row and outcome together, so that after any kill ticks are 1…n without a gap
// and none stands twice; a prediction is committed before the act that it speaks of.
import type { Clock } from '#base/clock.ts';
import type { Database, SqlValue } from '#base/database/connection.ts';
import { openDatabase, type RoomSchema } from '#base/database.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { parseJson } from '#base/json.ts';
import type { Heard } from '#fleet/styx/clade.ts';
import type { KnownWords } from '#fleet/styx/words.ts';
import type { DeathCause, Prediction, TickRecord } from './hooks.ts';
import type { Mood, Phase, Resolved, Tried } from './vitals.ts';

/** What the columns of `TABLES` are. */
const KINDS: Readonly<Record<string, string>> = {
  ...{ key: 'INTEGER PRIMARY KEY', int: 'INTEGER NOT NULL', real: 'REAL NOT NULL', text: 'TEXT NOT NULL' },
  ...{ count: 'INTEGER NOT NULL DEFAULT 0', 'int?': 'INTEGER', 'real?': 'REAL', 'text?': 'TEXT' },
  ...{ one: 'INTEGER PRIMARY KEY CHECK(one = 1)', name: 'TEXT PRIMARY KEY' },
};

const TABLES: Readonly<Record<string, string>> = {
  life: 'key:name value:text',
  ticks: 'tick:key at:int tag:text tier:text surprise:real acted:int success:int? record:text',
  predictions: 'tick:key category:text claim:text p:real at:int skills:text outcome:int?',
  death: 'one:one cause:text tick:int at:int phase:text path:text?',
  drafts: 'id:key tick:int by:text trigger:text draft:text',
  feedback: 'id:key tick:int skill:text version:int tool:text success:int value:real? context:text flushed:count',
  grimoire: [
    'id:key kind:text text:text confidence:real half_life_days:real validated:count contradicted:count tag:text',
    'trigger:text steps:text handles:text source:text propagation:text bloodstain:int weak_cycles:count',
    'created_at:int used_at:int',
  ].join(' '),
  ingestions: 'id:key at:int name:text source:text hash:text stage:text outcome:text reason:text',
  dreams: 'tick:key at:int report:text',
  costs: 'id:key tick:int hook:text usd:real tokens:int',
};

function tableOf([name, columns]: readonly [string, string]): string {
  const all = columns.split(' ').map((column) => column.split(':'));
  const text = all.map(([column, kind = '']) => `${column} ${KINDS[kind]}`).join(', ');
  return `CREATE TABLE ${name}(${text}) ${name === 'life' ? 'WITHOUT ROWID' : ''}`;
}

const FORGET_WORDS = "INSERT INTO grimoire_words(grimoire_words, rowid, text) VALUES('delete', old.id, old.text)";
const KNOW_WORDS = 'INSERT INTO grimoire_words(rowid, text) VALUES(new.id, new.text)';

const STEPS = [
  ...Object.entries(TABLES).map(tableOf),
  'CREATE TABLE nominations(skill TEXT NOT NULL, version INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY(skill, version))',
  'CREATE INDEX ticks_by_tag ON ticks(tag, tick)',
  'CREATE INDEX predictions_by_category ON predictions(category, tick)',
  'CREATE INDEX feedback_by_skill ON feedback(skill, id)',
  'CREATE INDEX grimoire_by_kind ON grimoire(kind, tag)',
  'CREATE INDEX ingestions_by_hash ON ingestions(hash)',
  "CREATE VIRTUAL TABLE grimoire_words USING fts5(text, content='grimoire', content_rowid='id')",
  `CREATE TRIGGER grimoire_in AFTER INSERT ON grimoire BEGIN ${KNOW_WORDS}; END`,
  `CREATE TRIGGER grimoire_out AFTER DELETE ON grimoire BEGIN ${FORGET_WORDS}; END`,
];

const schema: RoomSchema = { room: 'golem', steps: [STEPS.join(';')] };

/** What of a life moves with each tick. */
export interface LifeState {
  /** The last that was committed; 0: none. */
  readonly tick: number;
  readonly mood: Mood;
  readonly phase: Phase;
  /** Of the last event. */
  readonly seq: number;
  readonly quietTicks: number;
  /** Ticks in a row with an accuracy below what is borne. */
  readonly wrongTicks: number;
  readonly isPaused: boolean;
  /** Last row of the home's log whose words were taken in. */
  readonly heardUpTo: number;
  /** US dollars of its whole life. */
  readonly spentUsd: number;
}

/** What a tick took on and is still to be done: value `owed`, until it is. Doing it twice does no harm. */
export interface Owed {
  /** Answers to those who said the words. */
  readonly heard: readonly Heard[];
  readonly rollbacks: readonly { readonly skill: string; readonly version: number }[];
  readonly dreams: boolean;
  readonly retires: boolean;
}

export interface DeathRow {
  readonly cause: DeathCause;
  readonly tick: number;
  /** Epoch ms. */
  readonly at: number;
  readonly phase: 'acceptance' | 'settlement' | 'reflection' | 'legacy' | 'done';
  readonly path: string | null;
}

/** What this room wrote as JSON; undefined: it is damaged. */
export function stored<T>(json: string): T | undefined {
  const read = parseJson(json);
  return read.ok ? (read.value as T) : undefined;
}

/** What a torn golem.db is told with. Its log would be played into what takes its place. */
export function tornError(message: string, cause?: unknown): TalariaError {
  return new TalariaError(message, {
    code: 'golem-torn',
    ...(cause === undefined ? {} : { cause }),
    fix: 'Nothing was changed. Take golem.db-wal away, and put golem.db back from a backup (`talaria backup` writes them).',
  });
}

export class GolemRows {
  readonly database: Database;

  /** A damaged file is left as it is: throws TalariaError `golem-torn`, else as `openDatabase` does. */
  constructor(path: string, options: { readonly clock: Clock; readonly readOnly?: boolean }) {
    try {
      this.database = openDatabase(path, { rooms: [schema], onCorrupt: 'throw', ...options }).database;
    } catch (error) {
      throw errorCode(error) === 'database-corrupt' ? tornError(errorText(error), error) : error;
    }
  }

  /** One change, lasting as `lightTransaction` of `Database` says. */
  run(sql: string, ...values: readonly SqlValue[]): Promise<ReturnType<Database['run']>> {
    return this.database.lightTransaction(() => this.database.run(sql, ...values));
  }

  value<T>(key: string): T | undefined {
    const row = this.database.get<{ value: string }>('SELECT value FROM life WHERE key = ?', key);
    return row && stored<T>(row.value);
  }

  async keep(key: string, value: unknown): Promise<void> {
    await this.database.transaction(() => this.#put(key, value));
  }

  #put(key: string, value: unknown): void {
    this.database.run('INSERT OR REPLACE INTO life VALUES(?, ?)', key, JSON.stringify(value));
  }

  state(): LifeState | undefined {
    return this.value('state');
  }

  /** Counts one more event. */
  async nextEvent(): Promise<LifeState> {
    return this.database.lightTransaction(() => {
      const state = this.state() as LifeState;
      const next = { ...state, seq: state.seq + 1 };
      this.#put('state', next);
      return next;
    });
  }

  async keepState(state: LifeState): Promise<void> {
    await this.keep('state', state);
  }

  /** Before the act. One that a kill left without its tick is replaced when the tick is lived again. */
  async predict(tick: number, about: Prediction, skills: readonly string[], at: number): Promise<void> {
    const { category, claim, p } = about;
    const sql = 'INSERT OR REPLACE INTO predictions VALUES(?, ?, ?, ?, ?, ?, NULL)';
    await this.run(sql, tick, category, claim, p, at, JSON.stringify(skills));
  }

  /** The whole tick, once: state, record, outcome of the prediction, the words that it took and what is owed for them. */
  async commitTick(
    record: TickRecord,
    state: LifeState,
    took?: { readonly words: KnownWords; readonly owed: Owed },
  ): Promise<void> {
    const { tick, at, observation, tier, pe, actions, outcome } = record;
    const success = outcome?.verified ? Number(outcome.success) : null;
    const values = [
      tick,
      at,
      observation.tag,
      tier,
      pe,
      Number(actions.some(({ block_reason: why }) => why !== 'needs-owner')),
      success,
      JSON.stringify(record),
    ];
    await this.database.lightTransaction(() => {
      this.database.run('INSERT INTO ticks VALUES(?, ?, ?, ?, ?, ?, ?, ?)', ...values);
      if (record.prediction && success !== null)
        this.database.run('UPDATE predictions SET outcome = ? WHERE tick = ?', success, tick);
      else this.database.run('DELETE FROM predictions WHERE tick = ?', tick);
      this.#put('state', state);
      for (const [key, value] of Object.entries(took ?? {})) this.#put(key, value);
    });
  }

  tick(number: number): TickRecord | undefined {
    return this.ticks({ from: number, to: number })[0];
  }

  /** The oldest first. `limit`: as many of the newest, or with `from` the first of that. */
  ticks(of: { readonly from?: number; readonly to?: number; readonly acted?: boolean; readonly limit?: number }) {
    const { from = 1, to = Number.MAX_SAFE_INTEGER, acted = false, limit = -1 } = of;
    const order = of.from === undefined ? 'DESC' : 'ASC';
    const rows = this.database.all<{ record: string }>(
      `SELECT record FROM ticks WHERE tick BETWEEN ? AND ? AND acted >= ? ORDER BY tick ${order} LIMIT ?`,
      ...[from, to, Number(acted), limit],
    );
    return (order === 'ASC' ? rows : rows.reverse()).flatMap(({ record }) => stored<TickRecord>(record) ?? []);
  }

  /** The first tick of then or later; one more than it lived: there is none. Ticks are without a gap. */
  firstSince(at: number): number {
    let [low, high] = [1, (this.state()?.tick ?? 0) + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const found = this.database.get<{ at: number }>('SELECT at FROM ticks WHERE tick = ?', middle)?.at ?? 0;
      [low, high] = found < at ? [middle + 1, high] : [low, middle];
    }
    return low;
  }

  /** What came of the ticks from there on. */
  counts(from: number): Readonly<Record<'ticks' | 'acted' | 'done' | 'failed' | 'spent_usd', number>> {
    const spent = "total(iif(tier = 'T0', 0, json_extract(record, '$.cost.usd'))) AS spent_usd";
    const came = 'total(acted) AS acted, total(success = 1) AS done, total(success = 0) AS failed';
    const sql = `SELECT count(*) AS ticks, ${came}, ${spent} FROM ticks WHERE tick >= ?`;
    return { ticks: 0, acted: 0, done: 0, failed: 0, spent_usd: 0, ...this.database.get(sql, from) };
  }

  /** Share of the kinds of situation of before and after that time (epoch ms) that were met in one of both alone; 0 while one of them is not known. */
  changed(since: number): number {
    const met = (when: string) => {
      const sql = `SELECT DISTINCT tag FROM (SELECT tag FROM ticks WHERE acted = 1 AND at ${when} ? ORDER BY tick DESC LIMIT 200)`;
      return new Set(this.database.all<{ tag: string }>(sql, since).map(({ tag }) => tag));
    };
    const [before, after] = [met('<='), met('>')];
    if (before.size === 0 || after.size === 0) return 0;
    return before.symmetricDifference(after).size / before.union(after).size;
  }

  /** What came of predictions, the newest last. Of one category, or of all. */
  resolved(limit: number, category?: string): readonly Resolved[] {
    const [where, values] = category === undefined ? ['', []] : ['AND category = ?', [category]];
    const sql = `SELECT p, outcome FROM predictions WHERE outcome IS NOT NULL ${where} ORDER BY tick DESC LIMIT ?`;
    const rows = this.database.all<{ p: number; outcome: number }>(sql, ...values, limit);
    return rows.map(({ p, outcome }) => ({ p, success: outcome === 1 })).reverse();
  }

  tried(category: string): Tried {
    const sql = 'SELECT total(outcome) AS successes, count(outcome) AS tries FROM predictions WHERE category = ?';
    return { successes: 0, tries: 0, ...this.database.get<Tried>(sql, category) };
  }

  /** Of these categories: those for which the skill was injected, and those for which it was not. */
  triedWith(skill: string, categories: readonly string[]): readonly [withIt: Tried, without: Tried] {
    const has = 'EXISTS (SELECT 1 FROM json_each(skills) WHERE value = ?)';
    const rows = this.database.all<{ has: number; successes: number; tries: number }>(
      `SELECT ${has} AS has, sum(outcome) AS successes, count(*) AS tries FROM predictions
       WHERE outcome IS NOT NULL AND category IN (SELECT value FROM json_each(?)) GROUP BY has`,
      ...[skill, JSON.stringify(categories)],
    );
    const of = (isIn: number): Tried => rows.find((row) => row.has === isIn) ?? { successes: 0, tries: 0 };
    return [of(1), of(0)];
  }

  /** What came and is not known here, by its last attempt. */
  notTakenIn(): readonly Readonly<Record<'name' | 'source' | 'stage' | 'outcome' | 'reason', string>>[] {
    const last = 'SELECT max(id) FROM ingestions GROUP BY hash';
    return this.database.all(
      `SELECT name, source, stage, outcome, reason FROM ingestions
       WHERE outcome != 'accepted' AND id IN (${last}) ORDER BY id`,
    );
  }

  death(): DeathRow | undefined {
    return this.database.get<DeathRow>('SELECT cause, tick, at, phase, path FROM death');
  }

  /** The first one decides; gives the row that stands. */
  async die(cause: DeathCause, tick: number, at: number): Promise<DeathRow> {
    return this.database.transaction(() => {
      this.database.run("INSERT OR IGNORE INTO death VALUES(1, ?, ?, ?, 'acceptance', NULL)", cause, tick, at);
      return this.death() as DeathRow;
    });
  }

  async dying(phase: DeathRow['phase'], path: string | null = null): Promise<void> {
    await this.database.transaction(() =>
      this.database.run('UPDATE death SET phase = ?, path = coalesce(?, path)', phase, path),
    );
  }

  close(): void {
    if (!this.database.isClosed) this.database.close();
  }
}
