// Owns which files a target stands for: itself, or what lies below it. Opens none of them.
// Invariant: the order is that of comparePaths, so that it is the same on every machine; what is left out is named.
import { lstat, readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { errorCode, errorText } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { comparePaths } from '../../chunk/select-chunks.ts';

const NEVER: ReadonlySet<string> = new Set(['.git', '__pycache__', 'node_modules']);

export interface SkippedFile {
  /** Relative to the root. */
  readonly path: string;
  readonly reason: 'binary' | 'unreadable' | 'link' | 'no-file' | 'left-out';
}

export interface FoundFiles {
  /** Relative to the root, `/` between parts. */
  readonly paths: readonly string[];
  readonly skipped: readonly SkippedFile[];
}

/** More than any folder of work; a whole disk is no context. */
const MOST_FILES = 100_000;

export type FindRefusal = 'context-not-found' | 'context-unreadable';

interface Walk {
  readonly paths: string[];
  readonly skipped: SkippedFile[];
  readonly most: number;
}

/**
 * @param target absolute, a file or a folder @param root absolute; paths are told relative to it
 * @param most files that a folder may hold, those that are skipped counted in
 */
export async function findSourceFiles(
  target: string,
  root: string,
  most = MOST_FILES,
): Promise<Result<FoundFiles, FindRefusal>> {
  try {
    const found = await stat(target);
    if (found.isFile()) return ok({ paths: [told(root, target)], skipped: [] });
    if (!found.isDirectory())
      return refuse('context-unreadable', `${target} is no file and no folder; pipe it in and name it -`);
    const files: Walk = { paths: [], skipped: [], most };
    await walk(target, root, files);
    if (isTooMuch(files))
      return refuse('context-unreadable', `${target} holds more than ${most} files; name a part of it`);
    return ok({ paths: files.paths.sort(comparePaths), skipped: sorted(files.skipped) });
  } catch (error) {
    const missing = errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR';
    if (missing) return refuse('context-not-found', `there is no ${target}`);
    return refuse('context-unreadable', `cannot read ${target}: ${errorText(error)}`);
  }
}

function isTooMuch({ paths, skipped, most }: Walk): boolean {
  return paths.length + skipped.length > most;
}

async function walk(folder: string, root: string, found: Walk): Promise<void> {
  const names = (await readdir(folder)).filter((name) => !NEVER.has(name));
  for (const name of names) {
    if (isTooMuch(found)) return;
    const path = join(folder, name);
    const entry = await lstat(path);
    if (entry.isFile()) found.paths.push(told(root, path));
    else if (entry.isDirectory()) await walkReadable(path, root, found);
    else found.skipped.push({ path: told(root, path), reason: entry.isSymbolicLink() ? 'link' : 'no-file' });
  }
}

async function walkReadable(folder: string, root: string, found: Walk): Promise<void> {
  try {
    await walk(folder, root, found);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    found.skipped.push({ path: told(root, folder), reason: 'unreadable' });
  }
}

function sorted(skipped: readonly SkippedFile[]): readonly SkippedFile[] {
  return [...skipped].sort((left, right) => comparePaths(left.path, right.path));
}

function told(root: string, path: string): string {
  return relative(root, path).replaceAll('\\', '/');
}
