// Owns what is said of a skills folder that was named and is not there: a note, no failure; it has no skills. Reads the disk, changes nothing.
import { existsSync } from 'node:fs';

/** `path`: absolute, or absent when none was named. */
export function missingFolderNote(path: string | undefined): string | undefined {
  return path === undefined || existsSync(path) ? undefined : `there is no folder ${path}`;
}
