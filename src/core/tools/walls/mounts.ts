// Owns the list of mounts that make one view of the machine, in order, and the places for them in folders that commands may write. Knows
// no place by name. Invariant: no link that a command left can lead the builder of walls astray: a mount point in a private folder is made
// before the first command, and the folders above it are mounts of themselves, which nobody can move away.
import {
  accessSync,
  constants,
  type Dirent,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { errorCode, known, TalariaError } from '#base/errors.ts';
import { isWithin } from '../risk/place.ts';

/** A folder of ours that stands for a place of the machine. */
export interface PrivateArea {
  readonly at: string;
  readonly source: string;
}

export class Mounts {
  readonly args: string[];
  readonly areas: PrivateArea[];
  /** What is a mount of itself: nobody who has this view can move or replace it. */
  readonly points: Set<string>;
  /** The same in private areas, by the names that ours have on the machine. */
  readonly held: Set<string>;
  readonly #seen: string[];

  /** Begins as `from` is now. */
  constructor(from?: Mounts) {
    this.args = [...(from?.args ?? [])];
    this.areas = [...(from?.areas ?? [])];
    this.points = new Set(from?.points);
    this.held = new Set(from?.held);
    this.#seen = from ? [...from.#seen] : [];
  }

  /** Is the machine's own thing seen at this place? */
  readonly isSeen = (path: string): boolean => {
    const area = this.areas.findLast(({ at }) => isWithin(path, at));
    return area === undefined || this.#seen.some((shown) => isWithin(shown, area.at) && isWithin(path, shown));
  };

  /** Private folders that would have to be made or held above the mount point of `path`. */
  above(path: string): readonly string[] {
    const area = this.#areaOf(path);
    const parts = area ? relative(area.at, path).split('/').slice(0, -1) : [];
    return parts.map((_, index) => join(area?.source ?? '', ...parts.slice(0, index + 1)));
  }

  /** From now on `area.source` stands at `area.at`. */
  stand(area: PrivateArea): void {
    this.#place(area.at);
    this.args.push('--bind', area.source, area.at);
    this.#point(area.at);
    this.areas.push(area);
  }

  show(path: string): void {
    this.#mount('--ro-bind', path);
  }

  open(path: string): void {
    this.#mount('--bind', path);
  }

  /** Nothing for what is not there or cannot be read anyway. */
  hide(path: string): void {
    const facts = realFacts(path);
    if (facts === undefined || !mayRead(path)) return;
    const real = realpathSync.native(path);
    if (!this.isSeen(real) || !isReachable(real)) return;
    this.args.push(...(facts.isDirectory() ? ['--tmpfs', real] : ['--ro-bind', '/dev/null', real]));
    this.#point(real);
  }

  /** Nothing that can be read or written, over whatever is there. */
  empty(path: string): void {
    if (!this.isSeen(path)) return;
    const isFolder = realFacts(path)?.isDirectory() === true;
    this.args.push(...(isFolder ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path]));
    this.#point(path);
  }

  /**
   * Empties these places: at once those around `folder`, which is then opened on the empty ground (a golem's in the home); the others, and
   * the ground itself for good, when what is given back is called.
   */
  coverAround(folder: string, kept: readonly string[]): () => void {
    const there = kept.filter((path) => realFacts(path) !== undefined);
    const around = there.filter((path) => this.isSeen(path) && path !== folder && isWithin(folder, path));
    for (const path of around) {
      this.args.push('--tmpfs', path);
      this.#point(path);
    }
    return () => {
      for (const path of there) {
        if (around.includes(path)) this.args.push('--remount-ro', path);
        else this.empty(path);
      }
    };
  }

  #mount(how: '--bind' | '--ro-bind', path: string): void {
    this.#place(path);
    this.args.push(how, realpathSync.native(path), path);
    this.#seen.push(path);
    this.#point(path);
  }

  /** What was a mount below is seen no more. */
  #point(path: string): void {
    for (const one of this.points) if (isWithin(one, path)) this.points.delete(one);
    this.points.add(path);
  }

  /** The private area in which a place has to be made; none where it is there already. */
  #areaOf(path: string): PrivateArea | undefined {
    const area = this.areas.findLast(({ at }) => isWithin(path, at));
    return path === area?.at || this.isSeen(path) ? undefined : area;
  }

  #place(path: string): void {
    const area = this.#areaOf(path);
    for (const { source, at } of area ? makePlace(area, path) : [])
      if (!this.held.has(source)) {
        this.held.add(source);
        this.args.push('--bind', source, at);
      }
  }
}

/** Makes the mount point of `path` and gives the folders above it, which have to be held. Throws TalariaError `unsafe-place`. */
function makePlace(area: PrivateArea, path: string): readonly PrivateArea[] {
  const parts = relative(area.at, path).split('/');
  const above: PrivateArea[] = [];
  parts.forEach((_, index) => {
    const below = parts.slice(0, index + 1).join('/');
    const source = join(area.source, below);
    const isLast = index === parts.length - 1;
    makePlainEntry(source, isLast && realFacts(path)?.isDirectory() === false ? 'file' : 'folder');
    if (!isLast) above.push({ source, at: join(area.at, below) });
  });
  return above;
}

function makePlainEntry(path: string, kind: 'folder' | 'file'): void {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (facts === undefined) {
    if (kind === 'folder') mkdirSync(path, { mode: 0o700 });
    else writeFileSync(path, '', { flag: 'wx', mode: 0o600 });
  } else if (kind === 'folder' ? !facts.isDirectory() : !facts.isFile())
    throw new TalariaError(`the walls cannot be built: ${path} was replaced by something else`, {
      code: 'unsafe-place',
      fix: 'Start a new session: it gets a private home of its own.',
    });
}

export function mayRead(path: string): boolean {
  return known(() => accessSync(path, constants.R_OK) === undefined) ?? false;
}

export function mayWrite(path: string): boolean {
  return known(() => accessSync(path, constants.W_OK) === undefined) ?? false;
}

/** Behind walls root has the rights of its own user and groups alone, and cannot pass through what is closed to them. */
export function isReachable(path: string): boolean {
  for (let at = dirname(path); ; at = dirname(at)) {
    if (!isGranted(at, 'enter')) return false;
    if (at === '/') return true;
  }
}

const RIGHT = { enter: 1, write: 2 } as const;

/** By its mode, without the rights that root has beyond it. Of a plain user's folders the system says so by itself: always true. */
export function isGranted(folder: string, right: keyof typeof RIGHT): boolean {
  const facts = process.getuid?.() === 0 ? realFacts(folder) : undefined;
  if (facts === undefined) return true;
  const shift = facts.uid === 0 ? 6 : process.getgroups?.().includes(facts.gid) ? 3 : 0;
  return ((facts.mode >> shift) & RIGHT[right]) !== 0;
}

/** Of a link itself. `closed`: nothing can be said of it, in a folder that is there (which is closed, or the path is too long). */
export function lookAt(path: string): Stats | 'closed' | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return lookAt(dirname(path)) === undefined ? undefined : 'closed';
  }
}

/** None for what is not there, is no folder, or is not ours to read. */
export function entriesOf(path: string): readonly string[] {
  return known(() => readdirSync(path)) ?? [];
}

/** With what each is, links not followed. */
export function kindsOf(path: string): readonly Dirent[] {
  return known(() => readdirSync(path, { withFileTypes: true })) ?? [];
}

/** Of what a path leads to; undefined for what is not there or cannot be reached. */
export function realFacts(path: string) {
  return known(() => statSync(path));
}

/** Where a path leads to; undefined for what is not there or cannot be reached. */
export function realPathOf(path: string): string | undefined {
  return known(() => realpathSync.native(path));
}
