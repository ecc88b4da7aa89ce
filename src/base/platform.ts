// Owns lock files and private folders. Knows no room. Invariant: a lock is held by at most one live process; that of a dead process is taken
// over, and so is one that has been silent for a minute where nobody here can tell whether its holder lives.
import { chmodSync, linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeFolders, writeError } from './atomic-write.ts';
import { type Clock, systemClock } from './clock.ts';
import { errorCode, errorText, ifThere, known, TalariaError } from './errors.ts';
import { jitter, randomHex } from './ids.ts';
import { holderName, holderState, holderWords } from './process/holder.ts';

/** Makes a folder and its parents readable by the owner alone; an existing folder of ours is tightened. Throws TalariaError `folder-unusable`. */
export function privateFolder(path: string): void {
  try {
    makeFolders(path);
    if ((statSync(path).mode & 0o777) !== 0o700) chmodSync(path, 0o700);
  } catch (error) {
    throw unusableFolder(path, error);
  }
}

/** Where demos keep their homes: with the data of this person's programs. `dataHome`: XDG_DATA_HOME. */
export function demoFolder(dataHome: string | undefined, userHome: string): string {
  const base = dataHome || (known(() => statSync(userHome)) ? join(userHome, '.local', 'share') : tmpdir());
  const folder = join(base, 'talaria-demo');
  try {
    makeFolders(folder);
    return folder;
  } catch {
    // A machine where the data folder cannot be written: the temporary one is as good for a demo.
    return join(tmpdir(), 'talaria-demo');
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

/** How often a holder shows that it is there, and how long it may be silent where it cannot be looked at. */
const BEAT_MS = 15_000;
const SILENT_MS = 60_000;

/** Takes `path` (O_EXCL by hard link, content `holderName`), runs `work`, releases. Throws TalariaError `locked` after `waitMs`, and as `atomicWrite`. */
export async function withFileLock<T>(path: string, work: () => T | Promise<T>, options: LockOptions = {}): Promise<T> {
  const clock = options.clock ?? systemClock;
  const until = clock.monotonic() + (options.waitMs ?? 10_000);
  makeLockFolder(path);
  while (!tryLock(path, clock)) {
    if (clock.monotonic() >= until) throw heldElsewhere(path);
    await clock.sleep(5 + jitter() * 20, options.signal);
  }
  const stopBeating = keepBeating(path, clock);
  try {
    return await work();
  } finally {
    stopBeating();
    if (isOurs(path)) rmSync(path, { force: true });
  }
}

function makeLockFolder(path: string): void {
  try {
    makeFolders(dirname(path));
  } catch (error) {
    throw writeError(path, error);
  }
}

function heldElsewhere(path: string): TalariaError {
  const holder = readIfThere(path)?.trim();
  return new TalariaError(`${path} is held by ${holder ? holderWords(holder) : 'another process'}`, {
    code: 'locked',
    retryable: true,
    fix: 'Wait for the other process to finish, then try again; if it hangs, end it.',
  });
}

/** While `work` runs, for those on other machines and in other containers. */
function keepBeating(path: string, clock: Clock): () => void {
  let cancel = clock.after(BEAT_MS, beat);
  function beat(): void {
    const seconds = clock.now() / 1000;
    if (isOurs(path)) utimesSync(path, seconds, seconds);
    cancel = clock.after(BEAT_MS, beat);
  }
  return () => cancel();
}

/** One that was silent for too long, asleep or stopped, may have lost it. */
function isOurs(path: string): boolean {
  return readIfThere(path)?.trim() === holderName();
}

function tryLock(path: string, clock: Clock): boolean {
  if (claimed(path)) return true;
  for (let left = 2; left > 0 && removeStaleLock(path, clock); left -= 1) if (claimed(path)) return true;
  return false;
}

/** The file exists whole, naming this process, or not at all. */
function claimed(path: string): boolean {
  const claim = `${path}.${process.pid}.${randomHex(4)}`;
  try {
    writeFileSync(claim, `${holderName()}\n`, { flag: 'wx', mode: 0o600 });
    linkSync(claim, path);
    return true;
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw writeError(path, error);
    return false;
  } finally {
    rmSync(claim, { force: true });
  }
}

/** Removes the lock of a dead process, and says whether it came nearer to that. One process at a time may do so, else a fresh lock could be taken for the stale one. */
function removeStaleLock(path: string, clock: Clock): boolean {
  if (!isStale(path, clock)) return false;
  const breaker = `${path}.break`;
  if (!claimed(breaker)) {
    return setAsideStale(breaker, clock);
  }
  try {
    const isStill = isStale(path, clock);
    if (isStill) rmSync(path, { force: true });
    return isStill;
  } finally {
    rmSync(breaker, { force: true });
  }
}

/** Takes away the breaker of a process that died while it broke a lock; one that turns out to be a live process's is given back. */
function setAsideStale(breaker: string, clock: Clock): boolean {
  if (!isStale(breaker, clock)) return false;
  const aside = `${breaker}.${process.pid}.${randomHex(4)}`;
  try {
    renameSync(breaker, aside);
    if (!isStale(aside, clock)) linkSync(aside, breaker);
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes(errorCode(error) ?? '')) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
  return true;
}

/** Our locks are never empty: one without a process id was left by another program. A beat that lies ahead, of a clock that went back, is none. */
function isStale(path: string, clock: Clock): boolean {
  const content = readIfThere(path);
  if (content === undefined) return false;
  const state = holderState(content);
  if (state !== 'unknown') return state === 'gone';
  const beat = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return beat !== undefined && Math.abs(clock.now() - beat) > SILENT_MS;
}

export function readBytesIfThere(path: string): Buffer | undefined {
  return ifThere(() => readFileSync(path), ['ENOENT', 'ENOTDIR']);
}

export function readIfThere(path: string): string | undefined {
  return ifThere(() => readFileSync(path, 'utf8'));
}
