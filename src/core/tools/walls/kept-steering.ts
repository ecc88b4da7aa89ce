// Owns what the owner had where commands may change what steers: keeping its bytes, as far as they are few, putting them back, and moving away what
// a command left. Knows no mark and no question. Invariants: nothing is moved or written but in the very folder that the path names, whatever
// links are turned meanwhile; nothing that stands there is written over.
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorCode, known, TalariaError } from '#base/errors.ts';
import { type HeldFolder, holdFolder, readRegular } from '#base/paths/open-files.ts';
import { entriesOf, lookAt } from './mounts.ts';

export type Kept =
  | { readonly kind: 'file'; readonly bytes: Buffer; readonly mode: number }
  | { readonly kind: 'link'; readonly to: string }
  | { readonly kind: 'folder'; readonly mode: number; readonly inner: readonly (readonly [name: string, Kept])[] }
  /** Too large, or not to be read. */
  | { readonly kind: 'other' };

const MOST = { file: 100_000, bytes: 1_000_000, entries: 300 } as const;
const OTHER: Kept = { kind: 'other' };

/** Undefined for what is not there. */
export function keptOf(
  path: string,
  left: { bytes: number; entries: number } = { bytes: MOST.bytes, entries: MOST.entries },
): Kept | undefined {
  const facts = lookAt(path);
  if (facts === undefined) return undefined;
  left.entries -= 1;
  if (facts === 'closed' || left.entries < 0) return OTHER;
  const mode = facts.mode & 0o777;
  if (facts.isSymbolicLink()) return known((): Kept => ({ kind: 'link', to: readlinkSync(path) })) ?? OTHER;
  if (facts.isFile()) {
    left.bytes -= facts.size;
    const bytes = left.bytes < 0 ? undefined : known(() => readRegular(path, MOST.file, 'link-free'));
    return bytes ? { kind: 'file', bytes, mode } : OTHER;
  }
  if (!facts.isDirectory()) return OTHER;
  const inner = entriesOf(path).map((name) => [name, keptOf(join(path, name), left) ?? OTHER] as const);
  return inner.some(([, { kind }]) => kind === 'other') ? OTHER : { kind: 'folder', mode, inner };
}

/** Where nothing stands. The path's folder has no link in it. Throws what the system says, and TalariaError `path-moved`. */
export function putBack(path: string, kept: Kept): void {
  const held = holdFolder(dirname(path));
  try {
    const name = join(held.name, basename(path));
    if (kept.kind === 'file') writeFileSync(name, kept.bytes, { flag: 'wx', mode: kept.mode });
    if (kept.kind === 'link') symlinkSync(kept.to, name);
    if (kept.kind !== 'folder') return;
    mkdirSync(name, { mode: kept.mode | 0o700 });
    for (const [inner, one] of kept.inner) putBack(join(path, inner), one);
  } finally {
    held.close();
  }
}

/** To this process, which has no rights beyond those of its user, though the folder is its own. */
export function isClosed({ uid, mode }: Stats): boolean {
  return uid !== 0 && uid === process.getuid?.() && (mode & 0o500) !== 0o500;
}

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
/** Of Linux: names what is there without a right to read it. */
const O_PATH = 0o10_000_000;

/** Gives the owner the rights on what lies at a link-free path, and on the folders above it where it could not be reached else. */
export function loosen(path: string): true {
  const fd = opened(path);
  try {
    const name = `/proc/self/fd/${fd}`;
    if (readlinkSync(name) !== path)
      throw new TalariaError(`${path} was put in another place while it was being opened`, {
        code: 'path-moved',
        fix: 'See who changes links there, then try again.',
      });
    const facts = fstatSync(fd);
    if (!facts.isSymbolicLink()) chmodSync(name, (facts.mode & 0o777) | (facts.isDirectory() ? 0o700 : 0o600));
    return true;
  } finally {
    closeSync(fd);
  }
}

function opened(path: string): number {
  const open = () => openSync(path, O_RDONLY | O_NOFOLLOW | O_PATH);
  try {
    return open();
  } catch (error) {
    if (errorCode(error) !== 'EACCES' || dirname(path) === path) throw error;
    loosen(dirname(path));
    return open();
  }
}

/** The folder of `from` has no link in its path: else TalariaError `path-moved`. False: it was gone already. */
export function moveAway(from: string, to: string): boolean {
  const held = allowed(dirname(from), () => holdFolder(dirname(from)));
  if (held === undefined) return false;
  try {
    return moveEntry(held, from, to);
  } finally {
    held.close();
  }
}

/** What its owner may not do is tried again with the rights that an owner can always take. Undefined for what is not there. */
function allowed<T>(path: string, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    if (!['EACCES', 'EPERM'].includes(errorCode(error) ?? '')) throw error;
    loosen(path);
    return work();
  }
}

function moveEntry(held: HeldFolder, from: string, to: string): boolean {
  const name = join(held.name, basename(from));
  const move = () => {
    try {
      renameSync(name, to);
    } catch (error) {
      if (errorCode(error) !== 'EXDEV') throw error;
      copyEntry(name, from, to);
    }
    return true;
  };
  // A folder itself has to be writable as well, to be moved elsewhere.
  const isMoved = allowed(dirname(from), () => allowed(from, move)) === true;
  return isMoved || moveUnnamed(held, basename(from), to);
}

/** A name of bytes that are no text: there may be more than one that reads so. */
function moveUnnamed({ name: folder }: HeldFolder, name: string, to: string): boolean {
  if (!name.includes('\ufffd')) return false;
  const all = readdirSync(folder, { encoding: 'buffer' }).filter((one) => one.toString() === name);
  all.forEach((one, index) => {
    renameSync(Buffer.concat([Buffer.from(`${folder}/`), one]), index === 0 ? to : `${to}-${index}`);
  });
  return all.length > 0;
}

/** To another disk. */
function copyEntry(name: string, from: string, to: string): void {
  const facts = lstatSync(name, { throwIfNoEntry: false });
  if (facts === undefined) return;
  if (facts.isDirectory()) {
    const inner = holdFolder(from);
    try {
      mkdirSync(to, { mode: 0o700 });
      for (const one of readdirSync(inner.name)) moveEntry(inner, join(from, one), join(to, one));
    } finally {
      inner.close();
    }
    rmdirSync(name);
    return;
  }
  if (facts.isSymbolicLink()) symlinkSync(readlinkSync(name), to);
  else if (facts.isFile()) copyOpened(name, to);
  unlinkSync(name);
}

function copyOpened(name: string, to: string): void {
  const fd = openSync(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const isTold = process.platform === 'linux';
    if (fstatSync(fd).isFile()) copyFileSync(isTold ? `/proc/self/fd/${fd}` : name, to, constants.COPYFILE_EXCL);
  } finally {
    closeSync(fd);
  }
}
