// Owns the file that takes output too large for memory: created only when it is needed, never over another file, known secrets taken out.
// Knows no process and no secret; what to take out is the caller's function. Invariant: at most WINDOW bytes wait to be written, so that
// a value cut over two chunks is seen whole; a failing disk ends the file and nothing else.
import { isUtf8 } from 'node:buffer';
import { closeSync, lstatSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname, extname } from 'node:path';
import { errorCode, errorText } from '../errors.ts';

export interface SpillFile {
  readonly started: () => boolean;
  start(kept: readonly Buffer[]): void;
  append(bytes: Buffer): void;
  /** Writes what still waits. */
  close(): void;
  state(): { readonly spill?: string; readonly spillError?: string };
}

/** Longest secret value that is found across two chunks, bytes. */
const WINDOW = 4_096;
const MAX_NAMES = 1_000;

/** `path` is where the file is wanted; a name that is taken gets a number. Without `redact` every byte is written as it comes. */
export function createSpillFile(path: string | undefined, redact?: (text: string) => string): SpillFile {
  let open: { readonly handle: number; readonly path: string } | undefined;
  let started = false;
  let failure: string | undefined;
  let made = path;
  let waiting: Buffer = Buffer.alloc(0);
  const shut = () => {
    if (open !== undefined) closeSync(open.handle);
    open = undefined;
  };
  const write = (bytes: Buffer) => {
    if (open === undefined) return;
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(open.handle, bytes, done);
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
      return failure === undefined ? { spill: made } : { spillError: failure };
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
