// Owns durable whole-file writes: temp file in the same folder, flush, rename. Invariant: a reader sees the old bytes or the
// new bytes, never a mixture; a failed write leaves the old file and no temp file behind.
import {
  chmodSync,
  closeSync,
  existsSync,
  fchownSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorCode, errorText, known, TalariaError } from './errors.ts';
import { randomHex } from './ids.ts';

export interface AtomicWriteOptions {
  /** File permission bits; default 0o600. */
  readonly mode?: number;
  /** Prefix of the temp file's name; default `.tmp_`. */
  readonly prefix?: string;
  /** What errors call the file, when `path` is another name for it. */
  readonly shown?: string;
  /** The file that is replaced stays its owner's and its group's, where that may be. Not for what is private: who stood there may be a stranger. */
  readonly keepOwner?: boolean;
}

/**
 * Writes `data` to `path`, making missing folders (0700). Throws TalariaError `disk-full` | `no-permission` | `write-failed`; the last
 * also for a folder, a device or a pipe, which a rename would take the place of.
 */
export function atomicWrite(path: string, data: string | Uint8Array, options: AtomicWriteOptions = {}): void {
  const folder = dirname(path);
  const temp = join(folder, `${options.prefix ?? '.tmp_'}${basename(path)}_${randomHex(4)}`);
  let made = false;
  try {
    makeFolders(folder);
    made = true;
    const old = lookAtFile(path, options.shown ?? path);
    const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
    writeDurably(temp, bytes, options.keepOwner && old ? { ...options, owner: old } : options);
    renameSync(temp, path);
  } catch (error) {
    if (made) rmSync(temp, { force: true });
    throw error instanceof TalariaError ? error : writeError(path, error, options.shown);
  }
  syncFolder(folder);
}

/** As `mkdir -p`, step by step: in one call Node never ends below `/proc`. */
export function makeFolders(path: string, mode = 0o700): void {
  const missing: string[] = [];
  let at = path;
  for (; !existsSync(at) && dirname(at) !== at; at = dirname(at)) missing.push(at);
  if (missing.length === 0 && !statSync(at).isDirectory()) mkdirSync(at); // which says what stands there
  for (const folder of missing.toReversed()) makeFolder(folder, mode);
}

/** One that is there already is as good: another process was faster. */
export function makeFolder(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

function lookAtFile(path: string, shown: string): Stats | undefined {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts === undefined || facts.isFile()) return facts;
  const what = facts.isDirectory() ? 'a folder' : 'no regular file';
  throw new TalariaError(`cannot write ${shown}: it is ${what}`, { code: 'write-failed', fix: 'Name another file.' });
}

function writeDurably(
  path: string,
  bytes: Uint8Array,
  { mode = 0o600, owner }: { mode?: number; owner?: Stats },
): void {
  const file = openSync(path, 'wx', mode);
  try {
    if (owner !== undefined) giveTo(file, owner); // before the mode: a change of owner takes bits of it
    chmodSync(path, mode);
    let written = 0;
    while (written < bytes.length) written += writeSync(file, bytes, written);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** The group first: its owner may give a file to a group of his own, and only root gives one away. */
function giveTo(file: number, { uid, gid }: Stats): void {
  known(() => {
    fchownSync(file, -1, gid);
    fchownSync(file, uid, -1);
  });
}

/** Makes renames and removals in a folder durable. Throws TalariaError as `atomicWrite`. */
export function syncFolder(folder: string): void {
  let handle: number;
  try {
    handle = openSync(folder, 'r');
  } catch (error) {
    if (errorCode(error) === 'EISDIR' || errorCode(error) === 'EPERM') return; // folders cannot be opened on this platform
    throw writeError(folder, error);
  }
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

const WRITE_CODES: Readonly<Record<string, { code: string; fix: string }>> = {
  ENOSPC: { code: 'disk-full', fix: 'Free some space on this disk and try again.' },
  EDQUOT: { code: 'disk-full', fix: 'Free some of your quota and try again.' },
  EACCES: { code: 'no-permission', fix: 'Check who owns the folder and its permissions.' },
  EPERM: { code: 'no-permission', fix: 'Check who owns the folder and its permissions.' },
  EROFS: { code: 'no-permission', fix: 'The file system is read-only; choose another folder.' },
};

/** What the file system says about a path that cannot be written, with what to do. */
export function writeError(path: string, cause: unknown, shown = path): TalariaError {
  if (shown !== path && cause instanceof Error) Object.assign(cause, { path: shown });
  const known = WRITE_CODES[errorCode(cause) ?? ''];
  return new TalariaError(`cannot write ${shown}: ${errorText(cause)}`, {
    code: known?.code ?? 'write-failed',
    cause,
    ...(known ? { fix: known.fix } : {}),
  });
}
