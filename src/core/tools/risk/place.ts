// Owns where a command or file call happens, and how a written path becomes an absolute one. Pure but for what the caller passes in.
// Knows no rule. Invariant: `..`, `~`, doubled slashes and trailing globs cannot make a path look like another one.
import { homedir, tmpdir } from 'node:os';
import { isAbsolute, relative, resolve } from 'node:path';
import type { ShellWord } from '../shell/shell-script.ts';
import type { WallState } from '../walls/walls.ts';

export interface Place {
  /** The working folder of the session: what is below it may be written without asking. */
  readonly workspace: string;
  /** Where a command is by now. Undefined after a `cd` that cannot be followed. */
  readonly cwd: string | undefined;
  readonly home: string;
  /** The agent's own home, with its memory, skills and keys. */
  readonly dataHome?: string;
  /** Folders that may be written without asking, beside the working folder. */
  readonly scratch: readonly string[];
  /** Is there something at this absolute path? */
  readonly exists: (path: string) => boolean;
  /** Is there a file with something in it that would be lost? */
  readonly isFilled: (path: string) => boolean;
  /** With links followed. */
  readonly real: (path: string) => string;
  /** PATH of the shell that runs commands; empty where it is not known: no program is taken for one of the system. */
  readonly path: string;
  /** Was it, or something in it, there before the session? Undefined: not known. Absent: all that is there counts. */
  readonly isOld?: (path: string) => boolean | undefined;
}

export interface PlaceOptions extends Partial<Omit<Place, 'workspace' | 'cwd' | 'dataHome'>> {
  readonly cwd: string;
  readonly dataHome?: string | undefined;
  readonly tempIsPrivate?: boolean;
  /** What keeps commands here; absent: the machine as it is. */
  readonly walls?: WallState;
}

/** As written and, on macOS, as they really are. */
const TEMP_FOLDERS = ['/tmp', '/var/tmp', '/private/tmp', '/private/var/tmp', '/private/var/folders'];

export function makePlace(options: PlaceOptions): Place {
  return {
    workspace: resolve(options.cwd),
    cwd: resolve(options.cwd),
    home: options.home ?? homedir(),
    path: options.path ?? '',
    ...(options.dataHome === undefined ? {} : { dataHome: options.dataHome }),
    scratch: [...(options.tempIsPrivate ? [] : [...TEMP_FOLDERS, tmpdir()]), ...(options.scratch ?? [])],
    exists: options.exists ?? (() => false),
    isFilled: options.isFilled ?? (() => false),
    real: options.real ?? ((path) => path),
    ...(options.walls?.kind !== 'none' && options.isOld ? { isOld: options.isOld } : {}),
  };
}

/** Absolute form of a written path, or undefined when that depends on an unknown folder. */
export function absolutePath(text: string, place: Place): string | undefined {
  if (isAbsolute(text)) return resolve(text);
  return place.cwd === undefined ? undefined : resolve(place.cwd, text);
}

export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (!way.startsWith('../') && way !== '..' && !isAbsolute(way));
}

/** What a word names when it is used as a path. */
export interface Target {
  readonly path: string | undefined;
  /** Every entry of `path` and not only `path` itself (`dir/*`). */
  readonly contents: boolean;
  readonly certain: boolean;
}

/** `/etc/*` means everything in `/etc`; `/e*` may be any folder of the root. */
export function targetOf(word: ShellWord, place: Place): Target {
  const certain = word.certain;
  if (!word.glob) return { path: absolutePath(word.text, place), contents: false, certain };
  const segments = word.text.split('/');
  const at = segments.findIndex((segment) => /[*?[]/.test(segment));
  const before = segments.slice(0, at).join('/') || (word.text.startsWith('/') ? '/' : '.');
  const folder = absolutePath(before, place);
  const isAll = !/[A-Za-z0-9]/.test(segments[at] ?? '');
  if (isAll || folder === '/') return { path: folder, contents: true, certain };
  return {
    path: folder === undefined ? undefined : `${folder}/${segments.slice(at).join('/')}`,
    contents: false,
    certain,
  };
}

/** May it be written without asking? Unknown counts as no. */
export function isInWorkspace(path: string | undefined, place: Place): boolean {
  if (path === undefined) return false;
  const real = place.real(path);
  return isInScratch(real, place) || isWithin(real, place.real(place.workspace));
}

export function isInScratch(path: string, { scratch }: Place): boolean {
  return scratch.some((folder) => path !== folder && isWithin(path, folder));
}
