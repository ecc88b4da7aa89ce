// Owns taking a text out of a database whose tables nobody here knows, making sure that deleted bytes are gone from the file and its log, and finding
// a text in files.
// Knows no table by name. Invariants: in the caller's transaction; keys, references and full-text tables are never touched; only prose changes (a
// single word in a cell may be a state or a name); JSON keeps its form; when it says `clean`, nothing that was deleted before is left.

import { closeSync, existsSync, openSync, readdirSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { errorCode } from '#base/errors.ts';
import { canonicalJson, isJsonObject, type JsonValue, parseJson } from '#base/json.ts';

export const FORGOTTEN = '[forgotten]';

/** Gives the number of cells that were changed. */
export function sweepText(database: Database, text: string): number {
  const replace = inProse(replacing(text));
  let changed = 0;
  for (const table of plainTables(database)) {
    for (const column of freeColumns(database, table)) changed += sweepColumn(database, { table, column }, replace);
  }
  return changed;
}

/** Every occurrence replaced, upper and lower case alike. */
export function replacing(text: string): (candidate: string) => string {
  const escaped = variantsOf(text).map((variant) => variant.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(escaped.join('|'), 'giu');
  return (candidate) => candidate.replace(pattern, FORGOTTEN);
}

/** In texts of more than one word, also within JSON. */
function inProse(replace: (text: string) => string): (cell: string) => string {
  const inText = (text: string) => (/\s/.test(text.trim()) ? replace(text) : text);
  return (cell) => {
    if (!/^[[{]/.test(cell) || replace(cell) === cell) return inText(cell);
    const parsed = parseJson(cell);
    return parsed.ok ? JSON.stringify(mapTexts(parsed.value, inText)) : inText(cell);
  };
}

/** Neither virtual tables nor those that they keep their data in. */
function plainTables(database: Database): readonly string[] {
  const tables = database.all<{ name: string; type: string }>(
    "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite_%'",
  );
  return tables.filter(({ type }) => type === 'table').map(({ name }) => name);
}

function freeColumns(database: Database, table: string): readonly string[] {
  const bound = new Set(
    database
      .all<{ name: string }>(
        `SELECT i.name FROM pragma_index_list(?1) AS l, pragma_index_info(l.name) AS i WHERE l."unique" = 1
         UNION SELECT "from" FROM pragma_foreign_key_list(?1)`,
        table,
      )
      .map(({ name }) => name),
  );
  return database
    .all<{ name: string; pk: number }>('SELECT name, pk FROM pragma_table_info(?)', table)
    .filter(({ name, pk }) => pk === 0 && !bound.has(name))
    .map(({ name }) => name);
}

interface Column {
  readonly table: string;
  readonly column: string;
}

function sweepColumn(database: Database, { table, column }: Column, replace: (text: string) => string): number {
  const at = `"${column.replaceAll('"', '""')}"`;
  const from = `"${table.replaceAll('"', '""')}"`;
  const held = new Map<string, string>();
  const cells = database.iterate<{ cell: string }>(`SELECT ${at} AS cell FROM ${from} WHERE typeof(${at}) = 'text'`);
  for (const { cell } of cells) {
    const next = replace(cell);
    if (next !== cell) held.set(cell, next);
  }
  let changed = 0;
  for (const [old, next] of held)
    changed += database.run(`UPDATE ${from} SET ${at} = ? WHERE ${at} = ?`, next, old).changes;
  return changed;
}

/** Is there a text that passes? Values under `structure` keys are not looked at. */
export function someText(
  value: JsonValue | undefined,
  structure: ReadonlySet<string>,
  test: (text: string) => boolean,
): boolean {
  if (typeof value === 'string') return test(value);
  if (Array.isArray(value)) return value.some((item: JsonValue) => someText(item, structure, test));
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(([key, inner]) => !structure.has(key) && someText(inner, structure, test));
}

/** Every text passed through `change`. */
function mapTexts(value: JsonValue, change: (text: string) => string): JsonValue {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item: JsonValue) => mapTexts(item, change));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapTexts(inner ?? null, change)]));
}

/** `someText` for JSON as it is stored; what is no JSON is one text. */
export function someStoredText(
  stored: string,
  structure: ReadonlySet<string>,
  test: (text: string) => boolean,
): boolean {
  if (!test(stored)) return false;
  const parsed = parseJson(stored);
  return parsed.ok ? someText(parsed.value, structure, test) : true;
}

const TRIES = 50;
const PAUSE_MS = 100;

/** Rewrites the file without its free pages and empties its log. `busy`: another process reads it; its log goes when that one is done. */
export async function eraseFreed(database: Database, clock: Clock): Promise<'clean' | 'busy'> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    if (attempt > 0) await clock.sleep(PAUSE_MS);
    try {
      database.exec('VACUUM');
      const done = database.get<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)');
      if (done?.busy !== 1) return 'clean';
    } catch (error) {
      if (errorCode(error) !== 'database-locked') throw error;
    }
  }
  return 'busy';
}

/** The text as it stands in plain text and within JSON strings. */
export function variantsOf(text: string): readonly string[] {
  const escaped = canonicalJson(text).slice(1, -1);
  return escaped === text ? [text] : [text, escaped];
}

// Finding a text in files. Invariants: no link is followed; a file of any size is searched in pieces, byte for byte.

/** Large, and never written by a conversation. */
const PASSED_OVER = new Set(['models', 'engines']);
const PIECE = 1 << 22;

/** Paths below `root`, in order of names; nothing when it is not there. */
export function* filesBelow(root: string, below = ''): Generator<string> {
  for (const entry of listed(join(root, below))) {
    const path = below === '' ? entry.name : join(below, entry.name);
    if (entry.isDirectory() && !PASSED_OVER.has(path)) yield* filesBelow(root, path);
    else if (entry.isFile()) yield path;
  }
}

function listed(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return [];
    throw error;
  }
}

/** Does the file hold one of the texts? ASCII letters count the same in upper and lower case. */
function holdsBytes(path: string, texts: readonly string[]): boolean {
  const wanted = texts.map((text) => foldBytes(Buffer.from(text)));
  const overlap = Math.max(0, ...wanted.map(({ length }) => length - 1));
  const file = openSync(path, 'r');
  try {
    let kept = Buffer.alloc(0);
    for (;;) {
      const piece = Buffer.alloc(PIECE);
      const size = readSync(file, piece);
      if (size === 0) return false;
      const window = Buffer.concat([kept, foldBytes(piece.subarray(0, size))]);
      if (wanted.some((bytes) => window.includes(bytes))) return true;
      kept = Buffer.from(window.subarray(Math.max(0, window.length - overlap)));
    }
  } finally {
    closeSync(file);
  }
}

function foldBytes(bytes: Buffer): Buffer {
  return Buffer.from(
    bytes.toString('latin1').replace(/[A-Z]+/g, (letters) => letters.toLowerCase()),
    'latin1',
  );
}

/** Absolute paths of the files below `folder` that hold the text. */
export function filesHolding(folder: string, text: string): readonly string[] {
  const variants = variantsOf(text);
  return [...filesBelow(folder)].map((path) => join(folder, path)).filter((path) => holdsBytes(path, variants));
}

/** Of those that are there; gives their number. */
export function removeFiles(paths: readonly string[]): number {
  const there = new Set(paths.filter((path) => existsSync(path)));
  for (const path of there) rmSync(path, { recursive: true, force: true });
  return there.size;
}
