// Owns saving what can be read out of a damaged database into a fresh one, table by table, round the pages that cannot be read. Knows no table
// of any room. Invariant: the damaged file is only copied from, never opened; whatever is damaged, this ends, and says what it got.
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import type { Clock } from '../clock.ts';
import { migrate, type RoomSchema } from '../database.ts';
import { errorText, TalariaError } from '../errors.ts';
import { Database, type SqlValue } from './connection.ts';
import { mendLog } from './write-log.ts';

export interface SalvagedTable {
  readonly name: string;
  readonly rows: number;
  /** Places at which something could not be read. */
  readonly gaps: number;
}

export interface SalvageOptions {
  /** The rooms whose tables the file holds, as this program knows them. */
  readonly rooms: readonly RoomSchema[];
  /** Tables that are made again from others. */
  readonly derived: readonly string[];
  readonly clock: Clock;
}

/** Writes what can be read of `from` into a new database at `to`. Throws TalariaError `nothing-readable`; `to` is not there then. */
export function salvage(from: string, to: string, options: SalvageOptions): readonly SalvagedTable[] {
  const copy = `${to}.source`;
  removeAll(copy);
  removeAll(to);
  try {
    copyWhole(from, copy);
    const tables = copyTables(copy, to, options);
    if (tables.every(({ name, rows }) => rows === 0 || name === 'schema_versions')) throw nothingReadable(from);
    return tables;
  } catch (error) {
    removeAll(to);
    throw error instanceof TalariaError && error.code !== 'database-corrupt' ? error : nothingReadable(from, error);
  } finally {
    removeAll(copy);
  }
}

export function removeAll(path: string): void {
  for (const part of ['', '-wal', '-shm', '-journal', '.suspect']) rmSync(path + part, { force: true });
}

function nothingReadable(path: string, cause?: unknown): TalariaError {
  return new TalariaError(`nothing of ${path} can be read${cause === undefined ? '' : ` (${errorText(cause)})`}`, {
    code: 'nothing-readable',
    ...(cause === undefined ? {} : { cause }),
    fix: 'Nothing was changed. Restore a copy of it, or start empty; the damaged file is kept.',
  });
}

function copyWhole(from: string, to: string): void {
  for (const part of ['', '-wal']) if (existsSync(from + part)) copyFileSync(from + part, to + part);
  mendHeader(to);
  mendLog(to);
}

const PAGE = 4096;
const MAGIC = 'SQLite format 3\0';

/** The first hundred bytes say nothing that the rest does not: where they make no sense they are written anew, for a file of ours. */
function mendHeader(path: string): void {
  const file = openSync(path, 'r+');
  try {
    const head = Buffer.alloc(100);
    readSync(file, head, 0, 100, 0);
    const isOurs = head.toString('latin1', 0, 16) === MAGIC && head.readUInt16BE(16) === PAGE;
    if (isOurs && head[21] === 64 && head[22] === 32 && head[23] === 32) mendPageCount(file, head, path);
    else writeSync(file, freshHeader(Math.ceil(statSync(path).size / PAGE)), 0, 100, 0);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** A file that was cut is shorter than its header says, and would be refused for that alone. */
function mendPageCount(file: number, head: Buffer, path: string): void {
  const pages = Math.floor(statSync(path).size / PAGE);
  if (head.readUInt32BE(28) <= pages) return;
  head.writeUInt32BE(pages, 28);
  head.writeUInt32BE(0, 32);
  head.writeUInt32BE(0, 36);
  writeSync(file, head, 0, 100, 0);
}

function freshHeader(pages: number): Buffer {
  const head = Buffer.alloc(100);
  head.write(MAGIC, 0, 'latin1');
  head.writeUInt16BE(PAGE, 16);
  head.set([2, 2, 0, 64, 32, 32], 18);
  head.writeUInt32BE(1, 24);
  head.writeUInt32BE(pages, 28);
  head.writeUInt32BE(1, 40);
  head.writeUInt32BE(4, 44);
  head.writeUInt32BE(1, 56);
  head.writeUInt32BE(1, 92);
  return head;
}

/** Where the ids of a table go on, also behind rows that are lost: they may be cited. */
function keepSequences(source: Database, target: Database): void {
  const sql = 'SELECT name, seq FROM sqlite_sequence';
  for (const { name, seq } of readable(() => source.all<{ name: string; seq: number }>(sql))) {
    const changed = target.run('UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?', seq, name).changes;
    if (changed === 0) target.run('INSERT INTO sqlite_sequence(name, seq) VALUES(?, ?)', name, seq);
  }
}

function copyTables(copy: string, to: string, { rooms, derived, clock }: SalvageOptions): readonly SalvagedTable[] {
  const source = new Database(copy, { readOnly: false, lenient: true, clock, busyMs: 1_000 });
  try {
    const target = new Database(to, { readOnly: false, clock, busyMs: 1_000 });
    try {
      const isOlder = makeTables(source, target, { rooms, clock });
      target.exec('PRAGMA foreign_keys = OFF');
      const names = tableNames(target).filter((name) => !derived.includes(name));
      const tables = names.map((name) => target.transactionSync(() => copyTable(source, target, name)));
      if (!isOlder) target.transactionSync(() => nameVersions(target, rooms));
      readable(() => [keepSequences(source, target)]);
      return tables;
    } finally {
      target.close();
    }
  } finally {
    source.abandon();
  }
}

interface SchemaRow {
  readonly name: string;
  readonly sql: string;
}

/** As the damaged file has them when an older program wrote it: the next opening brings it up to date. Else as this program makes them. */
function makeTables(
  source: Database,
  target: Database,
  { rooms, clock }: Pick<SalvageOptions, 'rooms' | 'clock'>,
): boolean {
  const known = new Map(rooms.map(({ room, steps }) => [room, steps.length]));
  const versions = readable(() =>
    source.all<{ room: string; version: number }>('SELECT room, version FROM schema_versions'),
  );
  const isOlder = versions.some(({ room, version }) => version < (known.get(room) ?? 0));
  if (!isOlder) {
    migrate(target, rooms, clock);
    return false;
  }
  const sql =
    "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type DESC, rowid";
  const made = readable(() => source.all<SchemaRow>(sql));
  const shadows = new Set(made.filter(({ sql }) => /^CREATE VIRTUAL/i.test(sql)).map(({ name }) => `${name}_`));
  for (const { name, sql } of made)
    if (![...shadows].some((start) => name.startsWith(start))) readable(() => [target.exec(sql)]);
  return true;
}

function tableNames(target: Database): readonly string[] {
  const rows = target.all<SchemaRow>(
    "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL AND name NOT LIKE 'sqlite_%'",
  );
  const virtual = rows.filter(({ sql }) => /^CREATE VIRTUAL/i.test(sql)).map(({ name }) => name);
  return rows
    .map(({ name }) => name)
    .filter((name) => !virtual.some((lead) => name === lead || name.startsWith(`${lead}_`)));
}

/** A room whose version could not be read is as this program made it. */
function nameVersions(target: Database, rooms: readonly RoomSchema[]): void {
  for (const { room, steps } of rooms)
    target.run('INSERT OR IGNORE INTO schema_versions VALUES(?, ?)', room, steps.length);
}

function readable<T>(read: () => readonly T[]): readonly T[] {
  try {
    return read();
  } catch (error) {
    if (error instanceof TalariaError) return [];
    throw error;
  }
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

interface ColumnRow {
  readonly name: string;
  readonly pk: number;
}

interface Copying {
  readonly source: Database;
  readonly table: string;
  readonly columns: readonly string[];
  readonly key: readonly string[];
  readonly keep: (row: Readonly<Record<string, SqlValue>>) => void;
}

function copyTable(source: Database, target: Database, name: string): SalvagedTable {
  const info = `PRAGMA table_info(${quoted(name)})`;
  const there = new Set(readable(() => source.all<ColumnRow>(info)).map((column) => column.name));
  const shared = target.all<ColumnRow>(info).filter((column) => there.has(column.name));
  const columns = shared.map((column) => column.name);
  if (columns.length === 0) return { name, rows: 0, gaps: 1 };
  const key = shared
    .filter(({ pk }) => pk > 0)
    .sort((a, b) => a.pk - b.pk)
    .map((column) => column.name);
  let rows = 0;
  const marks = columns.map(() => '?').join(', ');
  const insert = `INSERT OR IGNORE INTO ${quoted(name)}(${columns.map(quoted).join(', ')}) VALUES(${marks})`;
  const keep = (row: Readonly<Record<string, SqlValue>>) => {
    rows += readable(() => [target.run(insert, ...columns.map((column) => row[column] ?? null)).changes])[0] ?? 0;
  };
  const copying = { source, table: quoted(name), columns, key, keep };
  const gaps = hasRowid(source, name) ? copyByRowid(copying) : copyByKey(copying);
  return { name, rows, gaps };
}

function hasRowid(source: Database, name: string): boolean {
  const sql = readable(() => source.all<SchemaRow>('SELECT name, sql FROM sqlite_schema WHERE name = ?', name))[0]?.sql;
  return !/\bWITHOUT\s+ROWID\b/i.test(sql ?? '');
}

/** Ids beyond this are not ours. */
const HIGHEST = 2n ** 52n;

/** Past this many a table is given up: what is left is hardly worth the hours. */
const MOST_GAPS = 10_000;

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

/** Reads on until something cannot be read, looks for the next id behind it that can, and reads on from there. */
function copyByRowid(copying: Copying): number {
  const select = `SELECT rowid AS "rowid of it", ${copying.columns.map(quoted).join(', ')} FROM ${copying.table} WHERE rowid >= ? ORDER BY rowid`;
  let gaps = 0;
  for (let at: bigint | undefined = -HIGHEST; at !== undefined; ) {
    const from: bigint = at;
    let last = from - 1n;
    const isWhole = readOn(copying, { select, values: [from] }, (row) => {
      last = BigInt(Number(row['rowid of it']));
    });
    if (isWhole) break;
    gaps += 1;
    at = gaps < MOST_GAPS ? nextReadable(copying, larger(larger(last + 1n, from + 1n), 0n)) : undefined;
  }
  return gaps;
}

/** The first id from `from` on, found by doubling steps and then halving them, at which a row can be read. */
function nextReadable({ source, table, columns }: Copying, from: bigint): bigint | undefined {
  const select = `SELECT rowid, ${columns.map(quoted).join(', ')} FROM ${table} WHERE rowid >= ? ORDER BY rowid LIMIT 1`;
  const isReadable = (id: bigint) => {
    try {
      return source.all(select, id) !== undefined;
    } catch (error) {
      if (error instanceof TalariaError) return false;
      throw error;
    }
  };
  let bad = from;
  let step = 1n;
  for (; !isReadable(bad + step); step *= 2n) {
    bad += step;
    if (bad > HIGHEST) return undefined;
  }
  let good = bad + step;
  while (good - bad > 1n) {
    const middle = (good + bad) / 2n;
    if (isReadable(middle)) good = middle;
    else bad = middle;
  }
  return good;
}

/** Without row ids: from both ends, up to what cannot be read. */
function copyByKey(copying: Copying): number {
  const select = `SELECT ${copying.columns.map(quoted).join(', ')} FROM ${copying.table}`;
  if (readOn(copying, { select, values: [] })) return 0;
  const backwards = copying.key.map((name) => `${quoted(name)} DESC`).join(', ');
  if (backwards !== '') readOn(copying, { select: `${select} ORDER BY ${backwards}`, values: [] });
  return 1;
}

function readOn(
  { source, keep }: Copying,
  { select, values }: { readonly select: string; readonly values: readonly SqlValue[] },
  see: (row: Readonly<Record<string, SqlValue>>) => void = () => undefined,
): boolean {
  try {
    for (const row of source.iterate<Record<string, SqlValue>>(select, ...values)) {
      see(row);
      keep(row);
    }
    return true;
  } catch (error) {
    if (error instanceof TalariaError) return false;
    throw error;
  }
}
