// Owns opening files and folders of somebody else's so that nothing can be put in their place meanwhile, and nothing waits for ever.
// Knows no rule about paths. Invariant: what is read is a regular file, never a pipe, a socket or a device; a path that was said to be
// free of links is the one that was opened, however links above it are turned; what is written lands in the folder that was opened.
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from '../atomic-write.ts';
import { errorCode, known, TalariaError } from '../errors.ts';

const { O_RDONLY, O_NONBLOCK, O_NOCTTY, O_DIRECTORY, O_NOFOLLOW } = constants;
/** Of macOS: no part of the path may be a link. */
const NO_LINKS = process.platform === 'darwin' ? 0x2000_0000 : O_NOFOLLOW;
const TRIES = 3;

export interface OpenedFile {
  readonly fd: number;
  readonly stats: Stats;
}

/**
 * `link-free`: every link was followed already, and none may be met now. The caller closes the file. Throws what the system says,
 * TalariaError `not-a-file` for what is none, and `path-moved` when a link stands where there was none.
 */
export function openRegular(path: string, named: 'as-it-is' | 'link-free'): OpenedFile {
  // Looked at before it is opened: opening alone rewinds a tape, and wakes who waits at a pipe.
  refuseOther(path, statSync(path));
  for (let tries = 1; ; tries += 1) {
    const flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | (named === 'link-free' ? NO_LINKS : 0);
    const fd = openUnmoved(path, flags);
    try {
      const stats = fstatSync(fd);
      refuseOther(path, stats);
      if (named === 'as-it-is' || isPathOf(fd, path)) return { fd, stats };
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    closeSync(fd);
    // A file that was replaced between the two looks is no attack yet.
    if (tries === TRIES) throw moved(path);
  }
}

/** The whole of a regular file. Throws as `openRegular`, and TalariaError `file-too-large`. */
export function readRegular(path: string, maxBytes: number, named: 'as-it-is' | 'link-free' = 'as-it-is'): Buffer {
  const { fd, stats } = openRegular(path, named);
  try {
    // Files of the system say 0 and have more; they are short.
    if (stats.size > maxBytes)
      throw new TalariaError(`${path} has ${stats.size} bytes, which is over ${maxBytes}`, {
        code: 'file-too-large',
        fix: 'Give a part of it.',
      });
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

function openUnmoved(path: string, flags: number): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    throw errorCode(error) === 'ELOOP' && (flags & NO_LINKS) !== 0 ? moved(path) : error;
  }
}

function refuseOther(path: string, stats: Stats): void {
  if (stats.isFile()) return;
  const what = stats.isDirectory() ? 'a folder' : 'no ordinary file (a pipe, socket or device)';
  throw new TalariaError(`${path} is ${what}`, {
    code: stats.isDirectory() ? 'is-a-folder' : 'not-a-file',
    fix: 'Name an ordinary file.',
  });
}

function moved(path: string): TalariaError {
  return new TalariaError(`${path} was put in another place while it was being opened`, {
    code: 'path-moved',
    fix: 'See who changes links there, then try again.',
  });
}

/** Linux tells the path of what is open. Elsewhere the path is asked again: a link that was turned twice in between is not seen. */
function isPathOf(fd: number, path: string): boolean {
  // Nothing where no /proc is mounted.
  const told = process.platform === 'linux' ? known(() => readlinkSync(`/proc/self/fd/${fd}`)) : undefined;
  if (told !== undefined) return told === path;
  const [there, here] = [statSync(path), fstatSync(fd)];
  return realpathSync(path) === path && there.ino === here.ino && there.dev === here.dev;
}

/**
 * Opens `folder` (absolute, link-free; made where it is missing) and gives `work` a name for it that keeps meaning this folder. Without
 * /proc that name is its path, looked at once more: there a link that is turned during `work` itself is followed.
 */
export function inOpenedFolder<T>(folder: string, mode: number, work: (name: string) => T): T {
  const missing: string[] = [];
  let at = folder;
  for (; statSync(at, { throwIfNoEntry: false }) === undefined && dirname(at) !== at; at = dirname(at))
    missing.unshift(basename(at));
  let fd = openFolder(at, at);
  try {
    let path = at;
    for (const name of missing) {
      path = join(path, name);
      const inside = join(nameOf(fd, dirname(path)), name);
      makeFolder(inside, mode);
      const next = openFolder(inside, path);
      closeSync(fd);
      fd = next;
    }
    return work(nameOf(fd, folder));
  } finally {
    closeSync(fd);
  }
}

export interface HeldFolder {
  /** Keeps meaning this folder, where the system can. */
  readonly name: string;
  close(): void;
}

/** A folder whose path has no links, to be read. Throws as `openRegular`. */
export function holdFolder(folder: string): HeldFolder {
  const fd = openFolder(folder, folder);
  return { name: nameOf(fd, folder), close: () => closeSync(fd) };
}

function openFolder(name: string, path: string): number {
  let fd: number;
  try {
    fd = openSync(name, O_RDONLY | O_DIRECTORY | NO_LINKS);
  } catch (error) {
    throw lstatSync(name, { throwIfNoEntry: false })?.isSymbolicLink() ? moved(path) : error;
  }
  if (isPathOf(fd, path)) return fd;
  closeSync(fd);
  throw moved(path);
}

function nameOf(fd: number, path: string): string {
  const name = `/proc/self/fd/${fd}`;
  return process.platform === 'linux' && known(() => readlinkSync(name)) !== undefined ? name : path;
}
