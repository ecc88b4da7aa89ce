// Owns a secret key of 32 random bytes in a file of its own (0600, its folder 0700). Knows nobody who uses it.
// Invariant: a key that is there is never written over; of two processes that make it at once, both get the same one; one that others could
// have put there or read is not used in silence.

import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from '#base/atomic-write.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { privateFolder } from '#base/platform.ts';

const BYTES = 32;

/** One sentence for the owner. */
export type TellOwner = (sentence: string) => void;

/** Reads the key, or makes it; tightens what others may read and says so. Throws TalariaError `key-unusable` | `folder-unusable`. */
export function privateKeyFile(path: string, tell: TellOwner = () => undefined): Uint8Array {
  tightenFolder(dirname(path), tell);
  tightenKey(path, tell);
  const known = readKey(path);
  if (known !== undefined) return known;
  makeKey(path);
  const made = readKey(path);
  if (made === undefined) throw unusable(path, 'it vanished while it was made');
  return made;
}

function tightenFolder(folder: string, tell: TellOwner): void {
  const before = lstatSync(folder, { throwIfNoEntry: false });
  privateFolder(folder);
  if (before?.isSymbolicLink())
    tell(
      `${folder} is a link: the keys of this agent lie in ${realpathSync(folder)}; make sure that nobody else uses it.`,
    );
  else if (before !== undefined && isOpen(before.mode)) tell(`Others could look into ${folder}; now only you can.`);
}

function tightenKey(path: string, tell: TellOwner): void {
  const file = lstatSync(path, { throwIfNoEntry: false });
  if (file === undefined) return;
  if (!file.isFile()) throw unusable(path, 'it is a link, or no file at all');
  if (!isOpen(file.mode)) return;
  try {
    chmodSync(path, 0o600);
  } catch (error) {
    throw unusable(path, errorText(error), error);
  }
  tell(
    `Others on this machine could read the key ${path}; now only you can. If somebody may have, move it away to begin anew.`,
  );
}

/** To anybody but its owner. */
function isOpen(mode: number): boolean {
  return process.platform !== 'win32' && (mode & 0o077) !== 0;
}

function readKey(path: string): Uint8Array | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw unusable(path, errorText(error), error);
  }
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== BYTES) throw unusable(path, 'it does not hold a key of 32 bytes');
  return new Uint8Array(bytes);
}

/** Whole under another name, then linked to its own: a link fails where something is. */
function makeKey(path: string): void {
  const whole = `${path}.${process.pid}.${randomHex(4)}`;
  try {
    writeKey(whole);
    linkSync(whole, path);
    syncFolder(dirname(path));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw unusable(path, errorText(error), error);
  } finally {
    rmSync(whole, { force: true });
  }
}

function writeKey(path: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, `${randomBytes(BYTES).toString('base64')}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function unusable(path: string, why: string, cause?: unknown): TalariaError {
  return new TalariaError(`the key in ${path} cannot be used: ${why}`, {
    code: 'key-unusable',
    cause,
    fix: 'Put back the file from a copy, or move it away to begin anew: what was encrypted with it cannot be read then.',
  });
}
