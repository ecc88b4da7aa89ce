// Owns what the fleet's messages travel by (hierarchy notes A9, D7), rows under topics in one order, and the log of a home, `styx.db`: every
// process of the home appends and reads it; there is no daemon. Knows no golem but by the second word of a topic. Invariants: a row is there
// once; who follows is told by a watch on the file, and by a poll behind it. Contract suite: test/contract/styx.contract.ts.
import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Clock, systemClock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { openDatabase, type RoomSchema } from '#base/database.ts';
import { TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { isJsonObject, type JsonValue, parseJson } from '#base/json.ts';

export interface StyxRow {
  /** Order in this log, rising; gaps are rows that were dropped. */
  readonly seq: number;
  /** The log that it was first appended to, and its number there: the two name a row wherever it stands. */
  readonly origin: string;
  readonly originSeq: number;
  /** Segments of `a-z 0-9 - _` between dots: `golem.alpha.event`. */
  readonly topic: string;
  /** Epoch ms, by the clock of this home: of when it came here. */
  readonly at: number;
  readonly body: JsonValue;
}

/** A row as it comes from another log. */
export type ForeignRow = Pick<StyxRow, 'origin' | 'originSeq' | 'topic' | 'body'>;

/**
 * Contract. What `append` resolved survives the death of any process, stands there once, and is seen by every reader in the same order. A
 * pattern is a topic in which `*` stands for one whole segment, or `>`: every topic. Throws TalariaError `topic-invalid`, `body-too-large` (over 1 MB as JSON).
 */
export interface StyxTransport {
  /** Of this log, until it finds that it is an older copy of itself. */
  readonly origin: string;
  append(topic: string, body: JsonValue): Promise<number>;
  /** Rows after `after`, the oldest first. */
  read(patterns: readonly string[], after: number, limit: number): readonly StyxRow[];
  /** The newest row of each topic and origin, in order; how many older ones there are costs nothing. */
  latest(patterns: readonly string[]): readonly StyxRow[];
  /**
   * Rows of other logs. One that stands here or is none changes nothing. One of this log that it never wrote, or wrote otherwise, says that it
   * is an older copy: it goes on under a new name, under which stands what the reader `carrier` has not passed, and the row is another's.
   * How many were new.
   */
  take(rows: readonly ForeignRow[]): Promise<number>;
  /** Every row appended from now on, by whatever process, in order; after the returned function was called none any more. A listener that throws is told to `onError` and goes on hearing. */
  follow(patterns: readonly string[], listener: (row: StyxRow) => void): () => void;
  /** Appends to a topic that ends in `.ask` and waits for who answers that row. Throws TalariaError `no-answer` after `timeoutMs`. */
  ask(topic: string, body: JsonValue, options: { readonly timeoutMs: number }): Promise<JsonValue>;
  /** Answers a row that was asked. */
  answer(asked: StyxRow, body: JsonValue): Promise<number>;
  /** The reader has read so far; never goes back. What a reader has not read is kept for a week. */
  commit(reader: string, seq: number): Promise<void>;
  /** 0: nothing was committed. */
  position(reader: string): number;
  /** Rows of this log that the reader has not passed; so many at most. */
  waiting(reader: string, most: number): number;
  /** The reader begins again at 0. */
  rewind(reader: string): Promise<void>;
  /** Small facts of who carries rows further, kept beside them; null: none. */
  note(name: string): JsonValue;
  keepNote(name: string, value: JsonValue): Promise<void>;
  /** No listener hears anything from then on. Idempotent. */
  close(): void;
}

/** Reader that takes rows to other logs. */
export const CARRIER = 'link';
const BODY_BYTES = 1024 ** 2;
/** Rows of one golem that stay, whoever has read them, and their bytes: the largest bundle is among them. */
const KEPT_ROWS = 10_000;
const KEPT_BYTES = 128 * 1024 ** 2;
/** Questions to one golem and their answers stay so long. */
const TALK_MS = 3_600_000;
const TALK = 'talk';
const UNREAD_MS = 7 * 86_400_000;
const POLL_MS = 250;
/** Rows that one look takes at once. */
const LOOK = 1_000;
/** Appends of one process between two sweeps, and their bytes. */
const SWEEP_EVERY = 1_000;
const SWEEP_BYTES = 16 * 1024 ** 2;

const COLUMNS = [
  'seq INTEGER PRIMARY KEY AUTOINCREMENT',
  ...['origin TEXT NOT NULL', 'origin_seq INTEGER NOT NULL', 'topic TEXT NOT NULL'],
  ...['kept_for TEXT NOT NULL', 'at INTEGER NOT NULL', 'body TEXT NOT NULL'],
];

const HEAD_COLUMNS = [
  ...['topic TEXT NOT NULL', 'origin TEXT NOT NULL', 'origin_seq INTEGER NOT NULL', 'seq INTEGER NOT NULL'],
];

/** The newest row of a keeper that is beyond so many, or so many bytes. */
const COUNTED = `SELECT seq, row_number() OVER newest AS rows, sum(octet_length(body)) OVER newest AS bytes FROM log
  WHERE kept_for = ?1 WINDOW newest AS (ORDER BY seq DESC)`;
const BEYOND = `SELECT max(seq) FROM (${COUNTED}) WHERE rows > ?4 OR bytes > ?5`;

const HEADS = 'INSERT INTO heads SELECT topic, origin, max(origin_seq), seq FROM log';

const schema: RoomSchema = {
  room: 'styx',
  steps: [
    `CREATE TABLE log(${COLUMNS.join(', ')})`,
    'CREATE UNIQUE INDEX log_by_origin ON log(origin, origin_seq); CREATE INDEX log_by_keeper ON log(kept_for, seq)',
    'CREATE TABLE cursors(reader TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID',
    'CREATE TABLE origin(id TEXT NOT NULL, last INTEGER NOT NULL)',
    (database) => void database.run('INSERT INTO origin VALUES(?, 0)', randomHex(8)),
    'CREATE INDEX log_by_topic ON log(topic, seq)',
    `CREATE TABLE heads(${HEAD_COLUMNS.join(', ')}, PRIMARY KEY(topic, origin)) WITHOUT ROWID;
     ${HEADS} GROUP BY topic, origin`,
    'CREATE TABLE notes(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID',
    `UPDATE log SET kept_for = '${TALK}' WHERE topic GLOB '*.ask' OR topic GLOB '*.answer'`,
  ],
};

/** Where the log of a home stands. */
export function homeLogPath(home: string): string {
  return join(home, 'styx.db');
}

/** Throws as `openDatabase` does. */
export function openHomeLog(options: {
  /** Absolute. */
  readonly path: string;
  readonly clock?: Clock;
  /** Told of listeners that throw. */
  readonly onError?: (error: unknown) => void;
}): StyxTransport {
  return new HomeLog(options);
}

class HomeLog implements StyxTransport {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #followers = new Set<{
    readonly isMeant: (topic: string) => boolean;
    readonly listener: (row: StyxRow) => void;
  }>();
  /** How far followers have been told; counts only while there are some. */
  #told = 0;
  /** Since the last sweep: its share, and whose rows grew. */
  #unswept = 0;
  readonly #grew = new Set<string>();
  /** The last of its own rows that stands elsewhere as it does here, as far as this process saw it. */
  #cameBack = 0;
  /** A listener may append, follow or ask. */
  #isLooking = false;
  #watcher: FSWatcher | undefined;
  #stopPoll: (() => void) | undefined;

  constructor({ path, clock = systemClock, onError = () => undefined }: Parameters<typeof openHomeLog>[0]) {
    this.#clock = clock;
    this.#onError = onError;
    this.#database = openDatabase(path, { rooms: [schema], clock }).database;
  }

  get origin(): string {
    return this.#database.get<{ id: string }>('SELECT id FROM origin')?.id ?? '';
  }

  async append(topic: string, body: JsonValue): Promise<number> {
    const { id } = await this.#append(topic, body);
    return id;
  }

  async #append(topic: string, body: JsonValue): Promise<{ readonly id: number; readonly name: string }> {
    if (!TOPIC.test(topic)) throw invalid(topic, 'topic');
    const json = JSON.stringify(body);
    const bytes = Buffer.byteLength(json);
    if (bytes > BODY_BYTES)
      throw new TalariaError(`${bytes.toLocaleString('en-US')} bytes for ${topic} are more than one row takes`, {
        code: 'body-too-large',
        fix: 'Put it into a file and append its path and hash.',
      });
    const done = await this.#database.lightTransaction(() => {
      const own = this.#database.get<{ id: string; last: number }>('UPDATE origin SET last = last + 1 RETURNING *');
      const row = { origin: own?.id ?? '', originSeq: own?.last ?? 0, topic };
      return { id: this.#insert(row, json), name: `${row.origin}:${row.originSeq}` };
    });
    await this.#grown(1, bytes);
    return done;
  }

  async take(rows: readonly ForeignRow[]): Promise<number> {
    const taken = rows.flatMap((row) => {
      const json = JSON.stringify(row.body);
      const isOne = TOPIC.test(row.topic) && ORIGIN.test(row.origin) && Number.isSafeInteger(row.originSeq);
      const bytes = Buffer.byteLength(json);
      return isOne && bytes <= BODY_BYTES ? [{ row, json, bytes }] : [];
    });
    if (taken.length === 0) return 0;
    const bytes = taken.reduce((sum, one) => sum + one.bytes, 0);
    const count = await this.#database.lightTransaction(() => {
      let fresh = 0;
      for (const { row, json } of taken) {
        if (!this.#isNew(row, json)) continue;
        this.#insert(row, json);
        fresh += 1;
      }
      return fresh;
    });
    if (count > 0) await this.#grown(count, bytes);
    return count;
  }

  #isNew({ origin, originSeq, topic }: ForeignRow, json: string): boolean {
    const sql = 'SELECT topic, body FROM log WHERE origin = ? AND origin_seq = ?';
    const standing = () => this.#database.get<Pick<StoredRow, 'topic' | 'body'>>(sql, origin, originSeq);
    const stands = standing();
    const own = this.#database.get<{ last: number }>('SELECT last FROM origin WHERE id = ?', origin);
    if (own === undefined) return stands === undefined;
    if (stands ? stands.topic === topic && stands.body === json : originSeq <= own.last) {
      if (stands) this.#cameBack = Math.max(this.#cameBack, originSeq);
      return false;
    }
    this.#rename(origin);
    return standing() === undefined;
  }

  /** What the carrier passed, or what came back, stands elsewhere under the old name. */
  #rename(old: string): void {
    const id = randomHex(8);
    const sql = 'SELECT seq FROM log WHERE origin = ? AND seq > ? AND origin_seq > ? ORDER BY seq';
    const kept = this.#database.all<{ seq: number }>(sql, old, this.position(CARRIER), this.#cameBack);
    for (const [at, { seq }] of kept.entries())
      this.#database.run('UPDATE log SET origin = ?, origin_seq = ? WHERE seq = ?', id, at + 1, seq);
    this.#database.run('UPDATE origin SET id = ?, last = ?', id, kept.length);
    this.#database.run('DELETE FROM heads WHERE origin = ?', old);
    this.#database.run(`${HEADS} WHERE origin IN (?, ?) GROUP BY topic, origin`, old, id);
    this.#cameBack = 0;
  }

  #insert({ origin, originSeq, topic }: Omit<ForeignRow, 'body'>, json: string): number {
    const keeper = keeperOf(topic);
    this.#grew.add(keeper);
    const { id } = this.#database.run(
      'INSERT INTO log(origin, origin_seq, topic, kept_for, at, body) VALUES(?, ?, ?, ?, ?, ?)',
      ...[origin, originSeq, topic, keeper, this.#clock.now(), json],
    );
    this.#database.run(
      `INSERT INTO heads VALUES(?, ?, ?, ?) ON CONFLICT DO UPDATE SET origin_seq = excluded.origin_seq, seq = excluded.seq
       WHERE excluded.origin_seq > heads.origin_seq`,
      ...[topic, origin, originSeq, id],
    );
    return id;
  }

  async #grown(count: number, bytes: number): Promise<void> {
    // Each counts as its share of a sweep.
    this.#unswept += Math.max(count / SWEEP_EVERY, bytes / SWEEP_BYTES);
    if (this.#unswept >= 1) {
      this.#unswept = 0;
      await this.#sweep();
      this.#grew.clear();
    }
    queueMicrotask(() => this.#look());
  }

  read(patterns: readonly string[], after: number, limit: number): readonly StyxRow[] {
    // Topic by topic: where nothing is new, how long the log is costs nothing.
    const topics = `(SELECT DISTINCT topic FROM heads WHERE ${meant(patterns)}) AS one`;
    const fresh = 'SELECT seq FROM log WHERE topic = one.topic AND seq > ?2 ORDER BY seq LIMIT ?3';
    const some = `SELECT log.seq FROM ${topics} CROSS JOIN log WHERE log.seq IN (${fresh}) ORDER BY log.seq LIMIT ?3`;
    const where = patterns.includes('>') ? `seq > ?2 AND ${meant(patterns)}` : `seq IN (${some})`;
    const sql = `SELECT * FROM log WHERE ${where} ORDER BY seq LIMIT ?3`;
    return this.#database.all<StoredRow>(sql, JSON.stringify(patterns), after, limit).map(rowOf);
  }

  latest(patterns: readonly string[]): readonly StyxRow[] {
    const sql = `SELECT * FROM log WHERE seq IN (SELECT seq FROM heads WHERE ${meant(patterns)}) ORDER BY seq`;
    return this.#database.all<StoredRow>(sql, JSON.stringify(patterns)).map(rowOf);
  }

  follow(patterns: readonly string[], listener: (row: StyxRow) => void): () => void {
    const isMeant = matcher(patterns);
    // Those who follow already are told first of what is there.
    if (this.#followers.size > 0) this.#look();
    else this.#told = this.#head();
    const follower = { isMeant, listener };
    this.#followers.add(follower);
    this.#listen();
    return () => {
      this.#followers.delete(follower);
      if (this.#followers.size === 0) this.#rest();
    };
  }

  async ask(topic: string, body: JsonValue, { timeoutMs }: { readonly timeoutMs: number }): Promise<JsonValue> {
    if (!topic.endsWith(ASK)) throw invalid(topic, 'topic of a question');
    return new Promise((resolve, reject) => {
      const early = new Map<string, JsonValue>();
      let name: string | undefined;
      const end = (settle: () => void) => {
        cancel();
        stop();
        settle();
      };
      const stop = this.follow([answerTopic(topic)], (row) => {
        const { to, value = null } = isJsonObject(row.body) ? row.body : {};
        if (to === name) end(() => resolve(value));
        else if (name === undefined) early.set(String(to), value);
      });
      const cancel = this.#clock.after(timeoutMs, () => {
        const error = new TalariaError(`nobody answered ${topic} within ${timeoutMs} ms`, { code: 'no-answer' });
        end(() => reject(error));
      });
      this.#append(topic, body).then(
        (done) => {
          name = done.name;
          const value = early.get(name);
          if (value !== undefined) end(() => resolve(value));
        },
        (error: unknown) => end(() => reject(error)),
      );
    });
  }

  answer({ topic, origin, originSeq }: StyxRow, body: JsonValue): Promise<number> {
    if (!topic.endsWith(ASK)) throw invalid(topic, 'topic of a question');
    return this.append(answerTopic(topic), { to: `${origin}:${originSeq}`, value: body });
  }

  async commit(reader: string, seq: number): Promise<void> {
    await this.#database.lightTransaction(() =>
      this.#database.run(
        'INSERT INTO cursors VALUES(?, ?) ON CONFLICT(reader) DO UPDATE SET seq = max(seq, excluded.seq)',
        ...[reader, seq],
      ),
    );
  }

  position(reader: string): number {
    return this.#database.get<{ seq: number }>('SELECT seq FROM cursors WHERE reader = ?', reader)?.seq ?? 0;
  }

  waiting(reader: string, most: number): number {
    const sql = 'SELECT 1 FROM log WHERE seq > ? AND origin = (SELECT id FROM origin) LIMIT ?';
    const row = this.#database.get<{ count: number }>(
      `SELECT count(*) AS count FROM (${sql})`,
      this.position(reader),
      most,
    );
    return row?.count ?? 0;
  }

  async rewind(reader: string): Promise<void> {
    await this.#database.lightTransaction(() => this.#database.run('DELETE FROM cursors WHERE reader = ?', reader));
  }

  note(name: string): JsonValue {
    const row = this.#database.get<{ value: string }>('SELECT value FROM notes WHERE name = ?', name);
    const read = parseJson(row?.value ?? '');
    return read.ok ? read.value : null;
  }

  async keepNote(name: string, value: JsonValue): Promise<void> {
    const sql = 'INSERT OR REPLACE INTO notes VALUES(?, ?)';
    await this.#database.lightTransaction(() => this.#database.run(sql, name, JSON.stringify(value)));
  }

  close(): void {
    this.#followers.clear();
    this.#rest();
    if (!this.#database.isClosed) this.#database.close();
  }

  #head(): number {
    return this.#database.get<{ seq: number | null }>('SELECT max(seq) AS seq FROM log')?.seq ?? 0;
  }

  /** One look serves all who follow in this process. */
  #look(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      this.#tellNew();
    } finally {
      this.#isLooking = false;
    }
  }

  #tellNew(): void {
    const sql = 'SELECT * FROM log WHERE seq > ? ORDER BY seq LIMIT ?';
    let rows: readonly StoredRow[];
    do {
      rows = this.#followers.size > 0 ? this.#database.all<StoredRow>(sql, this.#told, LOOK) : [];
      for (const row of rows) this.#tell(row);
    } while (rows.length === LOOK);
  }

  #tell(stored: StoredRow): void {
    this.#told = stored.seq;
    const meant = [...this.#followers].filter(({ isMeant }) => isMeant(stored.topic));
    if (meant.length === 0) return;
    const row = rowOf(stored);
    for (const { listener } of meant) {
      try {
        listener(row);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  #listen(): void {
    if (this.#stopPoll) return;
    const poll = () => {
      this.#stopPoll = this.#clock.after(POLL_MS, () => {
        this.#look();
        if (this.#followers.size > 0) poll();
      });
    };
    poll();
    const name = basename(this.#database.path);
    try {
      this.#watcher = watch(dirname(this.#database.path), { persistent: false }, (_, changed) => {
        if (changed?.startsWith(name) !== false) this.#look();
      });
      // A folder that cannot be watched any more is polled.
      this.#watcher.on('error', () => this.#watcher?.close());
    } catch {
      this.#watcher = undefined;
    }
  }

  #rest(): void {
    this.#stopPoll?.();
    this.#stopPoll = undefined;
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  /** Rows beyond the newest of each golem go, once every reader has passed them or a week has; what one was asked, after an hour. */
  async #sweep(): Promise<void> {
    await this.#database.lightTransaction(() => {
      const least = this.#database.get<{ seq: number | null }>('SELECT min(seq) AS seq FROM cursors')?.seq;
      const read = least ?? Number.MAX_SAFE_INTEGER;
      const now = this.#clock.now();
      const talk = "DELETE FROM log WHERE kept_for = ? AND at < ? AND json_extract(body, '$.to') IS NOT NULL";
      this.#database.run(talk, TALK, now - TALK_MS);
      for (const keeper of this.#grew)
        this.#database.run(
          `DELETE FROM log WHERE kept_for = ?1 AND (seq <= ?2 OR at < ?3) AND seq <= (${BEYOND})`,
          ...[keeper, read, now - UNREAD_MS, KEPT_ROWS, KEPT_BYTES],
        );
    });
  }
}

interface StoredRow {
  readonly seq: number;
  readonly origin: string;
  readonly origin_seq: number;
  readonly topic: string;
  readonly at: number;
  readonly body: string;
}

function rowOf({ seq, origin, origin_seq: originSeq, topic, at, body }: StoredRow): StyxRow {
  const read = parseJson(body);
  return { seq, origin, originSeq, topic, at, body: read.ok ? read.value : null };
}

const TOPIC = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;
const ORIGIN = /^[a-z0-9]{1,64}$/;
const PATTERN = /^>$|^(?:\*|[a-z0-9_-]+)(?:\.(?:\*|[a-z0-9_-]+))*$/;
const ASK = '.ask';

function invalid(text: string, what: string): TalariaError {
  return new TalariaError(`${JSON.stringify(text)} is no ${what}`, { code: 'topic-invalid' });
}

function answerTopic(topic: string): string {
  return `${topic.slice(0, -ASK.length)}.answer`;
}

/** Rows of one golem share their keeping; all others that of their topic. */
function keeperOf(topic: string): string {
  if (/\.(?:ask|answer)$/.test(topic)) return TALK;
  const [first, second] = topic.split('.');
  return first === 'golem' && second !== undefined ? `golem.${second}` : topic;
}

function checked(patterns: readonly string[]): readonly string[] {
  for (const pattern of patterns) if (!PATTERN.test(pattern)) throw invalid(pattern, 'pattern');
  return patterns;
}

/** A condition on `topic`; the patterns as JSON are its first value. */
function meant(patterns: readonly string[]): string {
  if (checked(patterns).includes('>')) return '?1 IS NOT NULL';
  if (patterns.every((pattern) => !pattern.includes('*'))) return 'topic IN (SELECT value FROM json_each(?1))';
  // As many dots: no `*` stands for two segments.
  return `EXISTS (SELECT 1 FROM json_each(?1) WHERE topic GLOB value AND ${dots('topic')} = ${dots('value')})`;
}

function dots(text: string): string {
  return `length(${text}) - length(replace(${text}, '.', ''))`;
}

function matcher(patterns: readonly string[]): (topic: string) => boolean {
  const texts = checked(patterns).map((pattern) =>
    pattern === '>' ? '.*' : pattern.replaceAll('.', '\\.').replaceAll('*', '[^.]+'),
  );
  const known = new RegExp(`^(?:${texts.join('|')})$`);
  return (topic) => patterns.length > 0 && known.test(topic);
}
