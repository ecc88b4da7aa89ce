// Owns the tables of the skills cache: what the folders held when they were last read, words for search, rendered indexes, vectors.
// One SQLite file that may be deleted at any time. Invariant: a row stands for a file as its stamp says; nothing here is a source.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { RoomSchema } from '#base/database/migrate.ts';
import { openDatabase } from '#base/database.ts';
import { errorCode } from '#base/errors.ts';
import type { JudgeWord } from './judge/skill-judge.ts';

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
