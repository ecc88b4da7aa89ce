// Owns a secret key of 32 random bytes in a file of its own (0600, its folder 0700). Knows nobody who uses it.
// Invariant: a key that is there is never written over; of two processes that make it at once, both get the same one.

import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from '#base/atomic-write.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { privateFolder } from '#base/platform.ts';

const BYTES = 32;

/** Reads the key, or makes it. Throws TalariaError `key-unusable` | `folder-unusable`. */
export function privateKeyFile(path: string): Uint8Array {
  const known = readKey(path);
  if (known !== undefined) return known;
  privateFolder(dirname(path));
  makeKey(path);
  const made = readKey(path);
  if (made === undefined) throw unusable(path, 'it vanished while it was made');
  return made;
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
