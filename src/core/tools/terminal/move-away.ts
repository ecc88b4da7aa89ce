// Owns moving a file or folder out of a place where commands may still run. Knows no rule about what is moved. Invariant: nothing is moved
// but what stands in the very folder that the path names, and no link is followed, whatever is turned meanwhile.
import {
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
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '#base/errors.ts';
import { type HeldFolder, holdFolder } from '#base/paths/open-files.ts';
import { loosen } from '../walls/kept-steering.ts';

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

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

function copyOpened(name: string, to: string): void {
  const fd = openSync(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const isTold = process.platform === 'linux';
    if (fstatSync(fd).isFile()) copyFileSync(isTold ? `/proc/self/fd/${fd}` : name, to, constants.COPYFILE_EXCL);
  } finally {
    closeSync(fd);
  }
}
