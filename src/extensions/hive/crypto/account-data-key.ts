// Owns the encryption of account data with a key of this home, `account-data.key` (AES-256-GCM; hivemind notes 5), the mark that all notes on
// the server were sealed once, and secret keys of 32 bytes in files of their own (0600, folder 0700). Knows no server. Invariants: every nonce
// is used once; a value that was changed or moved does not open; a key that is there is never written over, and of two processes that make
// it at once both get the same; one that others could have put there or read is not used in silence.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { atomicWrite, syncFolder } from '#base/atomic-write.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import { privateFolder } from '#base/platform.ts';
import type { AccountDataCipher, PlainNotes } from '../matrix/notes.ts';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** @param folder absolute path of `peers/`. Throws TalariaError `key-unusable` | `folder-unusable`. */
export function openAccountDataCipher(folder: string, tell: TellOwner = () => undefined): AccountDataCipher {
  const key = privateKeyFile(join(folder, 'account-data.key'), tell);
  return {
    plain: plainNotesMark(folder, tell),
    seal: (value, place) => seal(key, value, place),
    open: (value, place) => open(key, value, place),
  };
}

function seal(key: Uint8Array, value: JsonObject, place: string): JsonObject {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(place, 'utf8'));
  const bytes = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return { encrypted: 'v1', nonce: nonce.toString('base64'), ciphertext: bytes.toString('base64') };
}

function open(key: Uint8Array, value: JsonObject, place: string): JsonObject | undefined {
  const { encrypted, nonce, ciphertext } = value;
  if (encrypted !== 'v1' || typeof nonce !== 'string' || typeof ciphertext !== 'string') return undefined;
  const sealed = { nonce: Buffer.from(nonce, 'base64'), bytes: Buffer.from(ciphertext, 'base64'), place };
  if (sealed.nonce.length !== NONCE_BYTES || sealed.bytes.length < TAG_BYTES) return undefined;
  const text = decipher(key, sealed);
  const parsed = text === undefined ? undefined : parseJsonObject(text);
  return parsed?.ok === true ? parsed.value : undefined;
}

interface Sealed {
  readonly nonce: Buffer;
  readonly bytes: Buffer;
  readonly place: string;
}

function decipher(key: Uint8Array, { nonce, bytes, place }: Sealed): string | undefined {
  const end = bytes.length - TAG_BYTES;
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(place, 'utf8'))
    .setAuthTag(bytes.subarray(end));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(0, end)), decipher.final()]).toString('utf8');
  } catch {
    return undefined; // the tag does not fit: another key, another place, or changed
  }
}

const TEXT = 'Every note of this agent on the server was sealed: what stands there in clear is not believed.\n';

function plainNotesMark(folder: string, tell: TellOwner): PlainNotes {
  const path = join(folder, 'account-data.sealed');
  let isOver = false;
  let isTold = false;
  return {
    isOver: () => {
      isOver ||= existsSync(path);
      return isOver;
    },
    end: () => {
      if (isOver) return;
      try {
        atomicWrite(path, TEXT);
        isOver = true;
      } catch (error) {
        tell(`That all notes are sealed could not be written down yet: ${errorText(error)}`); // the next sync tries again
      }
    },
    refused: () => {
      if (isTold) return;
      isTold = true;
      tell(
        `The server keeps notes in clear that this agent did not write; they were left out. If you had peers.encrypt_account_data off for a while, remove ${path} once.`,
      );
    },
  };
}

const BYTES = 32;

/** One sentence for the owner. */
type TellOwner = (sentence: string) => void;

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
