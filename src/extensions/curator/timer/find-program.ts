// Owns finding a program on the PATH that it is given; one that is named by its place is taken as it is. Knows no program.
import { isAbsolute } from 'node:path';
import { findOnPath } from '#base/paths/find-on-path.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** Absolute path, or undefined. */
export function findProgram(name: string, { PATH }: Variables): string | undefined {
  return isAbsolute(name) ? name : findOnPath(name, PATH);
}
