// Owns what a typed path means, and how one is shown. Pure.
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join, resolve, sep } from 'node:path';
import { known } from '../errors.ts';

/** Absolute. `~` and what begins with `~/` stand for the person's own folder; the rest is below `cwd`. */
export function typedPath(
  typed: string,
  { cwd, userHome }: { readonly cwd: string; readonly userHome: string },
): string {
  return resolve(
    cwd,
    typed.replace(/^~(?=$|[/\\])/, () => userHome),
  );
}

/** The other way round: what lies in the person's own folder begins with `~`. */
export function shownPath(path: string, userHome: string): string {
  const isBelow = path === userHome || (userHome !== '/' && path.startsWith(`${userHome}/`));
  return isBelow ? `~${path.slice(userHome.length)}` : path;
}

// Finding a program as `command -v` does, among those that the owner put there. Knows no program. Invariant: what is found is run
// with the owner's own rights, so a folder that an enclosed command can fill is passed over: npm and direnv put such folders first.

/** Where a system keeps its own programs. */
export const SYSTEM_PATH = '/usr/bin:/bin:/usr/local/bin:/usr/sbin:/sbin';

/** Absolute path of what can be run under `name` in the folders of a PATH, or undefined. @param written as for `ownPath` */
export function findOnPath(name: string, path = '', written = startFolder()): string | undefined {
  if (name === '' || name.includes('/')) return undefined;
  const places = ownPath(path, written).split(delimiter).filter(isAbsolute);
  return places.map((folder) => join(folder, name)).find((found) => isProgram(found) && !isWritten(found, written));
}

/** A PATH without folders that are not absolute, that lie in one of `written`, or that a project's packages fill. */
export function ownPath(path = '', written = startFolder()): string {
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder) && !isWritten(folder, written));
  return folders.join(delimiter);
}

export function isProgram(path: string): boolean {
  const isRunnable = () => {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  };
  return known(isRunnable) ?? false;
}

/** Where sessions begin. One that begins in the home, or above it, may write all that its owner has: nothing would be left. */
function startFolder(): readonly string[] {
  const folder = process.cwd();
  return isIn(homedir(), folder) ? [] : [folder];
}

function isWritten(path: string, written: readonly string[]): boolean {
  const both = (one: string): readonly string[] => [one, known(() => realpathSync(one)) ?? one];
  const ways = both(path);
  const folders = written.flatMap(both);
  return ways.some((way) => /\/node_modules\/\.bin(?:\/|$)/.test(way) || folders.some((folder) => isIn(way, folder)));
}

/** Both absolute, without links. */
export function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
