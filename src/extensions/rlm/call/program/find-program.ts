// Owns finding the program of a family, as `command -v` does, and what to say when it is not there. Knows no family.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { errorCode } from '#base/errors.ts';

/** Absolute path of a program that can be run, or undefined. A relative path is none: there is no folder that it would start from. */
export function findProgram(name: string, path: string | undefined): string | undefined {
  if (isAbsolute(name)) return isProgram(name) ? name : undefined;
  if (name === '' || name.includes('/')) return undefined;
  const folders = (path ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

export function programMissing(family: string, name: string): string {
  return isAbsolute(name) || name.includes('/')
    ? `the family ${family} needs the program ${name}, which is no program that can be run; name it by its absolute path in rlm.families.${family}.command`
    : `the family ${family} needs the program ${name}, which is not on the PATH; install it, or name it by its absolute path in rlm.families.${family}.command`;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return false;
  }
}
