// Owns taking a copy of another program's database while that program may be writing. Knows no table.
// Invariant: the original is read as plain bytes and never opened; the copy is of one moment, or there is none.
import { closeSync, copyFileSync, existsSync, openSync, readdirSync, readSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { privateFolder } from '#base/platform.ts';
import { isProcessAlive } from '#base/process/holder.ts';
import { ok, type Result, refuse } from '#base/result.ts';

const PREFIX = 'import-';
const TRIES = 5;
const PAUSE_MS = 200;
/** The log's header: another one means that the log was begun anew. */
const LOG_HEADER = 32;
/** The shared-memory file (-shm) is left out: whoever opens the copy first makes it anew from the log. */
const WITH_IT = ['-wal', '-journal'];

/** A folder in `cache` for one import; folders of processes that died are cleared. */
export function makeCopyFolder(cache: string): string {
  privateFolder(cache);
  for (const name of readdirSync(cache)) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length).split('-')[0]) : Number.NaN;
    if (Number.isInteger(pid) && pid !== process.pid && !isProcessAlive(pid)) removeCopies(join(cache, name));
  }
  const folder = join(cache, `${PREFIX}${process.pid}-${randomHex(4)}`);
  privateFolder(folder);
  return folder;
}

export function removeCopies(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Copies `path` with its log to `to`. Refusal `busy`: it changed during every attempt. Throws `disk-full`. */
export async function copyDatabase(
  path: string,
  to: string,
  clock: Clock,
): Promise<Result<string, 'busy' | 'unreadable'>> {
  try {
    return await copyQuietly(path, to, clock);
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'ENOSPC' && code !== 'EDQUOT')
      return refuse('unreadable', `${path} cannot be copied: ${errorText(error)}`);
    throw new TalariaError(`${path} cannot be copied: the disk is full`, {
      code: 'disk-full',
      cause: error,
      fix: 'Free as much space as the file has, and run this again.',
    });
  }
}

async function copyQuietly(path: string, to: string, clock: Clock): Promise<Result<string, 'busy'>> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    if (attempt > 0) await clock.sleep(PAUSE_MS);
    const before = stateOf(path);
    for (const suffix of ['', ...WITH_IT]) {
      rmSync(to + suffix, { force: true });
      if (existsSync(path + suffix)) copyFileSync(path + suffix, to + suffix);
    }
    if (stateOf(path) === before) return ok(to);
  }
  return refuse('busy', `${path} is being written; close the program that uses it and run this again`);
}

/** Equal before and after: neither file was folded into the other meanwhile. What was added to the log's end does no harm. */
function stateOf(path: string): string {
  const { size, mtimeNs } = statSync(path, { bigint: true });
  return [size, mtimeNs, ...WITH_IT.map((suffix) => headOf(path + suffix))].join(' ');
}

function headOf(path: string): string {
  if (!existsSync(path)) return '';
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(LOG_HEADER);
    return head.subarray(0, readSync(file, head)).toString('hex');
  } finally {
    closeSync(file);
  }
}
