// Owns what is remembered beside a database about its health (the mark of damage that was met, the flags of processes that have it open for
// writing), and moving a file aside. Knows no table. Invariants: a file that was found damaged is not opened for writing again before somebody
// mended it or took it away; nothing is deleted.

import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { type Clock, timeStamp } from '../clock.ts';
import { errorCode, TalariaError } from '../errors.ts';
import { randomHex } from '../ids.ts';
import { parseJson } from '../json.ts';
import { readIfThere } from '../platform.ts';
import { holderName, holderState, holderWords } from '../process/holder.ts';
import { sqliteError } from './sqlite-error.ts';

/** Marks a file in which somebody saw damage. Empty: met in the middle of work, the next opener looks at all of it. Else: what was found. */
export function suspectMark(path: string): string {
  return `${path}.suspect`;
}

export function markSuspect(path: string): void {
  if (!isSuspect(path)) closeSync(openSync(suspectMark(path), 'a', 0o600));
}

const foundSchema = z.object({ what: z.string(), file: z.string() });

/** Remembers what was found, for as long as the file stays as it is. Where nothing can be written it is found again each time. */
export function rememberDamage(path: string, what: string): void {
  try {
    writeFileSync(suspectMark(path), JSON.stringify({ what, file: identity(path) }), { mode: 0o600 });
  } catch (error) {
    if (!['EROFS', 'EACCES', 'EPERM', 'ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '')) throw error;
  }
}

/** What was found in the file as it stands; undefined: nothing, or it was changed since. A file that is gone is not mended. */
export function rememberedDamage(path: string): string | undefined {
  if (!isSuspect(path)) return undefined;
  const parsed = parseJson(readFileSync(suspectMark(path), 'utf8'));
  const found = foundSchema.safeParse(parsed.ok ? parsed.value : undefined);
  if (!found.success) return undefined;
  return !existsSync(path) || found.data.file === identity(path) ? found.data.what : undefined;
}

export function isSuspect(path: string): boolean {
  return existsSync(suspectMark(path));
}

export function forgetDamage(path: string): void {
  rmSync(suspectMark(path), { force: true });
}

export function damagedError(path: string, what: string): TalariaError {
  const text = what.startsWith(path) ? what : `${path} is damaged: ${what}`;
  return new TalariaError(text, {
    code: 'database-corrupt',
    fix: 'Nothing was changed. `talaria repair salvage` saves what can be read, `talaria repair restore` brings a copy back, `talaria repair empty` starts anew.',
  });
}

function identity(path: string): string {
  const facts = statSync(path, { bigint: true, throwIfNoEntry: false });
  return facts ? [facts.ino, facts.size, facts.mtimeNs].join(' ') : '';
}

export interface WriterFlag {
  /** Somebody had the file open for writing and ended without closing it. */
  readonly crashed: boolean;
  /** At a clean close. */
  lower(): void;
  /** The file was looked at: what the crashed ones left is done with. */
  clear(): void;
}

/** @param folder of the flags, e.g. `cache/open` */
export function raiseFlag(path: string, folder: string): WriterFlag {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lead = `${basename(path)}-`;
  const left = readdirSync(folder)
    .filter((name) => name.startsWith(lead))
    .map((name) => join(folder, name))
    .filter((flag) => holderState(readIfThere(flag) ?? holderName()) === 'gone');
  const own = join(folder, `${lead}${process.pid}-${randomHex(4)}`);
  writeFileSync(own, holderName(), { mode: 0o600 });
  const clear = () => {
    for (const flag of left) rmSync(flag, { force: true });
  };
  return { crashed: left.length > 0, lower: () => rmSync(own, { force: true }), clear };
}

/** In words, the processes that have the file open for writing. */
export function liveWriters(path: string, folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  const flags = readdirSync(folder).filter((name) => name.startsWith(`${basename(path)}-`));
  const holders = flags.map((name) => readIfThere(join(folder, name)) ?? '');
  return holders.filter((holder) => holderState(holder) !== 'gone').map(holderWords);
}

/** Does the file begin as SQLite's file format says? An empty file is none. Throws what the file system throws. */
export function isDatabaseFile(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(16);
    readSync(file, head);
    return head.toString('latin1') === 'SQLite format 3\0';
  } finally {
    closeSync(file);
  }
}

/** Gives the new path of the main file: `<path>.corrupt-<time>`, or `.before-…` of one that is whole. */
export function quarantine(path: string, clock: Clock, why: 'corrupt' | 'before' = 'corrupt'): string {
  const moved = `${path}.${why}-${fileStamp(clock)}`;
  try {
    for (const suffix of ['', '-wal', '-shm']) {
      if (existsSync(path + suffix)) renameSync(path + suffix, moved + suffix);
    }
  } catch (error) {
    throw sqliteError(path, error);
  }
  return moved;
}

/** `YYYYMMDD-HHMMSS-<4 hex>` in local time, for names of kept files. */
export function fileStamp(clock: Clock): string {
  return `${timeStamp(clock.now())}-${randomHex(2)}`;
}
