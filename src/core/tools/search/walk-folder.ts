// Owns walking a folder in a fixed order (by name), leaving out what ignore rules name. Links to folders are not followed.
// Knows no search. Invariant: ends for any tree, memory holds one level per depth, the same tree gives the same order.
import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { throwIfAborted } from '#base/abort.ts';
import { errorCode } from '#base/errors.ts';
import { type IgnoreScope, isIgnored, NEVER_ENTERED, parseIgnoreFile } from './ignore-rules.ts';

export interface FoundFile {
  readonly path: string;
  /** Relative to the folder that is walked, with `/`. */
  readonly name: string;
  /** It is a link to a file that may lie anywhere. */
  readonly link: boolean;
}

export interface WalkOptions {
  /** Called for folders that could not be read. */
  readonly onSkipped?: (name: string) => void;
}

/** Files below `folder`, or the file itself. */
export async function* walkFolder(
  folder: string,
  options: WalkOptions,
  signal: AbortSignal,
): AsyncGenerator<FoundFile> {
  const scopes = await outerScopes(folder);
  yield* walkLevel({ folder, prefix: '', scopes, options }, signal);
}

interface Level {
  readonly folder: string;
  readonly prefix: string;
  readonly scopes: readonly IgnoreScope[];
  readonly options: WalkOptions;
}

const MAX_DEPTH = 64;

async function* walkLevel(level: Level, signal: AbortSignal, depth = 0): AsyncGenerator<FoundFile> {
  throwIfAborted(signal);
  const entries = await readEntries(level);
  const scopes = await scopesHere(level, entries);
  for (const entry of entries) {
    const name = level.prefix + entry.name;
    const path = join(level.folder, entry.name);
    if (isLeftOut(entry, name, scopes)) continue;
    if (!entry.isDirectory()) {
      if (await isReadable(entry, path)) yield { path, name, link: entry.isSymbolicLink() };
    } else if (depth < MAX_DEPTH)
      yield* walkLevel({ ...level, folder: path, prefix: `${name}/`, scopes }, signal, depth + 1);
  }
}

async function scopesHere(level: Level, entries: readonly Dirent[]): Promise<readonly IgnoreScope[]> {
  if (!entries.some((entry) => entry.name === '.gitignore')) return level.scopes;
  const rules = await readRules(level.folder);
  return rules ? [...level.scopes, { prefix: level.prefix, above: '', rules }] : level.scopes;
}

function isLeftOut(entry: Dirent, name: string, scopes: readonly IgnoreScope[]): boolean {
  const isFolder = entry.isDirectory();
  return (isFolder && NEVER_ENTERED.has(entry.name)) || isIgnored(name, isFolder, scopes);
}

async function isReadable(entry: Dirent, path: string): Promise<boolean> {
  return entry.isFile() || (entry.isSymbolicLink() && (await leadsToFile(path)));
}

async function readEntries({ folder, prefix, options }: Level): Promise<readonly Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (!['EACCES', 'EPERM', 'ENOENT', 'ENOTDIR', 'ELOOP'].includes(errorCode(error) ?? '')) throw error;
    options.onSkipped?.(prefix);
    return [];
  }
}

async function leadsToFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return false;
  }
}

async function readRules(folder: string): Promise<ReturnType<typeof parseIgnoreFile> | undefined> {
  try {
    return parseIgnoreFile(await readFile(join(folder, '.gitignore'), 'utf8'));
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}

/** Rules of the folders above, up to the root of the repository; none when there is no repository. */
async function outerScopes(folder: string): Promise<readonly IgnoreScope[]> {
  const scopes: IgnoreScope[] = [];
  let above = '';
  for (let at = folder; !(await exists(join(at, '.git'))); ) {
    const parent = dirname(at);
    if (parent === at) return [];
    above = `${basename(at)}/${above}`;
    at = parent;
    const rules = await readRules(at);
    if (rules) scopes.unshift({ prefix: '', above, rules });
  }
  return scopes;
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return false;
  }
}
