// Owns `<home>/meta/meta.db`: the conversation, the question that waits for a number, words of the owner as the log told them, what he seems to
// want and what he decided. Knows no golem and no model. Invariants: the whole conversation stays; an owner's word stands once, whoever told of it.
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { openDatabase, type RoomSchema } from '#base/database.ts';
import { type JsonValue, parseJson } from '#base/json.ts';
import { privateFolder } from '#base/platform.ts';
import type { Heard, Word } from '#fleet/styx/clade.ts';
import type { Question } from './actions.ts';

const schema: RoomSchema = {
  room: 'meta',
  steps: [
    [
      'CREATE TABLE messages(id INTEGER PRIMARY KEY, at INTEGER NOT NULL, sender TEXT NOT NULL, text TEXT NOT NULL, said TEXT NOT NULL)',
      'CREATE TABLE life(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID',
      'CREATE TABLE words(came INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, signer TEXT NOT NULL, at INTEGER NOT NULL, word TEXT NOT NULL, heard TEXT)',
      'CREATE TABLE notes(id TEXT PRIMARY KEY, about TEXT, pinned INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID',
      'CREATE TABLE preferences(key TEXT PRIMARY KEY, value TEXT NOT NULL, confidence REAL NOT NULL, at INTEGER NOT NULL, evidence TEXT NOT NULL) WITHOUT ROWID',
      'CREATE TABLE decisions(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, accepted INTEGER NOT NULL, evidence TEXT NOT NULL, at INTEGER NOT NULL)',
      'CREATE TABLE handled(id INTEGER PRIMARY KEY, handler TEXT NOT NULL, line TEXT NOT NULL, at INTEGER NOT NULL)',
      'CREATE TABLE polls(at INTEGER PRIMARY KEY, told TEXT NOT NULL)',
      'CREATE INDEX words_by_signer ON words(signer, at)',
    ].join(';'),
  ],
};

export interface Message {
  readonly id: number;
  /** Epoch ms. */
  readonly at: number;
  readonly from: 'owner' | 'meta';
  /** As it was shown. */
  readonly text: string;
  /** Of it what is the sender's own: nothing that a golem said. */
  readonly said: string;
}

export interface KeptWord {
  readonly word: Word;
  readonly heard: Heard | null;
  readonly about: string | null;
  readonly pinned: boolean;
}

export interface KeptPreference {
  readonly key: string;
  readonly value: string;
  /** When it was updated, 0 to 1. */
  readonly confidence: number;
  readonly at: number;
  readonly evidence: readonly string[];
}

export interface Decided {
  /** `kit:coder`, `create-golem:watch` */
  readonly kind: string;
  readonly accepted: boolean;
  readonly evidence: string;
}

/** How long a question waits for a number, ms. */
const PATIENCE_MS = 600_000;

export class MetaRows {
  readonly #database: Database;
  readonly #clock: Clock;

  /** Throws as `openDatabase` does. */
  constructor(home: string, clock: Clock) {
    const folder = join(home, 'meta');
    privateFolder(folder);
    this.#clock = clock;
    this.#database = openDatabase(join(folder, 'meta.db'), { rooms: [schema], clock }).database;
  }

  /** Number of the message. */
  async add(from: Message['from'], text: string, said = text): Promise<number> {
    const values = [this.#clock.now(), from, text, said];
    const sql = 'INSERT INTO messages(at, sender, text, said) VALUES(?, ?, ?, ?)';
    return this.#write(() => this.#database.run(sql, ...values).id);
  }

  /** The newest, newest last. */
  messages(limit: number): readonly Message[] {
    const sql = 'SELECT id, at, sender AS "from", text, said FROM messages ORDER BY id DESC LIMIT ?';
    return this.#database.all<{ [Key in keyof Message]: Message[Key] }>(sql, limit).reverse();
  }

  value<T extends JsonValue>(key: string): T | undefined {
    const row = this.#database.get<{ value: string }>('SELECT value FROM life WHERE key = ?', key);
    return row && stored<T>(row.value);
  }

  async keep(key: string, value: JsonValue): Promise<void> {
    const sql = 'INSERT OR REPLACE INTO life VALUES(?, ?)';
    await this.#write(() => this.#database.run(sql, key, JSON.stringify(value)));
  }

  /** The question that a number answers, of those who share this talk. */
  pending(talk: string): Question | undefined {
    const kept = this.value<{ readonly at: number; readonly question: JsonValue }>(`pending:${talk}`);
    const isFresh = kept && this.#clock.now() - kept.at < PATIENCE_MS;
    return isFresh ? (kept.question as unknown as Question) : undefined;
  }

  /** Those of talks that nobody answers any more go. */
  async setPending(talk: string, question: Question | undefined): Promise<void> {
    const [key, now] = [`pending:${talk}`, this.#clock.now()];
    const old = "DELETE FROM life WHERE key = ?1 OR (key GLOB 'pending*' AND json_extract(value, '$.at') <= ?2)";
    await this.#write(() => {
      this.#database.run(old, key, now - PATIENCE_MS);
      if (question) this.#database.run('INSERT INTO life VALUES(?, ?)', key, JSON.stringify({ at: now, question }));
    });
  }

  /** Once, whatever is told twice. */
  async addWord(word: Word): Promise<void> {
    const values = [word.id, word.signer, word.at, JSON.stringify(word)];
    const sql = 'INSERT INTO words(id, signer, at, word) VALUES(?, ?, ?, ?) ON CONFLICT DO NOTHING';
    await this.#write(() => this.#database.run(sql, ...values));
  }

  /** The first that took it stands; a refusal gives way to a golem that took it. */
  async addHeard(heard: Heard): Promise<void> {
    const sql = `UPDATE words SET heard = ?1 WHERE id = ?2 AND json_extract(word, '$.golem') = ?3
      AND (heard IS NULL OR (json_extract(heard, '$.tick') IS NULL AND ?4 IS NOT NULL))`;
    await this.#write(() => this.#database.run(sql, JSON.stringify(heard), heard.id, heard.golem, heard.tick));
  }

  /** What is noted beside a word. */
  async note(id: string, { about, pinned }: { readonly about?: string; readonly pinned?: boolean }): Promise<void> {
    const sql = `INSERT INTO notes VALUES(?1, ?2, coalesce(?3, 0))
      ON CONFLICT(id) DO UPDATE SET about = coalesce(?2, about), pinned = coalesce(?3, pinned)`;
    await this.#write(() => this.#database.run(sql, id, about ?? null, pinned === undefined ? null : Number(pinned)));
  }

  /** The newest first. */
  words(limit: number): readonly KeptWord[] {
    const rows = this.#database.all<{ word: string; heard: string | null; about: string | null; pinned: number }>(
      `SELECT word, heard, about, coalesce(pinned, 0) AS pinned FROM words LEFT JOIN notes USING (id)
       ORDER BY pinned DESC, at DESC, came DESC LIMIT ?`,
      limit,
    );
    const read = rows.flatMap(({ word, heard, about, pinned }) => {
      const said = stored<Word>(word);
      const told = heard === null ? null : (stored<Heard>(heard) ?? null);
      return said ? [{ word: said, heard: told, about, pinned: pinned === 1 }] : [];
    });
    return read.sort((one, other) => other.word.at - one.word.at);
  }

  /** In order of keys. */
  preferences(): readonly KeptPreference[] {
    const rows = this.#database.all<Omit<KeptPreference, 'evidence'> & { evidence: string }>(
      'SELECT * FROM preferences ORDER BY key',
    );
    return rows.map((row) => ({ ...row, evidence: stored<readonly string[]>(row.evidence) ?? [] }));
  }

  async prefer({ key, value, confidence, at, evidence }: KeptPreference): Promise<void> {
    const sql = 'INSERT OR REPLACE INTO preferences VALUES(?, ?, ?, ?, ?)';
    await this.#write(() => this.#database.run(sql, key, value, confidence, at, JSON.stringify(evidence)));
  }

  /** False: there was none. */
  async forgetPreference(key: string): Promise<boolean> {
    return this.#write(() => this.#database.run('DELETE FROM preferences WHERE key = ?', key).changes > 0);
  }

  async decided({ kind, accepted, evidence }: Decided): Promise<void> {
    const sql = 'INSERT INTO decisions(kind, accepted, evidence, at) VALUES(?, ?, ?, ?)';
    await this.#write(() => this.#database.run(sql, kind, Number(accepted), evidence, this.#clock.now()));
  }

  /** The newest of a kind first. */
  decisions(kind: string, limit: number): readonly Decided[] {
    const sql = 'SELECT kind, accepted, evidence FROM decisions WHERE kind = ? ORDER BY id DESC LIMIT ?';
    const rows = this.#database.all<{ kind: string; accepted: number; evidence: string }>(sql, kind, limit);
    return rows.map((row) => ({ ...row, accepted: row.accepted === 1 }));
  }

  async handled(handler: string, line: string): Promise<void> {
    const sql = 'INSERT INTO handled(handler, line, at) VALUES(?, ?, ?)';
    await this.#write(() => this.#database.run(sql, handler, line, this.#clock.now()));
  }

  /** What was carried out since, the oldest first. */
  handledSince(at: number): readonly { readonly handler: string; readonly line: string }[] {
    return this.#database.all('SELECT handler, line FROM handled WHERE at >= ? ORDER BY id', at);
  }

  async polled(told: JsonValue): Promise<void> {
    const sql = 'INSERT OR REPLACE INTO polls VALUES(?, ?)';
    await this.#write(() => this.#database.run(sql, this.#clock.now(), JSON.stringify(told)));
  }

  lastPoll(): { readonly at: number; readonly told: JsonValue } | undefined {
    const row = this.#database.get<{ at: number; told: string }>('SELECT * FROM polls ORDER BY at DESC LIMIT 1');
    return row && { at: row.at, told: stored<JsonValue>(row.told) ?? null };
  }

  close(): void {
    if (!this.#database.isClosed) this.#database.close();
  }

  #write<T>(work: () => T): Promise<T> {
    return this.#database.transaction(work);
  }
}

function stored<T>(json: string): T | undefined {
  const read = parseJson(json);
  return read.ok ? (read.value as T) : undefined;
}
