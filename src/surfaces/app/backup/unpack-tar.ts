// Owns unpacking a .tar.gz into an empty folder. Knows no home.
// Invariant: nothing is written outside the folder: absolute paths, `..`, links and devices are refused before their content is read.
import { closeSync, createReadStream, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { errorText, TalariaError } from '#base/errors.ts';
import { BLOCK, readPax, readTarHeader, type TarEntry } from './tar-format.ts';

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
