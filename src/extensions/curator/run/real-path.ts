// Owns where a path truly lies, links followed. Reads only.
import { realpathSync } from 'node:fs';
import { errorCode } from '#base/errors.ts';

/** Undefined: it is not there, or cannot be looked at. */
export function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}

/** The same; what cannot be found keeps its spelling. */
export function realPath(path: string): string {
  return realOf(path) ?? path;
}
