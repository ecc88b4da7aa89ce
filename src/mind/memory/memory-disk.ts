// Owns the bytes of one memory file: read, replace by rename, keep a copy. Called by the door alone, under its lock when it writes.
// Knows no entries. Invariant: nothing here leaves a half file; what is not UTF-8 text of a sane size is refused, never guessed.
import { readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { errorCode, errorText } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';

const TEMP_PREFIX = '.mem_';
/** Far above any limit: what is larger is no memory file, and reading it would only cost memory. */
const MAX_BYTES = 1_000_000;

/** The file behind `<root>/<name>`: a link (kept by people who version their notes) stays a link. */
export function realPath(root: string, name: string): string {
  const path = join(root, name);
  try {
    return realpathSync(path);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return path;
  }
}

/** The whole text, byte order mark included; a missing file is empty. */
export function readMemoryFile(path: string): Result<string, 'unreadable'> {
  try {
    const { size } = statSync(path);
    if (size > MAX_BYTES)
      return refuse('unreadable', `${path} has ${size} bytes; that is no memory file. It was left alone.`);
    return ok(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path)));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return ok('');
    if (errorCode(error) === undefined) throw error;
    return refuse('unreadable', `${path} cannot be read as UTF-8 text (${errorText(error)}). It was left alone.`);
  }
}

/** Replaces the file by rename, after clearing what a killed writer left; the caller holds the lock, so no live one is hit. */
export function replaceMemoryFile(path: string, text: string): void {
  const folder = dirname(path);
  for (const name of listed(folder)) {
    if (name.startsWith(`${TEMP_PREFIX}${basename(path)}`)) rmSync(join(folder, name), { force: true });
  }
  atomicWrite(path, text, { prefix: TEMP_PREFIX });
}

/** Writes `<file>.bak.<unix seconds>` unless the newest copy already says the same; returns its path. */
export function keepCopy(path: string, text: string, epochMs: number): string {
  const folder = dirname(path);
  const copies = listed(folder).filter((name) => name.startsWith(`${basename(path)}.bak.`));
  const newest = copies.sort((a, b) => unixOf(b) - unixOf(a))[0];
  if (newest !== undefined && holds(join(folder, newest), text)) return join(folder, newest);
  const copy = join(folder, `${basename(path)}.bak.${Math.floor(epochMs / 1000)}`);
  atomicWrite(copy, text, { prefix: TEMP_PREFIX });
  return copy;
}

function unixOf(name: string): number {
  return Number(name.slice(name.lastIndexOf('.') + 1)) || 0;
}

function holds(path: string, text: string): boolean {
  const read = readMemoryFile(path);
  return read.ok && read.value === text;
}

function listed(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
