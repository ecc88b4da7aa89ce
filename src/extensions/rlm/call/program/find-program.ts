// Owns finding the program of a family, as `command -v` does, and what to say when it is not there. Knows no family.
import { isAbsolute } from 'node:path';
import { findOnPath, isProgram } from '#base/paths/find-on-path.ts';

/** Absolute path of a program that can be run, or undefined. A relative path is none: there is no folder that it would start from. */
export function findProgram(name: string, path: string | undefined): string | undefined {
  if (isAbsolute(name)) return isProgram(name) ? name : undefined;
  return findOnPath(name, path);
}

export function programMissing(family: string, name: string): string {
  return isAbsolute(name) || name.includes('/')
    ? `the family ${family} needs the program ${name}, which is no program that can be run; name it by its absolute path in rlm.families.${family}.command`
    : `the family ${family} needs the program ${name}, which is not on the PATH; install it, or name it by its absolute path in rlm.families.${family}.command`;
}
