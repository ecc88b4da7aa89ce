// Owns writing the files of a timer as one change. Knows no unit. Invariant: either all of them are new or none is changed.
import { readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import type { PlannedFile } from './plan-timer.ts';

/** Units are read by the scheduler, which may be another user's process. */
const MODE = 0o644;

/** Throws TalariaError as `atomicWrite`, always with a fix. */
export function writeTimerFiles(files: readonly PlannedFile[]): void {
  const changes = files.map(({ path, text }) => ({ path, text, before: bytesOf(path) }));
  const written: typeof changes = [];
  for (const change of changes) {
    try {
      atomicWrite(change.path, change.text, { mode: MODE });
    } catch (error) {
      for (const { path, before } of written) putBack(path, before);
      throw withFix(change.path, error);
    }
    written.push(change);
  }
}

function putBack(path: string, before: Buffer | undefined): void {
  if (before === undefined) rmSync(path, { force: true });
  else atomicWrite(path, before, { mode: MODE });
}

function bytesOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw withFix(
      path,
      new TalariaError(`cannot read ${path}: ${errorText(error)}`, { code: 'write-failed', cause: error }),
    );
  }
}

function withFix(path: string, error: unknown): unknown {
  if (!(error instanceof TalariaError) || error.fix !== undefined) return error;
  const fix = `Look at ${dirname(path)}: it must be a folder of your own, with nothing else under this name. No file was changed.`;
  return new TalariaError(error.message, { code: error.code, cause: error.cause, fix });
}
