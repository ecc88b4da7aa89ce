// Owns which walls a yes may open, and the empty file that stands for one that is not there yet. Knows no mounts and asks nobody.
// Invariant: what is opened is exactly the place that was asked about: no link elsewhere, no folder above it, nothing that holds the home,
// and nothing that is the agent's own.
import { lstatSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isWithin } from '../risk/place.ts';
import { besideHome } from './home-view.ts';
import { known, mayWrite, realFacts } from './mounts.ts';
import { type Opening, settingLine } from './walls.ts';

export interface Closed {
  readonly userHome: string;
  readonly dataHome: string;
  readonly root: string;
  /** Written by the configuration. */
  readonly writable: readonly string[];
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

/** What the owner can do where no yes opens what was met, or a narrower setting does. */
export function hintAt(opening: Opening, closed: Closed, folder: string): string | undefined {
  if (opening.kind === 'host' && listensHere(opening.host))
    return `a server of this machine listens at ${opening.host}, outside of the walls; the owner can open it alone: ${settingLine('hosts', opening.host)}`;
  if (opening.kind !== 'write' || openable(opening, closed)) return undefined;
  const { path } = opening;
  if (closed.writable.some((one) => isWithin(path, one))) return undefined;
  const git = /^.*?\/\.git(?=\/|$)/.exec(path)?.[0];
  if (git !== undefined && isWithin(path, folder))
    return `no yes opens ${path}, which steers git: the owner makes it by hand`;
  if (git !== undefined && realFacts(git)?.isDirectory())
    return `git's folder ${git} lies outside of this session: start in ${dirname(git)}, or the owner opens it: ${settingLine('paths', git)}`;
  return isWithin(closed.userHome, path)
    ? `no yes opens all of ${path}: the owner makes the folder that is meant, and adds it to sandbox.paths`
    : undefined;
}

/** Is there a server of this machine where a port that the configuration names leads to: at 127.0.0.1? */
export function listensHere(host: string): boolean {
  const port = Number(host.split(':')[1]).toString(16).toUpperCase().padStart(4, '0');
  const listens = new RegExp(`: (?:0{8}|0100007F|0{32}|0{16}FFFF00000100007F):${port} \\S+ 0A `);
  return ['tcp', 'tcp6'].some((table) => listens.test(known(() => readFileSync(`/proc/net/${table}`, 'utf8')) ?? ''));
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
