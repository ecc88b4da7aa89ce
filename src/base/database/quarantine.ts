// Owns moving a database aside with its log files. Invariant: nothing is deleted; the new name says what and when.
import { existsSync, renameSync } from 'node:fs';
import { type Clock, localDate } from '../clock.ts';
import { randomHex } from '../ids.ts';
import { sqliteError } from './sqlite-error.ts';

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
  const at = localDate(clock.now());
  const two = (value: number) => String(value).padStart(2, '0');
  const time = `${two(at.hour)}${two(at.minute)}${two(at.second)}`;
  return `${at.year}${two(at.month)}${two(at.day)}-${time}-${randomHex(2)}`;
}
