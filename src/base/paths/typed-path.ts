// Owns what a typed path means. Pure.
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
