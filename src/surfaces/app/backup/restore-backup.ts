// Owns bringing a backup back as a home, and finishing that when it was interrupted. Knows no file's content.
// Invariant: the archive is unpacked and checked beside the home first; an intent on disk says how far it is, so that a kill at any moment leaves
// the old home or the new one; the present home is never overwritten, at most moved aside.
import {
  closeSync,
  copyFileSync,
  createReadStream,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { z } from 'zod';
import { atomicWrite, syncFolder } from '#base/atomic-write.ts';
import type { Clock } from '#base/clock.ts';
import { fileStamp } from '#base/database/damage.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { parseJson } from '#base/json.ts';
import { readIfThere, withFileLock } from '#base/platform.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { type Home, homeAt, isEmptyHome, restoreIntent } from '../home/home.ts';
import { BLOCK, readPax, readTarHeader, type TarEntry } from './tar-format.ts';

export interface RestoreReport {
  readonly home: string;
  readonly files: readonly string[];
  /** Where the home that was there before is now. */
  readonly movedTo?: string;
  /** The old home's keys were taken over, since the backup has none. */
  readonly keptSecrets: boolean;
}

export interface RestoreOptions {
  readonly file: string;
  readonly force: boolean;
  readonly clock: Clock;
}

/** What a killed restore was at. Names are of folders beside the home. */
interface Intent {
  readonly file: string;
  readonly staging: string;
  readonly aside: string;
  /** `unpacking`: the home is untouched. `swapping`: the new one is whole beside it. */
  readonly state: 'unpacking' | 'swapping';
}

/** Refusal `home-not-empty` without `force`. Throws TalariaError `archive-invalid`; the home is then as it was. */
export async function restoreBackup(
  home: Home,
  options: RestoreOptions,
  signal: AbortSignal,
): Promise<Result<RestoreReport, 'home-not-empty' | 'no-such-file'>> {
  if (!existsSync(options.file)) return refuse('no-such-file', `There is no file ${options.file}.`);
  if (!isEmptyHome(home) && !options.force) {
    return refuse('home-not-empty', `${home.root} is not empty. With --force it is moved aside first.`);
  }
  return alone(home, async () => {
    finish(home);
    return ok(await bringBack(home, options, signal));
  });
}

/** At a start: finishes a restore that was killed, or takes it back; gives what the person must be told. Throws while one is running. */
export async function finishRestore(home: Home): Promise<string | undefined> {
  return existsSync(restoreIntent(home)) ? alone(home, () => finish(home)) : undefined;
}

function alone<T>(home: Home, work: () => T | Promise<T>): Promise<T> {
  return withFileLock(`${restoreIntent(home)}.lock`, work, { waitMs: 0 });
}

async function bringBack(home: Home, { file, clock }: RestoreOptions, signal: AbortSignal): Promise<RestoreReport> {
  const name = basename(home.root);
  const intent: Intent = {
    file,
    staging: `.${name}-restoring-${randomHex(4)}`,
    aside: `${name}.before-${fileStamp(clock)}`,
    state: 'unpacking',
  };
  const staging = beside(home, intent.staging);
  const occupied = !isEmptyHome(home);
  try {
    note(home, intent);
    if (occupied) atomicWrite(markOf(home.root), intent.staging);
    mkdirSync(staging, { mode: 0o700 });
    const files = await unpackTar(file, staging, signal);
    const keptSecrets = occupied && keepSecrets(home, staging);
    syncFolder(staging);
    note(home, { ...intent, state: 'swapping' });
    const movedTo = swap(home, intent);
    forgetIntent(home);
    return { home: home.root, files, ...(movedTo ? { movedTo } : {}), keptSecrets };
  } catch (error) {
    if (occupied && !existsSync(home.root)) throw error; // neither came into its place: the next start finishes it
    rmSync(staging, { recursive: true, force: true });
    forgetIntent(home);
    throw error;
  }
}

function note(home: Home, intent: Intent): void {
  atomicWrite(restoreIntent(home), `${JSON.stringify(intent)}\n`);
}

/** In the old home, where no contained command can write, while one beside it may: which restore was begun here. */
function markOf(root: string): string {
  return join(root, '.restoring');
}

function forgetIntent(home: Home): void {
  rmSync(markOf(home.root), { force: true });
  rmSync(restoreIntent(home), { force: true });
  syncFolder(dirname(home.root));
}

function beside(home: Home, name: string): string {
  return join(dirname(home.root), name);
}

/** Puts the new home in the old one's place; gives where the old one is. When that fails the old one stands there again. */
function swap(home: Home, { staging, aside }: Intent): string | undefined {
  const moved = moveAside(home, aside);
  try {
    renameSync(beside(home, staging), home.root);
  } catch (error) {
    if (moved !== undefined) renameSync(moved, home.root);
    throw error;
  }
  if (moved !== undefined) rmSync(markOf(moved), { force: true });
  syncFolder(dirname(home.root));
  return moved;
}

function moveAside(home: Home, name: string): string | undefined {
  if (!existsSync(home.root)) return undefined;
  if (isEmptyHome(home)) {
    rmdirSync(home.root);
    return undefined;
  }
  const target = beside(home, existsSync(beside(home, name)) ? `${name}-${randomHex(2)}` : name);
  renameSync(home.root, target);
  return target;
}

function finish(home: Home): string | undefined {
  const intent = readIntent(home);
  if (intent === undefined) return undefined;
  const { file, staging, aside, state } = intent;
  const lead = `bringing ${file} back as the home was interrupted`;
  if (state === 'unpacking') {
    rmSync(beside(home, staging), { recursive: true, force: true });
    forgetIntent(home);
    return `${lead} before anything was changed, and was taken back; \`talaria restore\` does it again`;
  }
  if (existsSync(beside(home, staging))) {
    if (!isEmptyHome(home) && readIfThere(markOf(home.root)) !== staging) throw unclear(home);
    swap(home, intent);
  }
  forgetIntent(home);
  const old = existsSync(beside(home, aside)) ? `; the home that was there is now ${beside(home, aside)}` : '';
  return `${lead}, and is finished now${old}`;
}

/** Undefined: another process has finished it meanwhile. Names that a restore never gives are not followed. */
function readIntent(home: Home): Intent | undefined {
  const path = restoreIntent(home);
  if (!existsSync(path)) return undefined;
  const name = basename(home.root);
  const schema = z.object({
    file: z.string(),
    staging: z.string().refine((text) => text.startsWith(`.${name}-restoring-`) && basename(text) === text),
    aside: z.string().refine((text) => text.startsWith(`${name}.before-`) && basename(text) === text),
    state: z.enum(['unpacking', 'swapping']),
  });
  const parsed = parseJson(readFileSync(path, 'utf8'));
  const intent = schema.safeParse(parsed.ok ? parsed.value : undefined);
  if (intent.success) return intent.data;
  throw unclear(home);
}

function unclear(home: Home): TalariaError {
  const path = restoreIntent(home);
  return new TalariaError(`${path} says that a restore was interrupted, and is none of ours, or damaged`, {
    code: 'restore-unclear',
    fix: `Look whether ${home.root} is as it should be, then remove ${path}.`,
  });
}

function keepSecrets(home: Home, staging: string): boolean {
  const target = homeAt(staging).env;
  if (existsSync(target) || !existsSync(home.env)) return false;
  copyFileSync(home.env, target);
  return true;
}

// Unpacking a .tar.gz into an empty folder. Knows no home.
// Invariant: nothing is written outside the folder: absolute paths, `..`, links and devices are refused before their content is read.

/** Longest text of a pax or long-name entry that is read. */
const MAX_META = 64 * 1024;

/** Gives the relative paths of the files, in order. Throws TalariaError `archive-invalid`; the folder may then hold a part. */
export async function unpackTar(archive: string, into: string, signal: AbortSignal): Promise<readonly string[]> {
  const reader = new TarReader(into);
  try {
    await pipeline(
      createReadStream(archive),
      createGunzip(),
      async (chunks) => {
        for await (const chunk of chunks as AsyncIterable<Buffer>) reader.push(chunk);
      },
      { signal },
    );
    reader.end();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof TalariaError) throw error;
    throw invalid(`${archive} cannot be read: ${errorText(error)}`, error);
  } finally {
    reader.close();
  }
  return reader.files;
}

class TarReader {
  readonly files: string[] = [];
  readonly #into: string;
  #waiting: Buffer = Buffer.alloc(0);
  /** Bytes of the present content that are still to come, and of its padding. */
  #left = 0;
  #padding = 0;
  #file: number | undefined;
  #meta: { readonly kind: TarEntry['kind']; readonly chunks: Buffer[] } | undefined;
  #next: { readonly path?: string; readonly size?: number } = {};
  #ended = false;

  constructor(into: string) {
    this.#into = into;
  }

  push(chunk: Buffer): void {
    let rest: Buffer = this.#waiting.length > 0 ? Buffer.concat([this.#waiting, chunk]) : chunk;
    while (!this.#ended && rest.length > 0) {
      const used = this.#step(rest);
      if (used === 0) break;
      rest = rest.subarray(used);
    }
    this.#waiting = this.#ended ? Buffer.alloc(0) : Buffer.from(rest);
  }

  end(): void {
    if (!this.#ended) throw invalid('the archive ends in the middle');
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  /** Gives how many bytes were used; 0: more are needed. */
  #step(bytes: Buffer): number {
    if (this.#left > 0) return this.#content(bytes);
    if (this.#padding > 0) {
      const skipped = Math.min(this.#padding, bytes.length);
      this.#padding -= skipped;
      return skipped;
    }
    if (bytes.length < BLOCK) return 0;
    this.#header(bytes.subarray(0, BLOCK));
    return BLOCK;
  }

  #content(bytes: Buffer): number {
    const part = bytes.subarray(0, Math.min(this.#left, bytes.length));
    if (this.#file !== undefined) writeAll(this.#file, part);
    this.#meta?.chunks.push(Buffer.from(part));
    this.#left -= part.length;
    if (this.#left === 0) this.#finish();
    return part.length;
  }

  #header(bytes: Buffer): void {
    const header = readTarHeader(bytes);
    if (!header.ok) throw invalid(header.detail);
    const entry = header.value;
    if (!entry) {
      this.#ended = true;
      return;
    }
    const size = this.#next.size ?? entry.size;
    this.#left = size;
    this.#padding = (BLOCK - (size % BLOCK)) % BLOCK;
    if (entry.kind === 'pax' || entry.kind === 'long-name') {
      if (size > MAX_META) throw invalid('a name in the archive is too long');
      this.#meta = { kind: entry.kind, chunks: [] };
    } else {
      const path = this.#next.path ?? entry.path;
      this.#next = {};
      this.#open(path, entry.kind);
    }
    if (size === 0) this.#finish();
  }

  #open(path: string, kind: TarEntry['kind']): void {
    const safe = safePath(path);
    if (safe === '' && kind !== 'folder') throw invalid('a file in the archive has no name');
    if (kind === 'folder') {
      mkdirSync(join(this.#into, safe), { recursive: true, mode: 0o700 });
      return;
    }
    if (kind !== 'file') throw invalid(`${path} in the archive is a link or a device`);
    const target = join(this.#into, safe);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    this.#file = openSync(target, 'wx', 0o600);
    this.files.push(safe);
  }

  #finish(): void {
    if (this.#file !== undefined) fsyncSync(this.#file);
    this.close();
    if (!this.#meta) return;
    const content = Buffer.concat(this.#meta.chunks);
    this.#next =
      this.#meta.kind === 'pax' ? readPax(content) : { path: content.toString('utf8').replace(/\0.*$/s, '') };
    this.#meta = undefined;
  }
}

function safePath(path: string): string {
  const parts = path
    .replace(/^\.\//, '')
    .split('/')
    .filter((part) => part !== '' && part !== '.');
  if (path.startsWith('/') || path.includes('\\') || path.includes('\0') || parts.includes('..')) {
    throw invalid(`${JSON.stringify(path)} in the archive points outside the home`);
  }
  return parts.join('/');
}

function writeAll(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

function invalid(message: string, cause?: unknown): TalariaError {
  return new TalariaError(message, {
    code: 'archive-invalid',
    ...(cause === undefined ? {} : { cause }),
    fix: 'Use a file that `talaria backup` wrote; nothing was changed.',
  });
}
