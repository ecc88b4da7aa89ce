// Owns reading bytes of files at random, through a few pages kept in memory and a few open files. Knows no lines.
// Invariant: memory is bounded whatever is read; a file that is no longer as it was indexed is never read as if it were.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { errorText, TalariaError } from '#base/errors.ts';
import type { ByteReader } from './byte-reader.ts';
import type { IndexedFile } from './source-description.ts';

const PAGE = 65_536;
const MOST_PAGES = 64;
const MOST_OPEN = 16;
/** What is longer is read past the pages, which it would only drive out. */
const LONG = 4 * PAGE;

/** Throws TalariaError `context-changed` when a file is not as it was indexed, `context-unreadable` when it cannot be read any more. */
export class FileBytes implements ByteReader {
  readonly #files: readonly IndexedFile[];
  readonly #open = new Map<number, number>();
  readonly #pages = new Map<string, Uint8Array>();

  constructor(files: readonly IndexedFile[]) {
    this.#files = files;
  }

  read(part: number, start: number, end: number): Uint8Array {
    if (end - start > LONG) return this.#fetch(part, start, end);
    const [first, last] = [Math.floor(start / PAGE), Math.floor((end - 1) / PAGE)];
    if (first === last) return this.#page(part, first).subarray(start - first * PAGE, end - first * PAGE);
    const whole = Buffer.alloc(Math.max(0, end - start));
    for (let page = first; page <= last; page += 1) {
      const from = Math.max(start, page * PAGE);
      const bytes = this.#page(part, page).subarray(from - page * PAGE, end - page * PAGE);
      whole.set(bytes, from - start);
    }
    return whole;
  }

  close(): void {
    for (const handle of this.#open.values()) closeSync(handle);
    this.#open.clear();
    this.#pages.clear();
  }

  #page(part: number, page: number): Uint8Array {
    const key = `${part}:${page}`;
    const size = this.#files[part]?.bytes ?? 0;
    const known = this.#pages.get(key);
    const bytes = known ?? this.#fetch(part, page * PAGE, Math.min(size, (page + 1) * PAGE));
    this.#pages.delete(key);
    this.#pages.set(key, bytes);
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > MOST_PAGES && oldest !== undefined) this.#pages.delete(oldest);
    return bytes;
  }

  #fetch(part: number, start: number, end: number): Uint8Array {
    const handle = this.#handle(part);
    const bytes = Buffer.alloc(end - start);
    for (let done = 0; done < bytes.length; ) {
      const count = readSync(handle, bytes, done, bytes.length - done, start + done);
      if (count === 0) throw changed(this.#files[part]?.file);
      done += count;
    }
    return bytes;
  }

  #handle(part: number): number {
    const known = this.#open.get(part);
    const handle = known ?? openIndexed(this.#files[part]);
    this.#open.delete(part);
    this.#open.set(part, handle);
    const oldest = this.#open.entries().next().value;
    if (this.#open.size > MOST_OPEN && oldest !== undefined) {
      this.#open.delete(oldest[0]);
      closeSync(oldest[1]);
    }
    return handle;
  }
}

function openIndexed(entry: IndexedFile | undefined): number {
  if (entry === undefined) throw new TalariaError('no such part of the context', { code: 'context-unreadable' });
  let handle: number;
  try {
    handle = openSync(entry.file, 'r');
  } catch (cause) {
    throw new TalariaError(`cannot read ${entry.file}: ${errorText(cause)}`, { code: 'context-unreadable', cause });
  }
  const { size, mtimeMs } = fstatSync(handle);
  if (size === entry.bytes && mtimeMs === entry.modified) return handle;
  closeSync(handle);
  throw changed(entry.file);
}

function changed(file = 'the context'): TalariaError {
  return new TalariaError(`${file} was changed while it was read`, {
    code: 'context-changed',
    fix: 'Ask again when nothing writes to it any more.',
  });
}
