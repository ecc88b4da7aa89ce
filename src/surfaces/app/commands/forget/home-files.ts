// Owns walking the files of a home and looking for bytes in them. Knows no file's meaning.
// Invariant: no link is followed; a file of any size is searched in pieces.
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '#base/errors.ts';

/** Large, and never written by a conversation. */
const PASSED_OVER = new Set(['models', 'engines']);
const PIECE = 1 << 22;

/** Paths below `root`, in order of names; nothing when it is not there. */
export function* filesBelow(root: string, below = ''): Generator<string> {
  for (const entry of listed(join(root, below))) {
    const path = below === '' ? entry.name : join(below, entry.name);
    if (entry.isDirectory() && !PASSED_OVER.has(path)) yield* filesBelow(root, path);
    else if (entry.isFile()) yield path;
  }
}

function listed(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return [];
    throw error;
  }
}

/** Does the file hold one of the texts? ASCII letters count the same in upper and lower case. */
export function holdsBytes(path: string, texts: readonly string[]): boolean {
  const wanted = texts.map((text) => foldBytes(Buffer.from(text)));
  const overlap = Math.max(0, ...wanted.map(({ length }) => length - 1));
  const file = openSync(path, 'r');
  try {
    let kept = Buffer.alloc(0);
    for (;;) {
      const piece = Buffer.alloc(PIECE);
      const size = readSync(file, piece);
      if (size === 0) return false;
      const window = Buffer.concat([kept, foldBytes(piece.subarray(0, size))]);
      if (wanted.some((bytes) => window.includes(bytes))) return true;
      kept = Buffer.from(window.subarray(Math.max(0, window.length - overlap)));
    }
  } finally {
    closeSync(file);
  }
}

function foldBytes(bytes: Buffer): Buffer {
  return Buffer.from(
    bytes.toString('latin1').replace(/[A-Z]+/g, (letters) => letters.toLowerCase()),
    'latin1',
  );
}
