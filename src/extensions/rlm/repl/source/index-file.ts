// Owns the one pass over a file that tells its lines, its hash and whether it is text. Never holds more than one block.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { throwIfAborted } from '#base/abort.ts';
import { errorCode, errorText } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { LineCounter } from './line-marks.ts';
import type { IndexedFile } from './source-description.ts';

const BLOCK = 1_048_576;
/** A zero byte this early means that it is no text, as git has it. */
const PROBE = 8_000;

/** A pipe would wait for somebody who writes into it. */
const AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK;

export type IndexRefusal = 'context-not-found' | 'context-unreadable' | 'context-binary';

/** @param file absolute @param path as it is told. Throws the signal's reason. */
export async function indexFile(
  file: string,
  path: string,
  signal?: AbortSignal,
): Promise<Result<IndexedFile, IndexRefusal>> {
  try {
    const handle = await open(file, AT_ONCE);
    try {
      const found = await handle.stat();
      if (!found.isFile()) return refuse('context-unreadable', `${path} is no file`);
      const { mtimeMs: modified } = found;
      const scanned = await scan(handle, signal);
      if (scanned === undefined) return refuse('context-binary', `${path} is no text: it begins with zero bytes`);
      return ok({ file, path, bytes: scanned.marks.byte_count, modified, ...scanned });
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (signal?.aborted || errorCode(error) === undefined) throw error;
    if (errorCode(error) === 'ENOENT') return refuse('context-not-found', `there is no ${path}`);
    return refuse('context-unreadable', `cannot read ${path}: ${errorText(error)}`);
  }
}

/** Undefined: it is no text. */
async function scan(
  handle: FileHandle,
  signal?: AbortSignal,
): Promise<Pick<IndexedFile, 'hash' | 'marks'> | undefined> {
  const hash = createHash('sha256');
  const lines = new LineCounter();
  const block = Buffer.alloc(BLOCK);
  for (let at = 0; ; ) {
    if (signal !== undefined) throwIfAborted(signal);
    const { bytesRead } = await handle.read(block, 0, BLOCK, at);
    const bytes = block.subarray(0, bytesRead);
    if (at === 0 && isBinary(bytes)) return undefined;
    if (bytesRead === 0) return { hash: `sha256:${hash.digest('hex')}`, marks: lines.marks() };
    hash.update(bytes);
    lines.add(bytes);
    at += bytesRead;
  }
}

export function isBinary(beginning: Uint8Array): boolean {
  return beginning.subarray(0, PROBE).includes(0);
}
