// Owns what a typed path means, and how one is shown. Pure.
import { resolve } from 'node:path';

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
