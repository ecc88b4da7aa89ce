// Owns which versions of skills a backup of the home takes along: what `skills rollback` needs, in whole versions. Knows no manifest.
// Invariant: the newest ones, as many as there is room for; a version is in with all of its files, or not at all.
import { lstatSync } from 'node:fs';
import { join } from 'node:path';

const MOST_BYTES = 256 * 1024 * 1024;

/** `backups/skills/<stamp>` for a file below it. */
export function versionFolder(path: string): string | undefined {
  return /^backups\/skills\/[^/]+(?=\/)/.exec(path)?.[0];
}

/** Folders of the versions that there is no room for. Their names are times, so the order of names is that of their making. */
export function oldestVersions(root: string, files: readonly string[], bound = MOST_BYTES): ReadonlySet<string> {
  const sizes = new Map<string, number>();
  for (const path of files) {
    const version = versionFolder(path);
    if (version) sizes.set(version, (sizes.get(version) ?? 0) + lstatSync(join(root, path)).size);
  }
  const old = new Set<string>();
  let room = bound;
  for (const [version, size] of [...sizes].sort(([a], [b]) => (a < b ? 1 : -1))) {
    room -= size;
    if (room < 0) old.add(version);
  }
  return old;
}
