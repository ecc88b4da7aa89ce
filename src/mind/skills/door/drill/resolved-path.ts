// Owns the one spelling of a path by which manifests are compared: absolute, links followed as far as it exists. Knows no manifest.
import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { errorCode } from '#base/errors.ts';

/** Never throws: what does not exist, or cannot be looked at, keeps its absolute spelling. */
export function resolvedPath(path: string): string {
  const plain = resolve(path);
  if (plain.includes('\0')) return plain;
  try {
    return realpathSync(plain);
  } catch (error) {
    const above = dirname(plain);
    const isGone = errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR';
    return isGone && above !== plain ? join(resolvedPath(above), basename(plain)) : plain;
  }
}

/** Both as `resolvedPath` gives them. */
export function isAtOrBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
