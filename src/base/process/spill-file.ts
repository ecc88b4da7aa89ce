// Owns the file that takes output too large for memory: created only when it is needed, never over another file, known secrets taken out.
// Knows no process and no secret; what to take out is the caller's function. Invariant: at most WINDOW bytes wait to be written, so that
// a value cut over two chunks is seen whole; a failing disk ends the file and nothing else; the files of one folder have a bound together.
import { isUtf8 } from 'node:buffer';
import { closeSync, lstatSync, mkdirSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { errorCode, errorText } from '../errors.ts';

export interface SpillFile {
  readonly started: () => boolean;
  start(kept: readonly Buffer[]): void;
  append(bytes: Buffer): void;
  /** Writes what still waits. */
  close(): void;
  state(): { readonly spill?: string; readonly spillBytes?: number; readonly spillError?: string };
}

/** Longest secret value that is found across two chunks, bytes. */
const WINDOW = 4_096;
const MAX_NAMES = 1_000;
/** Of the files of one folder, which is that of a session. */
export const SPILL_FOLDER_BYTES = 256 * 1024 ** 2;
/** How much is written before the folder is measured again: others write there too. */
const GRANT = 4 * 1024 ** 2;

/** Bytes that may still be written into this folder. */
export function spillRoom(folder: string, most = SPILL_FOLDER_BYTES): number {
  const sizeOf = (name: string) => lstatSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return most;
  return readdirSync(folder).reduce((room, name) => room - sizeOf(name), most);
}

/** `path` is where the file is wanted; a name that is taken gets a number. Without `redact` every byte is written as it comes. */
export function createSpillFile(
  path: string | undefined,
  redact?: (text: string) => string,
  folderBytes = SPILL_FOLDER_BYTES,
): SpillFile {
  let open: { readonly handle: number; readonly path: string } | undefined;
  let started = false;
  let failure: string | undefined;
  let made = path;
  let waiting: Buffer = Buffer.alloc(0);
  let granted = 0;
  let size = 0;
  let isFull = false;
  /** What of these bytes may be written. */
  const allowed = (bytes: Buffer): Buffer => {
    if (granted < bytes.length && path !== undefined)
      granted = Math.min(Math.max(GRANT, bytes.length), spillRoom(dirname(path), folderBytes));
    const part = bytes.subarray(0, Math.max(0, granted));
    isFull = part.length < bytes.length;
    granted -= part.length;
    return part;
  };
  const shut = () => {
    if (open !== undefined) closeSync(open.handle);
    open = undefined;
  };
  const write = (bytes: Buffer) => {
    if (open === undefined || isFull) return;
    try {
      const part = allowed(bytes);
      for (let done = 0; done < part.length; ) done += writeSync(open.handle, part, done);
      size += part.length;
    } catch (error) {
      failure = errorText(error);
      shut();
    }
  };
  const append = (bytes: Buffer) => {
    if (!redact || open === undefined) return write(bytes);
    const clean = redactBytes(Buffer.concat([waiting, bytes]), redact);
    const cut = Math.max(0, clean.length - WINDOW);
    write(clean.subarray(0, cut));
    waiting = Buffer.from(clean.subarray(cut));
  };
  return {
    started: () => started,
    start(kept) {
      started = true;
      if (path === undefined) return;
      try {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        open = openNew(path);
        made = open.path;
      } catch (error) {
        failure = errorText(error);
      }
      for (const bytes of kept) append(bytes);
    },
    append,
    close() {
      write(waiting);
      waiting = Buffer.alloc(0);
      shut();
    },
    state() {
      if (!started || made === undefined) return {};
      if (failure !== undefined) return { spillError: failure };
      return { spill: made, ...(isFull ? { spillBytes: size } : {}) };
    },
  };
}

function openNew(wanted: string): { readonly handle: number; readonly path: string } {
  const end = extname(wanted);
  for (let n = 1; ; n += 1) {
    const path = n === 1 ? wanted : `${wanted.slice(0, wanted.length - end.length)}-${n}${end}`;
    try {
      return { handle: openSync(path, 'wx', 0o600), path };
    } catch (error) {
      if (errorCode(error) !== 'EEXIST' || n >= MAX_NAMES) throw error;
      if (lstatSync(path).isCharacterDevice()) return { handle: openSync(path, 'w'), path };
    }
  }
}

/** One byte a character: sequences that are UTF-8 of whole characters. */
const TEXT =
  /(?:[\0-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})+/g;

/** Bytes that are no text, such as half a character at an end, stay as they are. */
function redactBytes(bytes: Buffer, redact: (text: string) => string): Buffer {
  const text = bytes.toString('utf8');
  const clean = redact(text);
  if (clean === text) return bytes;
  if (isUtf8(bytes)) return Buffer.from(clean);
  const single = bytes.toString('latin1').replace(TEXT, (part) => {
    return Buffer.from(redact(Buffer.from(part, 'latin1').toString('utf8'))).toString('latin1');
  });
  return Buffer.from(single, 'latin1');
}
