// Owns the ContextSource over files: one, a folder, or the files that a run has named before. Each is read through once, never held.
// Invariant: in a folder what is no text or cannot be read is skipped and named; a file that was named itself is refused instead.
import { join } from 'node:path';
import { ok, type Result, refuse } from '#base/result.ts';
import type { ContextSource } from '../context-source.ts';
import { FileBytes } from './file-bytes.ts';
import { findSourceFiles, type SkippedFile } from './find-source-files.ts';
import { indexFile } from './index-file.ts';
import { PartedSource } from './parted-source.ts';
import type { IndexedFile } from './source-description.ts';

export type ContextRefusal = 'context-not-found' | 'context-unreadable' | 'context-binary' | 'context-empty';

export interface FileSourceOptions {
  /** Absolute; the paths of stamps and places are relative to it. */
  readonly root: string;
  /** How one file is told instead of by its path: `-` for what was piped in. */
  readonly name?: string;
  readonly signal?: AbortSignal;
  /** Files below a folder that are not read, by absolute path; they are named among the skipped. */
  readonly leaveOut?: (file: string) => boolean;
}

export interface FileSource {
  readonly source: ContextSource;
  readonly skipped: readonly SkippedFile[];
}

/**
 * @param target absolute path of a file or folder, or the paths of the files themselves, relative to the root, in their order: the stamps of
 * a run, whose hashes the caller compares. Throws the signal's reason.
 */
export async function createFileSource(
  target: string | readonly string[],
  options: FileSourceOptions,
): Promise<Result<FileSource, ContextRefusal>> {
  const { root, name } = options;
  if (typeof target !== 'string') return fromPaths(target, [], true, options);
  const found = await findSourceFiles(target, root);
  if (!found.ok) return found;
  const [only = ''] = found.value.paths;
  const isFile = join(root, only) === join(target);
  if (isFile && name !== undefined) return named(target, name, options);
  if (found.value.paths.length === 0) return refuse('context-empty', `${target} holds no file`);
  const { leaveOut = () => false } = options;
  const left = isFile ? [] : found.value.paths.filter((path) => leaveOut(join(root, path)));
  const paths = found.value.paths.filter((path) => !left.includes(path));
  const skipped = [...found.value.skipped, ...left.map((path) => ({ path, reason: 'left-out' as const }))];
  return fromPaths(paths, skipped, isFile, options);
}

async function named(
  file: string,
  name: string,
  { signal }: FileSourceOptions,
): Promise<Result<FileSource, ContextRefusal>> {
  const indexed = await indexFile(file, name, signal);
  return indexed.ok ? whole([indexed.value], []) : indexed;
}

async function fromPaths(
  paths: readonly string[],
  skipped: readonly SkippedFile[],
  isNamed: boolean,
  { root, signal }: FileSourceOptions,
): Promise<Result<FileSource, ContextRefusal>> {
  const files: IndexedFile[] = [];
  const left: SkippedFile[] = [...skipped];
  for (const path of paths) {
    const indexed = await indexFile(join(root, path), path, signal);
    if (indexed.ok) files.push(indexed.value);
    else if (isNamed) return indexed;
    else left.push({ path, reason: indexed.reason === 'context-binary' ? 'binary' : 'unreadable' });
  }
  if (files.length === 0 && left.length > 0)
    return refuse(reasonOf(left), `none of the ${left.length} files there can be read as text`);
  return whole(files, left);
}

function reasonOf(left: readonly SkippedFile[]): 'context-binary' | 'context-unreadable' {
  return left.some(({ reason }) => reason === 'binary') ? 'context-binary' : 'context-unreadable';
}

function whole(files: readonly IndexedFile[], skipped: readonly SkippedFile[]): Result<FileSource, 'context-empty'> {
  const source = new PartedSource(files, new FileBytes(files), { kind: 'files', files });
  if (source.byte_count > 0) return ok({ source, skipped });
  const paths = files.map(({ path }) => path).join(', ');
  return refuse('context-empty', `there is nothing in ${paths || 'it'}`);
}
