// Owns the media that a source reads its bytes from: a text, or files at random, through a few open ones; and opening a source from its
// description, in the thread of the sandbox. Knows no lines. Invariant: nothing that was read is held; a file that is no longer as it was indexed is never read as if it were.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { errorText, TalariaError } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { wellFormed } from '#base/text.ts';
import {
  type ByteReader,
  type IndexedFile,
  LineCounter,
  PartedSource,
  type SourceDescription,
} from './parted-source.ts';

const MOST_OPEN = 16;

/** Throws TalariaError `context-changed` when a file is not as it was indexed, `context-unreadable` when it cannot be read any more. */
export class FileBytes implements ByteReader {
  readonly #files: readonly IndexedFile[];
  readonly #open = new Map<number, number>();

  constructor(files: readonly IndexedFile[]) {
    this.#files = files;
  }

  close(): void {
    for (const handle of this.#open.values()) closeSync(handle);
    this.#open.clear();
  }

  read(part: number, start: number, end: number): Uint8Array {
    const handle = this.#handle(part);
    const bytes = Buffer.alloc(Math.max(0, end - start));
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

/** Throws TalariaError `context-changed` | `context-unreadable` at the first read of a file that is not as it was. */
export function openDescribed(description: SourceDescription): PartedSource {
  if (description.kind === 'text') return textSource(description.text, description.path);
  return new PartedSource(description.files, new FileBytes(description.files), description);
}

/** `path` is how places name it. */
export function textSource(text: string, path = 'text'): PartedSource {
  const whole = wellFormed(text);
  const bytes = Buffer.from(whole, 'utf8');
  const counter = new LineCounter();
  counter.add(bytes);
  const reader = {
    read: (_part: number, start: number, end: number) => bytes.subarray(start, end),
    close: () => undefined,
  };
  const part = { path, hash: `sha256:${sha256(bytes)}`, ...counter.lines() };
  return new PartedSource([part], reader, { kind: 'text', text: whole, path });
}
