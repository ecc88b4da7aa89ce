// Owns looking through a session's folder for names that steer and for git folders, with a bound. Knows no mark and no mount. Invariant:
// what a command could make below a folder that was looked at before is looked at as well, or the scan says that it was cut.
import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import { known } from '#base/errors.ts';
import { gitOf, isPlainFolder, namesBack } from './git-folders.ts';
import { isClosed, loosen } from './kept-steering.ts';
import { kindsOf, lookAt } from './mounts.ts';
import { STEERING_IN_FOLDER, STEERING_NAMES } from './places.rules.ts';

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

/** Folders that are looked at: of those that the owner has, which each look costs some 6 µs, and with those that commands made. */
const MOST = { first: 600, later: 10_000 } as const;
const DEPTH = 8;
/** What is installed there is no instruction, and much. */
const SKIPPED = new Set([
  ...'node_modules bower_components .pnpm-store .yarn target .venv venv .tox .nox __pycache__ .mypy_cache'.split(' '),
  ...'.pytest_cache .ruff_cache .cache .next .nuxt .turbo .gradle .terraform .git'.split(' '),
]);

/** `now`: of the machine's clock, to tell whether a folder may have changed since it was read. */
export function createScanner(now: () => number): (options: ScanOptions) => Scan {
  let read = new Map<string, Reading>();
  return (options) => {
    const kept = new Map<string, Reading>();
    const scan = lookThrough(options, (path) => {
      const reading = readFolder(path, options, read.get(path), now);
      if (reading) kept.set(path, reading);
      return reading?.found;
    });
    read = kept;
    return scan;
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
  const most = before ? MOST.later : MOST.first;
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
  let isCut = false;
  for (const step of queue) {
    // What was looked at before is looked at whatever else is there.
    const isAdmitted = before?.folders.has(step.path) === true || folders.size < most;
    isCut ||= !isAdmitted;
    if (isAdmitted) queue.push(...visit(step));
    else if (!before) beyond.add(step.path);
  }
  isCut ||= [...folders.values()].some(({ isClosed: isShut }) => isShut === true);
  return { folders, beyond, foreign, arrived, isCut };
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
  const git = kind === 'folder' ? file : gitOf(file);
  const head = git === undefined ? undefined : lookAt(join(git, 'HEAD'));
  if (git === undefined || head === undefined || head === 'closed' || !head.isFile() || head.size === 0) return false;
  return kind === 'folder' ? isPlainFolder(join(git, 'objects')) : namesBack(git, path) !== undefined;
}
