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

/** The folder of `from` has no link in its path: else TalariaError `path-moved`. What is gone already is no error. */
export function moveAway(from: string, to: string): void {
  const held = holdFolder(dirname(from));
  try {
    moveEntry(held, from, to);
  } finally {
    held.close();
  }
}

function moveEntry(held: HeldFolder, from: string, to: string): void {
  const name = join(held.name, basename(from));
  try {
    renameSync(name, to);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    if (errorCode(error) !== 'EXDEV') throw error;
    copyEntry(name, from, to);
  }
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
