// Owns reading one file of a backup as a manifest names it. Knows no check. Invariants: nothing outside the manifest's own folder is read,
// whatever the manifest says and wherever links lead; pipes and devices are never opened; a home that was moved is found again.
import { readFileSync, statSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { errorCode } from '#base/errors.ts';
import { isAtOrBelow, resolvedPath } from './resolved-path.ts';

export type BackupCopy =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly reason: 'missing' | 'outside' | 'too-large' };

const MAX_BYTES = 64 * 1_048_576;

/** `backup`: folder of the manifest, as `resolvedPath` gives it. */
export function readBackupCopy(backup: string, recorded: string): BackupCopy {
  const place = placeOf(backup, recorded);
  if (place === undefined) return { ok: false, reason: 'outside' };
  try {
    const stats = statSync(place);
    if (!stats.isFile()) return { ok: false, reason: 'missing' };
    if (stats.size > MAX_BYTES) return { ok: false, reason: 'too-large' };
    return { ok: true, bytes: readFileSync(place) };
  } catch (error) {
    if (UNREADABLE.includes(errorCode(error) ?? '')) return { ok: false, reason: 'missing' };
    throw error;
  }
}

const UNREADABLE: readonly string[] = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ENAMETOOLONG', 'ELOOP', 'EISDIR'];

/** Where it was recorded or, the home having been moved, at the same place below the manifest's folder. */
function placeOf(backup: string, recorded: string): string | undefined {
  if (recorded.includes('\0') || recorded.split(/[\\/]/).includes('..')) return undefined;
  const direct = resolvedPath(recorded);
  if (isAtOrBelow(direct, backup)) return direct;
  const parts = recorded.split(sep);
  const at = parts.lastIndexOf(basename(backup));
  const moved = at < 0 ? undefined : resolvedPath(join(backup, ...parts.slice(at + 1)));
  return moved !== undefined && moved !== backup && isAtOrBelow(moved, backup) ? moved : undefined;
}
