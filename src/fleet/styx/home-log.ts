// Owns what the fleet's messages travel by (hierarchy notes A9, D7), rows under topics in one order, and the log of a home, `styx.db`: every
// process of the home appends and reads it; there is no daemon. Knows no golem but by the second word of a topic. Invariants: a row is there
// once; who follows is told by a watch on the file, and by a poll behind it. Contract suite: test/contract/styx.contract.ts.
import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
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
  /** Epoch ms. */
  readonly at: number;
  readonly body: JsonValue;
}

/**
 * Contract. What `append` resolved survives the death of any process, stands there once, and is seen by every reader in the same order. A
 * pattern is a topic in which `*` stands for one whole segment. Throws TalariaError `topic-invalid`, `body-too-large` (over 1 MB as JSON).
 */
export interface StyxTransport {
  append(topic: string, body: JsonValue): Promise<number>;
  /** Rows after `after`, the oldest first. */
  read(patterns: readonly string[], after: number, limit: number): readonly StyxRow[];
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
  /** No listener hears anything from then on. Idempotent. */
  close(): void;
}

const BODY_BYTES = 1024 ** 2;
/** Rows of one golem that stay, whoever has read them. */
const KEPT_ROWS = 10_000;
const UNREAD_MS = 7 * 86_400_000;
const POLL_MS = 250;
/** Rows that one look takes at once. */
const LOOK = 1_000;
/** Appends of one process between two sweeps. */
const SWEEP_EVERY = 1_000;

const COLUMNS = [
  'seq INTEGER PRIMARY KEY AUTOINCREMENT',
  ...['origin TEXT NOT NULL', 'origin_seq INTEGER NOT NULL', 'topic TEXT NOT NULL'],
  ...['kept_for TEXT NOT NULL', 'at INTEGER NOT NULL', 'body TEXT NOT NULL'],
];

const schema: RoomSchema = {
  room: 'styx',
  steps: [
    `CREATE TABLE log(${COLUMNS.join(', ')})`,
    'CREATE UNIQUE INDEX log_by_origin ON log(origin, origin_seq); CREATE INDEX log_by_keeper ON log(kept_for, seq)',
    'CREATE TABLE cursors(reader TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID',
    'CREATE TABLE origin(id TEXT NOT NULL, last INTEGER NOT NULL)',
    (database) => void database.run('INSERT INTO origin VALUES(?, 0)', randomHex(8)),
  ],
};

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
  #appends = 0;
  /** A listener may append, follow or ask. */
  #isLooking = false;
  #watcher: FSWatcher | undefined;
  #stopPoll: (() => void) | undefined;

  constructor({ path, clock = systemClock, onError = () => undefined }: Parameters<typeof openHomeLog>[0]) {
    this.#clock = clock;
    this.#onError = onError;
    this.#database = openDatabase(path, { rooms: [schema], clock }).database;
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
      const values = [own?.id ?? '', own?.last ?? 0, topic, keeperOf(topic), this.#clock.now(), json];
      const { id } = this.#database.run(
        'INSERT INTO log(origin, origin_seq, topic, kept_for, at, body) VALUES(?, ?, ?, ?, ?, ?)',
        ...values,
      );
      return { id, name: `${own?.id}:${own?.last}` };
    });
    this.#appends += 1;
    if (this.#appends % SWEEP_EVERY === 0) await this.#sweep();
    queueMicrotask(() => this.#look());
    return done;
  }

  read(patterns: readonly string[], after: number, limit: number): readonly StyxRow[] {
    for (const pattern of patterns) if (!PATTERN.test(pattern)) throw invalid(pattern, 'pattern');
    // As many dots: no `*` stands for two segments.
    const isMeant = `SELECT 1 FROM json_each(?) WHERE topic GLOB value AND ${dots('topic')} = ${dots('value')}`;
    const rows = this.#database.all<StoredRow>(
      `SELECT * FROM log WHERE seq > ? AND EXISTS (${isMeant}) ORDER BY seq LIMIT ?`,
      ...[after, JSON.stringify(patterns), limit],
    );
    return rows.map(rowOf);
  }

  follow(patterns: readonly string[], listener: (row: StyxRow) => void): () => void {
    for (const pattern of patterns) if (!PATTERN.test(pattern)) throw invalid(pattern, 'pattern');
    // Those who follow already are told first of what is there.
    if (this.#followers.size > 0) this.#look();
    else this.#told = this.#head();
    const isMeant = matcher(patterns);
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

  /** Rows beyond the newest of each golem go, once every reader has passed them or a week has. */
  async #sweep(): Promise<void> {
    await this.#database.lightTransaction(() => {
      const least = this.#database.get<{ seq: number | null }>('SELECT min(seq) AS seq FROM cursors')?.seq;
      const read = least ?? Number.MAX_SAFE_INTEGER;
      const old = this.#clock.now() - UNREAD_MS;
      for (const { keeper } of this.#database.all<{ keeper: string }>('SELECT DISTINCT kept_for AS keeper FROM log'))
        this.#database.run(
          `DELETE FROM log WHERE kept_for = ?1 AND (seq <= ?2 OR at < ?3)
             AND seq <= (SELECT seq FROM log WHERE kept_for = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?4)`,
          ...[keeper, read, old, KEPT_ROWS],
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
const PATTERN = /^(?:\*|[a-z0-9_-]+)(?:\.(?:\*|[a-z0-9_-]+))*$/;
const ASK = '.ask';

function invalid(text: string, what: string): TalariaError {
  return new TalariaError(`${JSON.stringify(text)} is no ${what}`, { code: 'topic-invalid' });
}

function answerTopic(topic: string): string {
  return `${topic.slice(0, -ASK.length)}.answer`;
}

/** Rows of one golem share their keeping; all others that of their topic. */
function keeperOf(topic: string): string {
  const [first, second] = topic.split('.');
  return first === 'golem' && second !== undefined ? `golem.${second}` : topic;
}

function dots(text: string): string {
  return `length(${text}) - length(replace(${text}, '.', ''))`;
}

function matcher(patterns: readonly string[]): (topic: string) => boolean {
  const texts = patterns.map((pattern) => pattern.replaceAll('.', '\\.').replaceAll('*', '[^.]+'));
  const known = new RegExp(`^(?:${texts.join('|')})$`);
  return (topic) => patterns.length > 0 && known.test(topic);
}
