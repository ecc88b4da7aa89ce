// Owns finding a program on the PATH that it is given. Knows no program.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { errorCode } from '#base/errors.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** Absolute path, or undefined. */
export function findProgram(name: string, { PATH = '' }: Variables): string | undefined {
  if (isAbsolute(name)) return name;
  const folders = PATH.split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, name)).find(isProgram);
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
