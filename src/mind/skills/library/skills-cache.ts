// Owns the skills cache: what the folders held when they were last read, words for search, rendered indexes, vectors.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { openDatabase, type RoomSchema } from '#base/database.ts';
import { errorCode } from '#base/errors.ts';
import { parseJsonObject } from '#base/json.ts';
import type { SkillHeader } from '../skill.ts';

const TABLES = `
CREATE TABLE skills(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  folder TEXT NOT NULL UNIQUE,
  file TEXT NOT NULL,
  root INTEGER NOT NULL,
  category TEXT NOT NULL,
  stamp TEXT NOT NULL,
  name TEXT NOT NULL,
  header TEXT NOT NULL,
  wins INTEGER NOT NULL DEFAULT 0,
  worded INTEGER NOT NULL DEFAULT 0,
  word TEXT,
  finding TEXT NOT NULL DEFAULT '',
  content TEXT NOT NULL DEFAULT ''
);
CREATE INDEX skills_unjudged ON skills(root) WHERE word IS NULL;
CREATE TABLE words_of_judge(hash TEXT PRIMARY KEY, word TEXT NOT NULL, finding TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX skills_by_name ON skills(name);
CREATE INDEX skills_unworded ON skills(id) WHERE worded = 0;

CREATE TABLE branches(path TEXT PRIMARY KEY, stamp TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE categories(name TEXT PRIMARY KEY, description TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE problems(path TEXT NOT NULL, reason TEXT NOT NULL, detail TEXT NOT NULL);

CREATE TABLE indexes(
  id INTEGER PRIMARY KEY,
  request TEXT NOT NULL UNIQUE,
  text TEXT NOT NULL,
  names TEXT NOT NULL,
  total INTEGER NOT NULL
);

CREATE VIRTUAL TABLE words USING fts5(
  name, description, occasion, tags, body,
  content='', contentless_delete=1, tokenize="unicode61 remove_diacritics 0"
);

CREATE TABLE vectors(
  skill INTEGER NOT NULL,
  embedder TEXT NOT NULL,
  vector BLOB NOT NULL,
  PRIMARY KEY(skill, embedder)
) WITHOUT ROWID;
`;

/** A change of the tables, of the header's fields, of the stems or of what is read for words is a new number: the old file is left for the next clean-up. */
const CACHE_VERSION = 3;

export const skillsCacheName = `skills-${CACHE_VERSION}.sqlite`;

const schema: RoomSchema = { room: 'skills-cache', steps: [TABLES] };

/**
 * Opens or makes the cache file. A damaged one is moved aside and begun anew; in a home that can only be read it is made elsewhere, for as long
 * as it is open. Throws TalariaError.
 */
export function openSkillsCache(path: string, clock: Clock): Database {
  try {
    return openDatabase(path, { rooms: [schema], clock }).database;
  } catch (error) {
    if (errorCode(error) !== 'database-read-only') throw error;
  }
  const folder = mkdtempSync(join(tmpdir(), 'talaria-skills-'));
  const { database } = openDatabase(join(folder, basename(path)), { rooms: [schema], clock });
  database.atClose(() => rmSync(folder, { recursive: true, force: true }));
  return database;
}

export interface SkillRow {
  readonly id: number;
  readonly folder: string;
  readonly file: string;
  /** 0: the local skills folder; else the place in the list of external ones, from 1. */
  readonly root: number;
  readonly category: string;
  readonly stamp: string;
  readonly name: string;
  /** JSON of SkillHeader. */
  readonly header: string;
  readonly wins: number;
  /** What the judge said of an external skill's files; null while it has not. */
  readonly word: JudgeWord | null;
  readonly finding: string;
  /** Stamp of the files that the word is about. */
  readonly content: string;
}

export interface SkillProblem {
  readonly path: string;
  /** `too-large`, `no-front-matter`, `not-utf-8`, `link-outside`, `name-taken`, `refused`, `no-such-folder`, … */
  readonly reason: string;
  readonly detail: string;
}

/** `allow`: offered. `ask`: offered, with the finding beside it. `refuse`: not offered. */
export type JudgeWord = 'allow' | 'ask' | 'refuse';

export interface SkillJudgement {
  readonly word: JudgeWord;
  /** One line for a person: what was found, and where; empty for nothing. */
  readonly finding: string;
}

export interface SkillJudge {
  /** Another version may say something else of the same files. */
  readonly version: string;
  /** Reads the skill's folder, and nothing outside of it. Throws what the file system throws. */
  judge(folder: string): Promise<SkillJudgement>;
}

const SLICE_MS = 12;

/** A function to await between two pieces of work: it returns at once until a slice is used up. Rejects when the signal aborts. */
export function workSlices(clock: Clock, signal?: AbortSignal): () => Promise<void> {
  let began = clock.monotonic();
  return async () => {
    signal?.throwIfAborted();
    if (clock.monotonic() - began < SLICE_MS) return;
    await clock.sleep(0, signal);
    began = clock.monotonic();
  };
}

export function noteProblem(cache: Database, { path, reason, detail }: SkillProblem): void {
  cache.run('INSERT INTO problems VALUES(?, ?, ?)', path, reason, detail);
}

/** Marks the winner of every name among what may be shown; gives a problem for every loser. Inside a transaction. */
export function chooseWinners(cache: Database, isJudged: boolean): readonly SkillProblem[] {
  const rows = cache.all<Pick<SkillRow, 'id' | 'name' | 'folder' | 'wins' | 'root' | 'word'>>(
    'SELECT id, name, folder, wins, root, word FROM skills ORDER BY root, folder',
  );
  const winners = new Map<string, string>();
  return rows.flatMap(({ id, name, folder, wins, root, word }) => {
    const hidden = isJudged && root > 0 && (word === null || word === 'refuse');
    const winner = winners.get(name);
    const winsNow = winner === undefined && !hidden ? 1 : 0;
    if (winsNow === 1) winners.set(name, folder);
    if (winsNow !== wins) cache.run('UPDATE skills SET wins = ? WHERE id = ?', winsNow, id);
    if (winner === undefined || hidden) return [];
    const detail = `Two skills have the name ${JSON.stringify(name)}: ${winner} is used, ${folder} is not.`;
    return [{ path: folder, reason: 'name-taken', detail }];
  });
}

export function headerOf({ header: json, folder }: Pick<SkillRow, 'header' | 'folder'>): SkillHeader {
  const header = parseJsonObject(json);
  if (!header.ok) throw new Error(`the cached header of ${folder} is no JSON`);
  // Only this room writes the column, from a SkillHeader.
  return header.value as unknown as SkillHeader;
}
