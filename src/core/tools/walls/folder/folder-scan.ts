// Owns looking through a session's folder for names that steer and for git folders, with a bound. Knows no mark and no mount. Invariant:
// what a command could make below a folder that was looked at before is looked at as well, or the scan says that it was cut.
import { type Dirent, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { readRegular } from '#base/paths/open-files.ts';
import { kindsOf, known } from '../mounts.ts';
import { STEERING_IN_FOLDER, STEERING_NAMES } from '../places.rules.ts';

export interface ScannedFolder {
  /** Folders in it that are looked at. */
  readonly below: readonly string[];
  /** What steers by its name, in it. */
  readonly named: readonly string[];
  /** What `.git` is in it; `bare`: the folder is itself one. */
  readonly git?: 'folder' | 'other' | 'bare';
  readonly isEmpty: boolean;
}

export interface Scan {
  readonly folders: ReadonlyMap<string, ScannedFolder>;
  /** Came with a git repository that was not there before: foreign as a whole until the owner trusts it. */
  readonly arrived: ReadonlySet<string>;
  readonly isCut: boolean;
}

export interface ScanOptions {
  readonly folder: string;
  /** A home is full of caches and of settings that have rules of their own. */
  readonly isHome: boolean;
  /** The last look: what it looked at is looked at again, and `MOST` new folders. */
  readonly before?: Scan;
}

export interface Scanner {
  scan(options: ScanOptions): Scan;
}

/** A look takes some 6 µs for each. */
const MOST = 600;
const DEPTH = 8;
/** What is installed there is no instruction, and much. */
const SKIPPED = new Set([
  ...[
    'node_modules',
    'bower_components',
    '.pnpm-store',
    '.yarn',
    'target',
    '.venv',
    'venv',
    '.tox',
    '.nox',
    '__pycache__',
  ],
  ...[
    '.mypy_cache',
    '.pytest_cache',
    '.ruff_cache',
    '.cache',
    '.next',
    '.nuxt',
    '.turbo',
    '.gradle',
    '.terraform',
    '.git',
  ],
]);

/** `now`: of the machine's clock, to tell whether a folder may have changed since it was read. */
export function createScanner(now: () => number): Scanner {
  let read = new Map<string, Reading>();
  return {
    scan(options) {
      const kept = new Map<string, Reading>();
      const look = (path: string) => {
        const reading = readFolder(path, options, read.get(path), now);
        if (reading) kept.set(path, reading);
        return reading?.found;
      };
      const scan = lookThrough(options, look);
      read = kept;
      return scan;
    },
  };
}

interface Reading {
  readonly stamp: string;
  /** Long enough after the last change: a later one has another stamp. */
  readonly isSettled: boolean;
  readonly found: ScannedFolder;
}

const TICK_MS = 100;

function readFolder(
  path: string,
  { folder, isHome }: ScanOptions,
  last: Reading | undefined,
  now: () => number,
): Reading | undefined {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (facts?.isDirectory() !== true) return undefined;
  const stamp = `${facts.ino} ${facts.ctimeMs} ${facts.mtimeMs}`;
  if (last?.stamp === stamp && last.isSettled) return last;
  const isSettled = now() - facts.ctimeMs > TICK_MS;
  const entries = kindsOf(path);
  const found = sortEntries(path, entries, path === folder && isHome);
  return { stamp, isSettled, found };
}

function sortEntries(path: string, entries: readonly Dirent[], isHome: boolean): ScannedFolder {
  const named: string[] = [];
  const below: string[] = [];
  const names = new Map(entries.map((entry) => [entry.name, entry]));
  const isInstalled = names.has('pyvenv.cfg');
  for (const entry of entries) {
    const { name } = entry;
    const full = join(path, name);
    if (STEERING_NAMES.some((pattern) => pattern.test(name)) || STEERING_IN_FOLDER.test(full)) named.push(full);
    else if (entry.isDirectory() && !SKIPPED.has(name) && !isInstalled && !(isHome && name.startsWith('.')))
      below.push(full);
  }
  const git = gitOf(names);
  return { below: below.sort(), named, ...(git ? { git } : {}), isEmpty: entries.length === 0 };
}

function gitOf(names: ReadonlyMap<string, Dirent>): ScannedFolder['git'] {
  const git = names.get('.git');
  if (git) return git.isDirectory() ? 'folder' : 'other';
  return names.has('HEAD') && names.has('objects') && names.has('refs') ? 'bare' : undefined;
}

interface Step {
  readonly path: string;
  readonly depth: number;
  readonly isNew: boolean;
  readonly isForeign: boolean;
}

function lookThrough({ folder, before }: ScanOptions, look: (path: string) => ScannedFolder | undefined): Scan {
  const folders = new Map<string, ScannedFolder>();
  const arrived = new Set<string>();
  const queue: Step[] = [{ path: folder, depth: 0, isNew: false, isForeign: false }];
  const bound = boundOf(before);
  for (const step of queue) {
    const found = bound.admits(step) ? look(step.path) : undefined;
    if (!found) continue;
    folders.set(step.path, found);
    const isForeign = step.isForeign || cameWithGit(step, found, before);
    if (isForeign) for (const path of found.named) arrived.add(path);
    queue.push(...stepsBelow(found, { ...step, isForeign }, before));
  }
  return { folders, arrived, isCut: bound.isCut() };
}

/** What was looked at before is looked at whatever else is there. */
function boundOf(before: Scan | undefined) {
  let counted = 0;
  return {
    admits({ isNew }: Step): boolean {
      if (before && !isNew) return true;
      counted += 1;
      return counted <= MOST;
    },
    isCut: () => counted > MOST,
  };
}

/** A repository where nothing of the owner's was. */
function cameWithGit({ path, depth, isNew }: Step, { git }: ScannedFolder, before: Scan | undefined): boolean {
  return depth > 0 && git !== undefined && (isNew || before?.folders.get(path)?.isEmpty === true);
}

/** What lay beyond the bound of the last look is left out again. */
function stepsBelow({ below }: ScannedFolder, { path, depth, isForeign }: Step, before?: Scan): readonly Step[] {
  if (depth === DEPTH) return [];
  const beyond = new Set(before?.folders.get(path)?.below.filter((one) => !before.folders.has(one)));
  return below
    .filter((one) => !beyond.has(one))
    .map((one) => ({ path: one, depth: depth + 1, isForeign, isNew: before?.folders.has(one) === false }));
}

const MODULES = 200;

export interface ScannedModules {
  readonly folders: readonly string[];
  readonly isCut: boolean;
}

/** All folders below `modules` of a git folder: names of submodules may hold slashes, and what is no module has no hooks. */
export function modulesBelow(git: string): ScannedModules {
  const top = join(git, 'modules');
  const found: string[] = [];
  const queue = isPlainFolder(top) ? [top] : [];
  for (const path of queue) {
    if (queue.length > MODULES) return { folders: found, isCut: true };
    const entries = kindsOf(path);
    const isModule = entries.some(({ name }) => name === 'HEAD' || name === 'config');
    if (path !== top) found.push(path);
    const inner = entries.filter((entry) => entry.isDirectory() && !(isModule && IN_GIT.has(entry.name)));
    queue.push(...inner.map(({ name }) => join(path, name)));
  }
  return { folders: found, isCut: false };
}

/** Of git itself, in each of its folders: no module is kept in them. */
const IN_GIT = new Set(['objects', 'refs', 'logs', 'hooks', 'info', 'branches', 'lfs', 'worktrees', 'rebase-merge']);

export function isPlainFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

const LARGEST = 1_000_000;

/** Undefined for what is no file, or too large to be one of git's. */
export function textIn(path: string): string | undefined {
  return known(() => readRegular(path, LARGEST).toString());
}

export function textOf(path: string): string {
  return textIn(path) ?? '';
}
