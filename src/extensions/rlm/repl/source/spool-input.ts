// Owns keeping what is piped in as a file named by its content, so that a run can read it at random and be replayed.
// Invariant: the file is whole or not there; 0600 in a folder 0700; the stream is never held.
import { createHash } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { throwIfAborted } from '#base/abort.ts';
import { syncFolder } from '#base/atomic-write.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { isBinary } from './index-file.ts';

export interface SpooledInput {
  /** Absolute. */
  readonly path: string;
  readonly bytes: number;
  /** `sha256:` and hex. */
  readonly hash: string;
}

/** Throws TalariaError `disk-full` | `spool-failed`, or the signal's reason; then no file is left. */
export async function spoolInput(
  input: AsyncIterable<Uint8Array | string>,
  folder: string,
  signal?: AbortSignal,
): Promise<Result<SpooledInput, 'context-empty' | 'context-binary'>> {
  const temp = join(folder, `.tmp_spool_${randomHex(6)}`);
  let made = false;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    made = true;
    const written = await write(input, temp, signal);
    if (!written.ok) return written;
    const { bytes, hex } = written.value;
    const path = join(folder, `${hex}.txt`);
    await rename(temp, path);
    syncFolder(folder);
    return ok({ path, bytes, hash: `sha256:${hex}` });
  } catch (error) {
    if (signal?.aborted || errorCode(error) === undefined) throw error;
    const code = errorCode(error) === 'ENOSPC' ? 'disk-full' : 'spool-failed';
    throw new TalariaError(`cannot keep the input in ${folder}: ${errorText(error)}`, { code, cause: error });
  } finally {
    if (made) await rm(temp, { force: true });
  }
}

async function write(
  input: AsyncIterable<Uint8Array | string>,
  temp: string,
  signal?: AbortSignal,
): Promise<Result<{ readonly bytes: number; readonly hex: string }, 'context-empty' | 'context-binary'>> {
  const file = await open(temp, 'wx', 0o600);
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const block of input) {
      if (signal !== undefined) throwIfAborted(signal);
      const piece = typeof block === 'string' ? Buffer.from(block) : block;
      if (bytes === 0 && isBinary(piece)) return refuse('context-binary', 'what was piped in is no text');
      hash.update(piece);
      await file.writeFile(piece);
      bytes += piece.length;
    }
    if (bytes === 0) return refuse('context-empty', 'nothing was piped in');
    await file.sync();
    return ok({ bytes, hex: hash.digest('hex') });
  } finally {
    await file.close();
  }
}
