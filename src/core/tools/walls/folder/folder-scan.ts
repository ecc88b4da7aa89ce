// Owns looking through a session's folder for names that steer and for git folders, with a bound. Knows no mark and no mount. Invariant:
// what a command could make below a folder that was looked at before is looked at as well, or the scan says that it was cut.
import type { Dirent } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readRegular } from '#base/paths/open-files.ts';
import { isClosed, loosen } from '../kept-steering.ts';
import { kindsOf, known, lookAt, realPathOf } from '../mounts.ts';
import { STEERING_IN_FOLDER, STEERING_NAMES } from '../places.rules.ts';

export interface ScannedFolder {
  /** Folders in it that are looked at. */
  readonly below: readonly string[];
  /** What steers by its name, in it. */
  readonly named: readonly string[];
  /** What `.git` is in it. */
  readonly git?: 'folder' | 'other';
  /** It is itself what git takes for a repository. */
  readonly isBare: boolean;
  readonly isEmpty: boolean;
  readonly isClosed?: boolean;
}

export interface Scan {
  readonly folders: ReadonlyMap<string, ScannedFolder>;
  /** Beyond the bound of the first look: left out of each later one as well. */
  readonly beyond: ReadonlySet<string>;
  /** Tops of git repositories that commands brought, as long as they are ones. */
  readonly foreign: ReadonlySet<string>;
  /** What steers by its name in them; true: in one that came since the last look. */
  readonly arrived: ReadonlyMap<string, boolean>;
  readonly isCut: boolean;
}

export interface ScanOptions {
  readonly folder: string;
  /** A home is full of caches and of settings that have rules of their own. */
  readonly isHome: boolean;
  /** The last look: what it looked at is looked at again, whatever else is there now. */
  readonly before?: Scan;
  /** A command ended: what is new may be its work. */
  readonly isAfter?: boolean;
}

export interface Scanner {
  scan(options: ScanOptions): Scan;
}

/** Folders that are looked at: of those that the owner has, which each look costs some 6 µs, and with those that commands made. */
const MOST = { first: 600, later: 10_000 } as const;
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
  { folder, isHome, isAfter }: ScanOptions,
  last: Reading | undefined,
  now: () => number,
): Reading | undefined {
  const facts = lookAt(path);
  if (facts === 'closed') return { stamp: '', isSettled: false, found: CLOSED };
  if (facts?.isDirectory() !== true) return undefined;
  const stamp = `${facts.ino} ${facts.ctimeMs} ${facts.mtimeMs}`;
  if (last?.stamp === stamp && last.isSettled) return last;
  const isSettled = now() - facts.ctimeMs > TICK_MS;
  // What a command closed is opened for its owner again: nobody else could look into it, and the next command could.
  if (isClosed(facts) && !(isAfter && known(() => loosen(path)))) return { stamp, isSettled, found: CLOSED };
  const entries = kindsOf(path);
  const found = sortEntries(path, entries, path === folder && isHome);
  return { stamp, isSettled, found };
}

function sortEntries(path: string, entries: readonly Dirent[], isHome: boolean): ScannedFolder {
  const named: string[] = [];
  const below: string[] = [];
  const names = new Map(entries.map((entry) => [entry.name, entry]));
  const isInstalled = names.has('pyvenv.cfg');
  const isSkipped = (name: string) => SKIPPED.has(name) || isInstalled || (isHome && name.startsWith('.'));
  for (const entry of entries) {
    const { name } = entry;
    if (steers(path, entry)) named.push(join(path, name));
    else if (entry.isDirectory() && !isSkipped(name)) below.push(join(path, name));
  }
  const git = names.get('.git');
  const isBare = names.has('HEAD') && (names.has('commondir') || (names.has('objects') && names.has('refs')));
  const found = { below: below.sort(), named, isBare, isEmpty: entries.length === 0 };
  return git ? { ...found, git: git.isDirectory() ? 'folder' : 'other' } : found;
}

/** Bytes that are no text name no folder that could be looked into. */
function steers(path: string, entry: Dirent): boolean {
  const { name } = entry;
  const isUnnamed = name.includes('\ufffd') && entry.isDirectory() && lookAt(join(path, name)) === undefined;
  return isUnnamed || STEERING_NAMES.some((pattern) => pattern.test(name)) || STEERING_IN_FOLDER.test(join(path, name));
}

const CLOSED: ScannedFolder = { below: [], named: [], isBare: false, isEmpty: false, isClosed: true };

interface Step {
  readonly path: string;
  readonly depth: number;
  /** Of the repository that a command brought: whether it came since the last look. */
  readonly foreign: boolean | undefined;
}

/** By levels: what lies at the top is looked at before the insides of what else is there. */
function lookThrough(options: ScanOptions, look: (path: string) => ScannedFolder | undefined): Scan {
  const { folder, before } = options;
  const folders = new Map<string, ScannedFolder>();
  const [beyond, foreign] = [new Set(before?.beyond), new Set<string>()];
  const arrived = new Map<string, boolean>();
  const bound = boundOf(before, folders);
  const visit = (step: Step): readonly Step[] => {
    const found = look(step.path);
    if (!found) return [];
    folders.set(step.path, found);
    const own = step.depth === 0 ? undefined : foreignTop(step.path, found, options);
    if (own !== undefined) foreign.add(step.path);
    const state = step.foreign ?? own;
    if (state !== undefined) for (const name of found.named) arrived.set(name, state);
    return stepsBelow(found, { ...step, foreign: state }, beyond);
  };
  const queue: Step[] = [{ path: folder, depth: 0, foreign: undefined }];
  for (const step of queue) {
    if (bound.admits(step.path)) queue.push(...visit(step));
    else if (!before) beyond.add(step.path);
  }
  const isCut = bound.isCut() || [...folders.values()].some(({ isClosed: isShut }) => isShut === true);
  return { folders, beyond, foreign, arrived, isCut };
}

/** What was looked at before is looked at whatever else is there. */
function boundOf(before: Scan | undefined, folders: ReadonlyMap<string, unknown>) {
  const most = before ? MOST.later : MOST.first;
  let isCut = false;
  return {
    admits(path: string): boolean {
      const isAdmitted = before?.folders.has(path) === true || folders.size < most;
      isCut ||= !isAdmitted;
      return isAdmitted;
    },
    isCut: () => isCut,
  };
}

function stepsBelow({ below }: ScannedFolder, { depth, foreign }: Step, beyond: ReadonlySet<string>): readonly Step[] {
  if (depth === DEPTH) return [];
  return below.filter((path) => !beyond.has(path)).map((path) => ({ path, depth: depth + 1, foreign }));
}

/** A repository where nothing of the owner's was; true: since the last look. */
function foreignTop(path: string, { git }: ScannedFolder, { before, isAfter }: ScanOptions): boolean | undefined {
  const was = before?.folders.get(path);
  const isKnown = before?.foreign.has(path) === true;
  const isNew = before !== undefined && isAfter === true && (was === undefined || was.isEmpty);
  return git !== undefined && (isKnown || isNew) && hasOwnGit(path, git) ? !isKnown : undefined;
}

function hasOwnGit(path: string, kind: 'folder' | 'other'): boolean {
  const file = join(path, '.git');
  const git = kind === 'folder' ? file : targetOf(file);
  const head = git === undefined ? undefined : lookAt(join(git, 'HEAD'));
  if (git === undefined || head === undefined || head === 'closed' || !head.isFile() || head.size === 0) return false;
  return kind === 'folder' ? isPlainFolder(join(git, 'objects')) : namesBack(git, path) !== undefined;
}

/** The git folder that a `.git` file names. */
export function targetOf(file: string): string | undefined {
  const facts = lookAt(file);
  const isFile = facts !== 'closed' && facts?.isFile() === true;
  const named = isFile ? /^gitdir: (.+)$/m.exec(textOf(file))?.[1] : undefined;
  return named === undefined ? undefined : realPathOf(resolve(dirname(file), named));
}

/** Anybody can write a `.git` file that names a folder elsewhere: it counts when that folder names this one back. */
export function namesBack(git: string, folder: string): 'worktree' | 'module' | undefined {
  const back = textOf(join(git, 'gitdir')).trim();
  const isInWorktrees = basename(dirname(git)) === 'worktrees';
  if (back !== '' && isInWorktrees && realPathOf(resolve(git, back)) === join(folder, '.git')) return 'worktree';
  const worktree = /^\s*worktree\s*=\s*"?([^"\n]+?)"?\s*$/im.exec(textOf(join(git, 'config')))?.[1];
  return worktree !== undefined && realPathOf(resolve(git, worktree)) === folder ? 'module' : undefined;
}

const MODULES = 600;
/** Bytes of a path; a longer one could not be named with what is in it. */
const LONGEST = 3_800;

export interface ScannedModules {
  readonly folders: readonly string[];
  readonly isCut: boolean;
}

/**
 * All folders below `modules` of a git folder: names of submodules may hold slashes, and what is no module has no hooks. What was found
 * `before` is looked at again, whatever else is there now.
 */
export function modulesBelow(git: string, before: ReadonlySet<string> | undefined): ScannedModules {
  const top = join(git, 'modules');
  const found: string[] = [];
  const queue = isPlainFolder(top) ? [top] : [];
  let isCut = false;
  for (const path of queue) {
    const isNamed = Buffer.byteLength(path) < LONGEST && isPlainFolder(path);
    const isAdmitted = isNamed && (found.length < MODULES || before?.has(path) === true);
    isCut ||= !isAdmitted;
    if (!isAdmitted) continue;
    const entries = kindsOf(path);
    const isModule = entries.some(({ name }) => name === 'HEAD' || name === 'config');
    if (path !== top) found.push(path);
    const inner = entries.filter((entry) => entry.isDirectory() && !(isModule && IN_GIT.has(entry.name)));
    queue.push(...inner.map(({ name }) => join(path, name)));
  }
  return { folders: found, isCut };
}

/** Of git itself, in each of its folders: no module is kept in them. */
const IN_GIT = new Set(['objects', 'refs', 'logs', 'hooks', 'info', 'branches', 'lfs', 'worktrees', 'rebase-merge']);

export function isPlainFolder(path: string): boolean {
  const facts = lookAt(path);
  return facts !== 'closed' && facts?.isDirectory() === true;
}

const LARGEST = 1_000_000;

/** Undefined for what is no file, or too large to be one of git's. */
export function textIn(path: string): string | undefined {
  return lookAt(path) === undefined ? undefined : known(() => readRegular(path, LARGEST).toString());
}

export function textOf(path: string): string {
  return textIn(path) ?? '';
}
