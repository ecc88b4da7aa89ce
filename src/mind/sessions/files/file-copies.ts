// Owns the bytes of kept states: one file each in the home, named by its hash, one folder a session. Knows no row and no tool.
// Invariants: a copy that is there is whole and durable; what could not be kept says why; a session's copies are bounded.
import {
  closeSync,
  existsSync,
  fdatasync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { atomicWrite, makeFolders, syncFolder } from '#base/atomic-write.ts';
import type { Clock } from '#base/clock.ts';
import { errorCode, errorText, known, TalariaError } from '#base/errors.ts';
import { randomHex, sha256 } from '#base/ids.ts';
import { type FileState, MEGABYTE, MOST_FILE_BYTES, sizeText } from './file-state.ts';

export const MOST_SESSION_BYTES = 256 * MEGABYTE;
/** A copy is for taking back what has just been done. */
const KEPT_MS = 30 * 86_400_000;

const UNKEPT: Readonly<Record<string, string>> = {
  folder: 'it was a folder',
  unreadable: 'it could not be read',
  large: `it was larger than ${MOST_FILE_BYTES / MEGABYTE} MB`,
};

export function copiesOf(folder: string, sessionId: string): string {
  return join(folder, sessionId.replace(/[^\w-]/g, '_'));
}

/** The copy of a state; undefined for one that has none, or whose copy is gone. */
export function copyPath(folder: string, sessionId: string, key: string): string | undefined {
  const [mode, hash] = key.split(' ');
  return mode !== 'large' && hash !== undefined ? join(copiesOf(folder, sessionId), hash) : undefined;
}

/** A kept state with its bytes; without them when the copy is gone or no longer what it was. */
export function keptState(folder: string, sessionId: string, key: string): FileState {
  const path = copyPath(folder, sessionId, key);
  if (path === undefined || !existsSync(path)) return { key };
  const bytes = readFileSync(path);
  return key.endsWith(sha256(bytes)) ? { key, bytes } : { key };
}

/** Durable when it is written; what the disk says against it is a reason. */
export function whyNotWritten(path: string, content: Buffer | string): string | undefined {
  try {
    atomicWrite(path, content);
    return undefined;
  } catch (error) {
    if (!(error instanceof TalariaError)) throw error;
    return errorText(error);
  }
}

export class FileCopies {
  readonly #folder: string;
  readonly #clock: Clock;
  /** Bytes of copies by session, as far as this process has asked. */
  readonly #sizes = new Map<string, number>();

  constructor({ folder, clock }: { readonly folder: string; readonly clock: Clock }) {
    this.#folder = folder;
    this.#clock = clock;
  }

  /** Gives why it could not be kept. */
  keep(sessionId: string, { key, bytes }: FileState): string | undefined {
    const path = copyPath(this.#folder, sessionId, key);
    if (path === undefined || bytes === undefined) return UNKEPT[key.split(' ', 1)[0] ?? ''];
    if (this.#reuse(path)) return undefined;
    return this.#take(sessionId, bytes) ?? whyNotWritten(path, bytes);
  }

  /** Many at once share the wait for the disk. Gives for each why it could not be kept. */
  async keepAll(sessionId: string, states: readonly FileState[]): Promise<readonly (string | undefined)[]> {
    const own = copiesOf(this.#folder, sessionId);
    makeFolders(own);
    const written = new Map<string, Promise<string | undefined>>();
    const results = states.map(({ key, bytes }) => {
      const path = copyPath(this.#folder, sessionId, key);
      if (path === undefined || bytes === undefined) return UNKEPT[key.split(' ', 1)[0] ?? ''];
      if (existsSync(path)) return undefined;
      const work = written.get(path) ?? this.#take(sessionId, bytes) ?? this.#write(path, bytes);
      if (typeof work !== 'string') written.set(path, work);
      return work;
    });
    const reasons = await Promise.all(results);
    if (written.size > 0) syncFolder(own);
    return reasons;
  }

  async #write(path: string, bytes: Buffer): Promise<string | undefined> {
    const temp = join(dirname(path), `.tmp_${randomHex(8)}`);
    try {
      const descriptor = openSync(temp, 'wx', 0o600);
      try {
        for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
        await promisify(fdatasync)(descriptor);
      } finally {
        closeSync(descriptor);
      }
      renameSync(temp, path);
      return undefined;
    } catch (error) {
      rmSync(temp, { force: true });
      if (errorCode(error) === undefined) throw error;
      return errorText(error);
    }
  }

  /** Hashes of what a session has; a folder in use is not old. */
  hashes(sessionId: string): ReadonlySet<string> {
    const own = copiesOf(this.#folder, sessionId);
    this.#touch(own);
    return new Set(existsSync(own) ? readdirSync(own) : []);
  }

  #reuse(path: string): boolean {
    if (!existsSync(path)) return false;
    this.#touch(dirname(path));
    return existsSync(path);
  }

  #touch(folder: string): void {
    const at = this.#clock.now() / 1_000;
    // Gone meanwhile, or not to be touched: what is there counts.
    known(() => utimesSync(folder, at, at));
  }

  /** Is it there, or does it fit in? */
  hasRoom(sessionId: string, { key, bytes }: FileState): boolean {
    const path = copyPath(this.#folder, sessionId, key);
    const isThere = path !== undefined && existsSync(path);
    return isThere || this.#sizeOf(sessionId) + (bytes?.length ?? 0) <= MOST_SESSION_BYTES;
  }

  /** Counts the bytes, or says why they are too many. */
  #take(sessionId: string, bytes: Buffer): string | undefined {
    const size = this.#sizeOf(sessionId);
    if (size + bytes.length > MOST_SESSION_BYTES) return `the copies of this session take ${sizeText(size)} already`;
    this.#sizes.set(sessionId, size + bytes.length);
    return undefined;
  }

  #sizeOf(sessionId: string): number {
    return this.#sizes.get(sessionId) ?? this.#measure(copiesOf(this.#folder, sessionId));
  }

  /** Folders that are too old go when the first copy of a session is made. */
  #measure(own: string): number {
    const folder = this.#folder;
    const all = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
    const madeAt = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? this.#clock.now();
    const old = all.filter((path) => path !== own && madeAt(path) < this.#clock.now() - KEPT_MS);
    for (const path of old) rmSync(path, { recursive: true, force: true });
    const sizeOf = (name: string) => statSync(join(own, name), { throwIfNoEntry: false })?.size ?? 0;
    return all.includes(own) ? readdirSync(own).reduce((sum, name) => sum + sizeOf(name), 0) : 0;
  }
}
