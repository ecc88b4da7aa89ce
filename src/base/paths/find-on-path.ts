// Owns finding a program as `command -v` does. Knows no program.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { errorCode } from '../errors.ts';

/** Absolute path of what can be run under `name` in the folders of a PATH, or undefined; folders that are not absolute are passed over. */
export function findOnPath(name: string, path = ''): string | undefined {
  if (name === '' || name.includes('/')) return undefined;
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return false;
  }
}
