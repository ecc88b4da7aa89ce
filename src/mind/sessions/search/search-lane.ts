// Owns what of a message goes into the index (its stems in order without stop words, a few facts about the sentence that ranking uses), and one lane
// of it: its tables, adding rows in the caller's transaction, the statistics of words, reading candidates and their rows. What people and the agent
// said (`spoken`) and what tools gave back (`tool`) are two lanes, so that long outputs never crowd out a sentence. Knows no ranking. Invariants: the
// same text gives the same analysis in every process, and a change of it is a new ANALYSIS_VERSION and a rebuild; index and terms change together in
// one transaction; statistics are exact up to `counted` and the rest is counted on reading.
import type { Database } from '#base/database/connection.ts';
import { contentStems } from '#base/text/words.ts';

export type LaneName = 'spoken' | 'tool';

/** Terms are stemmed before they come here, so the tokenizer only splits at spaces. */
const TOKENIZER = `unicode61 remove_diacritics 0 categories ''L* N* M* S* P* C*''`;

export function laneTables(lane: LaneName): string {
  return `
CREATE TABLE ${lane}_terms(
  id INTEGER PRIMARY KEY REFERENCES messages(id),
  session INTEGER NOT NULL,
  turn INTEGER NOT NULL,
  speaker TEXT NOT NULL,
  at INTEGER NOT NULL,
  flags INTEGER NOT NULL,
  terms TEXT NOT NULL
);
CREATE INDEX ${lane}_terms_by_turn ON ${lane}_terms(session, turn);
${indexTable(lane)}
CREATE TABLE ${lane}_words(
  word TEXT PRIMARY KEY,
  rows INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE ${lane}_counts(
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;
`;
}

/** Row ids only (detail none): positions and lengths are read from \`_terms\` for the few rows that are ranked. */
export function indexTable(lane: LaneName): string {
  return `CREATE VIRTUAL TABLE ${lane}_index USING fts5(
  terms, content='${lane}_terms', content_rowid='id', columnsize=0, detail=none, tokenize='${TOKENIZER}'
);`;
}

/** Stored beside the index; another number there means: rebuild it. */
export const ANALYSIS_VERSION = 1;

/** Bits of `flags`. */
export const HAS_QUESTION = 1;
export const ENDS_AS_QUESTION = 2;
export const SAYS_WHEN = 4;
export const SAYS_HOW_MANY = 8;
export const FROM_ASSISTANT = 16;

const WHEN =
  /\b(yesterday|today|tonight|tomorrow|last|next|ago|weeks?|weekend|months?|years?|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september|october|november|december|recently|since|soon|summer|winter|spring|fall|autumn|morning|days?|(?:19|20)\d\d)\b/i;
const HOW_MANY =
  /\b(\d+|one|two|three|four|five|six|seven|eight|nine|ten|dozen|couple|several|many|once|twice|first|second|third)\b/i;

export interface Analysis {
  /** Stems joined by single spaces, in order. */
  readonly terms: string;
  readonly flags: number;
}

export function analyseText(text: string): Analysis {
  return { terms: contentStems(text).join(' '), flags: flagsOf(text) };
}

function flagsOf(text: string): number {
  const question = text.includes('?') || text.includes('？');
  const ends = question && /[?？]\s*$/.test(text.slice(-16));
  return (
    (question ? HAS_QUESTION : 0) |
    (ends ? ENDS_AS_QUESTION : 0) |
    (WHEN.test(text) ? SAYS_WHEN : 0) |
    (HOW_MANY.test(text) ? SAYS_HOW_MANY : 0)
  );
}

/** A row as ranking needs it. */
export interface LaneRow {
  readonly id: number;
  readonly session: number;
  /** Position among the session's rows of this lane. */
  readonly turn: number;
  readonly speaker: string;
  readonly at: number;
  readonly flags: number;
  readonly terms: string;
}

export interface LaneStatistics {
  readonly rows: number;
  /** Stems a row, mean. */
  readonly meanLength: number;
  /** Rows that hold the stem. */
  rowsWith(stem: string): number;
}

/** Rows that wait for being counted at most: counting is done by whoever appends the last of them. */
const COUNT_EVERY = 512;

/** Names that are compared with a question at most. */
const MOST_SPEAKERS = 5000;

interface Tail {
  readonly upTo: number;
  readonly counted: number;
  readonly rows: number;
  readonly length: number;
  readonly words: ReadonlyMap<string, number>;
}

export class SearchLane {
  readonly name: LaneName;
  readonly #database: Database;
  readonly #sql: ReturnType<typeof laneSql>;
  #sinceCount = 0;
  #tail: Tail | undefined;

  constructor(database: Database, name: LaneName) {
    this.#database = database;
    this.name = name;
    this.#sql = laneSql(name);
  }

  /** Inside the transaction that inserts the message. */
  add(row: LaneRow): void {
    const { id, session, turn, speaker, at, flags, terms } = row;
    this.#database.run(this.#sql.addTerms, id, session, turn, speaker, at, flags, terms);
    this.#database.run(this.#sql.addIndex, id, terms);
    this.#sinceCount += 1;
    if (this.#sinceCount >= COUNT_EVERY) this.count();
  }

  /** Names that ranking recognises in a question. */
  addSpeaker(name: string): void {
    this.#database.run('INSERT OR IGNORE INTO speakers VALUES(?)', name);
  }

  speakers(): readonly string[] {
    return this.#database
      .all<{ name: string }>('SELECT name FROM speakers LIMIT ?', MOST_SPEAKERS)
      .map((row) => row.name);
  }

  /** Inside a transaction: takes a row out of index, terms and statistics. */
  remove(id: number): void {
    const row = this.row(id);
    if (row === undefined) return;
    this.#database.run(this.#sql.dropIndex, id, row.terms);
    this.#database.run(this.#sql.dropTerms, id);
    if (id <= this.#counter('counted')) this.#applyCounts(wordCounts([row.terms]), -1);
    this.#tail = undefined;
  }

  row(id: number): LaneRow | undefined {
    return this.#database.get<LaneRow>(this.#sql.row, id);
  }

  /** Those of the ids that exist. */
  rowsOf(ids: readonly number[]): LaneRow[] {
    return this.#database.all<LaneRow>(this.#sql.rowsOf, JSON.stringify(ids));
  }

  /** Rows of a session between two turns, both included, in order. */
  window(session: number, from: number, to: number): LaneRow[] {
    return this.#database.all<LaneRow>(this.#sql.window, session, from, to);
  }

  /** Ids after `after` of the rows that match an FTS expression, ascending, joined by commas. */
  idsMatching(expression: string, after: number): string {
    return this.#database.get<{ ids: string | null }>(this.#sql.idsMatching, expression, after)?.ids ?? '';
  }

  lastId(): number {
    return this.#database.get<{ id: number | null }>(this.#sql.lastId)?.id ?? 0;
  }

  /** Stems that begin with `prefix`, with the number of their rows. */
  wordsFrom(prefix: string, limit: number): { readonly word: string; readonly rows: number }[] {
    const tail = [...this.#tailNow().words].filter(([word]) => word.startsWith(prefix));
    const stored = this.#database.all<{ word: string; rows: number }>(
      this.#sql.wordsFrom,
      prefix,
      `${prefix}\u{10ffff}`,
      limit,
    );
    const known = new Set(stored.map((row) => row.word));
    return [...stored, ...tail.filter(([word]) => !known.has(word)).map(([word, rows]) => ({ word, rows }))];
  }

  statistics(): LaneStatistics {
    const tail = this.#tailNow();
    const rows = tail.rows + this.#counter('rows');
    const length = tail.length + this.#counter('length');
    return {
      rows,
      meanLength: rows === 0 ? 1 : Math.max(1, length / rows),
      rowsWith: (stem) =>
        (tail.words.get(stem) ?? 0) + (this.#database.get<{ rows: number }>(this.#sql.rowsWith, stem)?.rows ?? 0),
    };
  }

  /** Inside a transaction: brings the statistics up to the last row. */
  count(): void {
    this.#sinceCount = 0;
    const rows = this.#database.all<{ id: number; terms: string }>(this.#sql.after, this.#counter('counted'));
    const last = rows.at(-1);
    if (last === undefined) return;
    this.#applyCounts(wordCounts(rows.map((row) => row.terms)), 1);
    this.#database.run(this.#sql.setCounter, 'counted', last.id);
    this.#tail = undefined;
  }

  #applyCounts(counts: Counts, sign: 1 | -1): void {
    for (const [word, rows] of [...counts.words].sort(byWord)) this.#database.run(this.#sql.addWord, word, rows * sign);
    this.#database.run(this.#sql.addCounter, 'rows', counts.rows * sign);
    this.#database.run(this.#sql.addCounter, 'length', counts.length * sign);
  }

  #counter(name: string): number {
    return this.#database.get<{ value: number }>(this.#sql.counter, name)?.value ?? 0;
  }

  /** The rows that no statistics hold yet; kept until a row is added by anybody. */
  #tailNow(): Tail {
    const upTo = this.lastId();
    const counted = this.#counter('counted');
    if (this.#tail?.upTo === upTo && this.#tail.counted === counted) return this.#tail;
    const rows = this.#database.all<{ id: number; terms: string }>(this.#sql.after, counted);
    const counts = wordCounts(rows.map((row) => row.terms));
    this.#tail = { upTo, counted, ...counts };
    return this.#tail;
  }
}

interface Counts {
  readonly rows: number;
  readonly length: number;
  readonly words: ReadonlyMap<string, number>;
}

function wordCounts(rows: readonly string[]): Counts {
  const words = new Map<string, number>();
  let length = 0;
  for (const terms of rows) {
    const stems = terms === '' ? [] : terms.split(' ');
    length += stems.length;
    for (const stem of new Set(stems)) words.set(stem, (words.get(stem) ?? 0) + 1);
  }
  return { rows: rows.length, length, words };
}

function byWord(a: readonly [string, number], b: readonly [string, number]): number {
  return a[0] < b[0] ? -1 : 1;
}

function laneSql(lane: LaneName) {
  const columns = 'id, session, turn, speaker, at, flags, terms';
  return {
    addTerms: `INSERT INTO ${lane}_terms(${columns}) VALUES(?, ?, ?, ?, ?, ?, ?)`,
    addIndex: `INSERT INTO ${lane}_index(rowid, terms) VALUES(?, ?)`,
    dropIndex: `INSERT INTO ${lane}_index(${lane}_index, rowid, terms) VALUES('delete', ?, ?)`,
    dropTerms: `DELETE FROM ${lane}_terms WHERE id = ?`,
    row: `SELECT ${columns} FROM ${lane}_terms WHERE id = ?`,
    window: `SELECT ${columns} FROM ${lane}_terms WHERE session = ? AND turn BETWEEN ? AND ? ORDER BY turn`,
    idsMatching: `SELECT group_concat(rowid) AS ids FROM ${lane}_index WHERE ${lane}_index MATCH ? AND rowid > ?`,
    rowsOf: `SELECT ${columns.replace('id', 't.id')} FROM json_each(?) AS wanted JOIN ${lane}_terms t ON t.id = wanted.value`,
    wordsFrom: `SELECT word, rows FROM ${lane}_words WHERE word >= ? AND word < ? AND rows > 0 LIMIT ?`,
    rowsWith: `SELECT rows FROM ${lane}_words WHERE word = ?`,
    after: `SELECT id, terms FROM ${lane}_terms WHERE id > ? ORDER BY id`,
    addWord: `INSERT INTO ${lane}_words VALUES(?, ?) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows`,
    counter: `SELECT value FROM ${lane}_counts WHERE name = ?`,
    setCounter: `INSERT INTO ${lane}_counts VALUES(?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`,
    addCounter: `INSERT INTO ${lane}_counts VALUES(?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value`,
    lastId: `SELECT max(id) AS id FROM ${lane}_terms`,
  };
}
