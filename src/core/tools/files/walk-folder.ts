// Owns walking a folder in a fixed order (by name), leaving out what the rules of .gitignore files name (the common part of their syntax). Links
// to folders are not followed, and the file systems in which the kernel shows itself (/proc, /sys, /dev) are not entered. Knows no search.
// Invariants: ends for any tree; the same tree gives the same order; the last rule that fits decides, deeper files over shallower ones.
import type { Dirent, Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { throwIfAborted } from '#base/abort.ts';
import { errorCode, known } from '#base/errors.ts';
import { holdFolder, readRegular } from '#base/paths/open-files.ts';
import { type IgnoreFile, type IgnoreScope, isIgnored, parseIgnoreFile } from '#base/text/glob.ts';

export interface FoundFile {
  readonly path: string;
  /** Relative to the folder that is walked, with `/`. */
  readonly name: string;
  /** It is a link to a file that may lie anywhere. */
  readonly link: boolean;
}

export interface WalkOptions {
  /** Called for folders that were not entered. */
  readonly onSkipped?: (name: string, why: 'unreadable' | 'system' | 'deep') => void;
  /** Called with the number of entries of each folder; what it throws ends the walk. */
  readonly onEntries?: (count: number) => void;
}

/** Files below `folder`, whose path has no links. */
export async function* walkFolder(
  folder: string,
  options: WalkOptions,
  signal: AbortSignal,
): AsyncGenerator<FoundFile> {
  const scopes = await outerScopes(folder);
  yield* walkLevel({ folder, prefix: '', scopes, options, system: systemFolders() }, signal);
}

interface Level {
  readonly folder: string;
  readonly prefix: string;
  readonly scopes: readonly IgnoreScope[];
  readonly options: WalkOptions;
  readonly system: ReadonlySet<string>;
}

const MAX_DEPTH = 64;
const KERNEL_TYPES =
  /^(?:proc|sysfs|devtmpfs|devpts|cgroup2?|debugfs|tracefs|securityfs|configfs|pstore|bpf|mqueue|hugetlbfs|binfmt_misc|autofs|efivarfs|fusectl|rpc_pipefs|nsfs|selinuxfs|functionfs)$/;

/** Where the kernel shows itself as files, which block, change while they are read, or never end. */
export function systemFolders(): ReadonlySet<string> {
  const folders = new Set(['/proc', '/sys', '/dev']);
  // No Linux, or no /proc: the three names are what is known.
  const mounts = known(() => readRegular('/proc/self/mountinfo', 16_000_000).toString('utf8')) ?? '';
  for (const line of mounts.split('\n')) {
    const [before = '', after = ''] = line.split(' - ');
    const place = before.split(' ')[4];
    if (place !== undefined && KERNEL_TYPES.test(after.split(' ')[0] ?? '')) folders.add(unescaped(place));
  }
  return folders;
}

function unescaped(place: string): string {
  return place.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

async function* walkLevel(level: Level, signal: AbortSignal, depth = 0): AsyncGenerator<FoundFile> {
  throwIfAborted(signal);
  const entries = await readEntries(level);
  level.options.onEntries?.(entries.length);
  const scopes = scopesHere(level, entries);
  for (const entry of entries) {
    const name = level.prefix + entry.name;
    const path = join(level.folder, entry.name);
    if (isLeftOut(entry, name, scopes)) continue;
    if (!entry.isDirectory()) {
      if (await isReadable(entry, path)) yield { path, name, link: entry.isSymbolicLink() };
    } else if (isEntered(level, { name, path, depth }))
      yield* walkLevel({ ...level, folder: path, prefix: `${name}/`, scopes }, signal, depth + 1);
  }
}

interface Below {
  readonly name: string;
  readonly path: string;
  readonly depth: number;
}

function isEntered({ system, options }: Level, { name, path, depth }: Below): boolean {
  const why = system.has(path) ? 'system' : depth >= MAX_DEPTH ? 'deep' : undefined;
  if (why !== undefined) options.onSkipped?.(name, why);
  return why === undefined;
}

function scopesHere(level: Level, entries: readonly Dirent[]): readonly IgnoreScope[] {
  if (!entries.some((entry) => entry.name === '.gitignore')) return level.scopes;
  const rules = readRules(level.folder);
  return rules ? [...level.scopes, { prefix: level.prefix, above: '', rules }] : level.scopes;
}

function isLeftOut(entry: Dirent, name: string, scopes: readonly IgnoreScope[]): boolean {
  const isFolder = entry.isDirectory();
  return (isFolder && NEVER_ENTERED.has(entry.name)) || isIgnored(name, isFolder, scopes);
}

async function isReadable(entry: Dirent, path: string): Promise<boolean> {
  return entry.isFile() || (entry.isSymbolicLink() && (await factsOf(path))?.isFile() === true);
}

const UNREADABLE: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'ENOENT', 'ENOTDIR', 'ELOOP', 'path-moved']);

async function readEntries({ folder, prefix, options }: Level): Promise<readonly Dirent[]> {
  try {
    const held = holdFolder(folder);
    try {
      const entries = await readdir(held.name, { withFileTypes: true });
      return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    } finally {
      held.close();
    }
  } catch (error) {
    if (!UNREADABLE.has(errorCode(error) ?? '')) throw error;
    options.onSkipped?.(prefix, 'unreadable');
    return [];
  }
}

const MAX_RULES_BYTES = 4_000_000;

function readRules(folder: string): IgnoreFile | undefined {
  return known(() => parseIgnoreFile(readRegular(join(folder, '.gitignore'), MAX_RULES_BYTES).toString('utf8')));
}

/** Rules of the folders above, up to the root of the repository; none when there is no repository. */
async function outerScopes(folder: string): Promise<readonly IgnoreScope[]> {
  const scopes: IgnoreScope[] = [];
  let above = '';
  for (let at = folder; !(await factsOf(join(at, '.git'))); ) {
    const parent = dirname(at);
    if (parent === at) return [];
    above = `${basename(at)}/${above}`;
    at = parent;
    const rules = readRules(at);
    if (rules) scopes.unshift({ prefix: '', above, rules });
  }
  return scopes;
}

/** Of what a path leads to; undefined where the system says no. */
export function factsOf(path: string): Promise<Stats | undefined> {
  return stat(path).catch((error) => {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  });
}

export const NEVER_ENTERED: ReadonlySet<string> = new Set(
  '.git .hg .svn node_modules __pycache__ .venv .tox .mypy_cache .pytest_cache'.split(' '),
);
