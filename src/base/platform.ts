// Owns what differs between machines: processes being alive, lock files, private folders. Knows no room.
// Invariant: a lock is held by at most one live process; a lock of a dead process is taken over, never waited for for ever.
import {
  chmodSync,
  closeSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { makeFolders } from './atomic-write.ts';
import { type Clock, systemClock } from './clock.ts';
import { errorCode, errorText, TalariaError } from './errors.ts';
import { jitter, randomHex } from './ids.ts';

/** Does a process with this id exist on this machine (also one that we may not signal)? */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** Makes a folder and its parents readable by the owner alone; an existing folder of ours is tightened. Throws TalariaError `folder-unusable`. */
export function privateFolder(path: string): void {
  try {
    makeFolders(path);
    if ((statSync(path).mode & 0o777) !== 0o700) chmodSync(path, 0o700);
  } catch (error) {
    throw unusableFolder(path, error);
  }
}

const FOLDER_FIXES: Readonly<Record<string, string>> = {
  EEXIST: 'Something that is no folder has this name: move it away, or name another folder.',
  ENOTDIR: 'A part of this path is no folder: move it away, or name another folder.',
  EPERM: 'The folder belongs to somebody else: name a folder of your own.',
  EACCES: 'The folder belongs to somebody else: name a folder of your own.',
  EROFS: 'The disk is read-only: name a folder on another one.',
  ENOSPC: 'Free some space and try again.',
};

/** What the file system says about a folder that should be ours, with what to do. */
export function unusableFolder(path: string, error: unknown): TalariaError {
  const fix = FOLDER_FIXES[errorCode(error) ?? ''] ?? 'Check the path, who owns it, and its permissions.';
  return new TalariaError(`${path} cannot be used as a private folder (${errorText(error)})`, {
    code: 'folder-unusable',
    cause: error,
    fix,
  });
}

export interface LockOptions {
  /** How long to wait for another holder, ms; default 10 000. */
  readonly waitMs?: number;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

/** Takes `path` (O_EXCL by hard link, content `<pid> <host>`), runs `work`, releases. Throws TalariaError `locked` after `waitMs`. */
export async function withFileLock<T>(path: string, work: () => T | Promise<T>, options: LockOptions = {}): Promise<T> {
  const clock = options.clock ?? systemClock;
  const until = clock.monotonic() + (options.waitMs ?? 10_000);
  makeFolders(dirname(path));
  while (!tryLock(path)) {
    if (clock.monotonic() >= until) {
      throw new TalariaError(`${path} is held by another process`, {
        code: 'locked',
        retryable: true,
        fix: 'Wait for the other process to finish, then try again.',
      });
    }
    await clock.sleep(5 + jitter() * 20, options.signal);
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

function tryLock(path: string): boolean {
  if (claimed(path)) return true;
  removeStaleLock(path);
  return false;
}

/** The file exists whole, naming this process, or not at all. */
function claimed(path: string): boolean {
  const claim = `${path}.${process.pid}.${randomHex(4)}`;
  const file = openSync(claim, 'wx', 0o600);
  try {
    writeSync(file, `${process.pid} ${hostname()}\n`);
  } finally {
    closeSync(file);
  }
  try {
    linkSync(claim, path);
    return true;
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(claim, { force: true });
  }
}

/** Removes the lock of a dead process. One process at a time may do so, else a fresh lock could be taken for the stale one. */
function removeStaleLock(path: string): void {
  if (!isStale(path)) return;
  const breaker = `${path}.break`;
  if (!claimed(breaker)) {
    setAsideStale(breaker);
    return;
  }
  try {
    if (isStale(path)) rmSync(path, { force: true });
  } finally {
    rmSync(breaker, { force: true });
  }
}

/** Takes away the breaker of a process that died while it broke a lock; one that turns out to be a live process's is given back. */
function setAsideStale(breaker: string): void {
  if (!isStale(breaker)) return;
  const aside = `${breaker}.${process.pid}.${randomHex(4)}`;
  try {
    renameSync(breaker, aside);
    if (!isStale(aside)) linkSync(aside, breaker);
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes(errorCode(error) ?? '')) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Our locks are never empty: one without a process id was left by another program. */
function isStale(path: string): boolean {
  const content = readIfThere(path);
  if (content === undefined) return false;
  const [pid, host] = content.trim().split(' ');
  if (!pid || !/^\d+$/.test(pid)) return true;
  return host === hostname() && !isProcessAlive(Number(pid));
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
