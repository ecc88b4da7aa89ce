// Owns the copy of a version's backup in a folder that the owner named (curator notes 11.1). Knows no door. Invariant: the copy bears the
// stamp of the original and is whole or not there; undoing always works from the original.
import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeFolders } from '#base/atomic-write.ts';
import { randomHex } from '#base/ids.ts';

/** Gives the path of the copied manifest. Throws the system's error, with nothing left behind. */
export function copyBackup(manifestPath: string, backupDir: string): string {
  const from = dirname(manifestPath);
  const to = join(backupDir, basename(from));
  if (existsSync(to)) return join(to, basename(manifestPath));
  const temp = join(backupDir, `.tmp_${basename(from)}_${randomHex(4)}`);
  makeFolders(backupDir);
  try {
    cpSync(from, temp, { recursive: true, errorOnExist: true, force: false });
    renameSync(temp, to);
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
  return join(to, basename(manifestPath));
}
