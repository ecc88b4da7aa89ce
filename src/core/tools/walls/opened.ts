// Owns which walls a yes may open, and the empty file that stands for one that is not there yet. Knows no mounts and asks nobody.
// Invariant: what is opened is exactly the place that was asked about: no link elsewhere, no folder above it, nothing that holds the home,
// and nothing that is the agent's own.
import { lstatSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isWithin } from '../risk/place.ts';
import { besideHome } from './home-view.ts';
import { known, mayWrite, realFacts } from './mounts.ts';
import type { Opening } from './walls.ts';

export interface Closed {
  readonly userHome: string;
  readonly dataHome: string;
  readonly root: string;
  readonly isSeen: (path: string) => boolean;
}

/** Nor what is in them. The second are no wall as a whole, but a view of their own. */
const KERNEL = ['/proc', '/sys'];
const DEVICES = /^\/dev(?:$|\/(?!shm\/.))/;
const WHOLE = ['/tmp', '/var/tmp', '/run'];

/** The opening as it really is; undefined: no yes opens this. */
export function openable(opening: Opening, { userHome, dataHome, root, isSeen }: Closed): Opening | undefined {
  if (!('path' in opening)) return opening;
  const { kind } = opening;
  const path = realPlace(opening);
  if (path === undefined) return undefined;
  const never = [...KERNEL, dataHome, root, ...besideHome(dataHome)];
  if (DEVICES.test(path) || never.some((one) => isWithin(path, one))) return undefined;
  if ([...never, ...WHOLE, userHome].some((one) => isWithin(one, path))) return undefined;
  // A link in the home to what is seen anyway: only the link is missing.
  return kind === 'read' && path !== opening.path && isSeen(path) ? opening : { kind, path };
}

/** Of a file that is not there yet, its folder must be, and be ours to write. */
function realPlace({ kind, path }: { readonly kind: string; readonly path: string }): string | undefined {
  if (realFacts(path)) return realpathSync.native(path);
  const folder = realFacts(dirname(path))?.isDirectory() ? realpathSync.native(dirname(path)) : undefined;
  if (kind === 'read' || folder === undefined || !mayWrite(folder)) return undefined;
  // git's locks are made anew or not at all.
  if (/\/\.git(?:\/|$)/.test(folder)) return undefined;
  return known(() => lstatSync(path, { throwIfNoEntry: false })) ? undefined : join(folder, basename(path));
}

export interface NewFiles {
  /** Makes what is missing; the end takes away what nobody wrote. */
  make(paths: readonly string[]): () => void;
}

export function createNewFiles(): NewFiles {
  const made = new Map<string, { readonly mtimeNs: bigint; users: number }>();
  const factsOf = (path: string) => lstatSync(path, { bigint: true, throwIfNoEntry: false });
  const use = (path: string) => {
    const before = made.get(path);
    if (before) before.users += 1;
    else if (factsOf(path) === undefined) {
      known(() => writeFileSync(path, '', { flag: 'wx' }));
      const facts = factsOf(path);
      if (facts) made.set(path, { mtimeNs: facts.mtimeNs, users: 1 });
    }
  };
  const leave = (path: string) => {
    const one = made.get(path);
    if (one === undefined) return;
    one.users -= 1;
    if (one.users > 0) return;
    made.delete(path);
    const facts = factsOf(path);
    if (facts?.isFile() && facts.size === 0n && facts.mtimeNs === one.mtimeNs) rmSync(path, { force: true });
  };
  return {
    make(paths) {
      for (const path of paths) use(path);
      return () => {
        for (const path of paths) leave(path);
      };
    },
  };
}
