// Owns the ContextSource over files: one, a folder, or the files that a run has named before. Each is read through once, never held;
// and what is piped in, kept as a file named by its content: whole or not there, 0600 in a folder 0700.
// Invariant: in a folder what is no text or cannot be read is skipped and named; a file that was named itself is refused instead.
import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { throwIfAborted } from '#base/abort.ts';
import { syncFolder } from '#base/atomic-write.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { comparePaths } from '../scaffold/chunks.ts';
import { FileBytes } from './file-bytes.ts';
import { type ContextSource, type IndexedFile, LineCounter, PartedSource, type SourcePart } from './parted-source.ts';

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
  { root, name, signal, leaveOut }: FileSourceOptions,
): Promise<Result<FileSource, ContextRefusal>> {
  const found = await findSourceFiles(target, root, MOST_FILES, leaveOut);
  if (!found.ok) return found;
  const { paths, isFile } = found.value;
  const skipped = [...found.value.skipped];
  if (paths.length + skipped.length === 0) return refuse('context-empty', `${target} holds no file`);
  const files: IndexedFile[] = [];
  for (const path of paths) {
    const indexed = await indexFile(join(root, path), name ?? path, signal);
    if (!indexed.ok && isFile) return indexed;
    if (indexed.ok) files.push(indexed.value);
    else skipped.push(unread(path, indexed.reason));
  }
  return whole(files, skipped);
}

function unread(path: string, reason: ContextRefusal): SkippedFile {
  return { path, reason: reason === 'context-binary' ? 'binary' : 'unreadable' };
}

function whole(files: readonly IndexedFile[], skipped: readonly SkippedFile[]): Result<FileSource, ContextRefusal> {
  const reason = skipped.some((one) => one.reason === 'binary') ? 'context-binary' : 'context-unreadable';
  if (files.length === 0) return refuse(reason, `none of the ${skipped.length} files there can be read as text`);
  const source = new PartedSource(files, new FileBytes(files), { kind: 'files', files });
  if (source.byte_count > 0) return ok({ source, skipped });
  return refuse('context-empty', `there is nothing in ${files.map(({ path }) => path).join(', ')}`);
}

const NEVER: ReadonlySet<string> = new Set(['.git', '__pycache__', 'node_modules']);

interface SkippedFile {
  /** Relative to the root. */
  readonly path: string;
  readonly reason: 'binary' | 'unreadable' | 'link' | 'no-file' | 'left-out';
}

export interface FoundFiles {
  /** Relative to the root, `/` between parts. */
  readonly paths: readonly string[];
  readonly skipped: readonly SkippedFile[];
  /** The target is the file itself. */
  readonly isFile: boolean;
}

/** More than any folder of work; a whole disk is no context. */
const MOST_FILES = 100_000;

interface Walk {
  readonly paths: string[];
  readonly skipped: SkippedFile[];
  readonly most: number;
  readonly leaveOut: (file: string) => boolean;
}

/**
 * @param target absolute, a file or a folder @param root absolute; paths are told relative to it
 * @param most files that a folder may hold, those that are skipped counted in
 */
export async function findSourceFiles(
  target: string | readonly string[],
  root: string,
  most = MOST_FILES,
  leaveOut: (file: string) => boolean = () => false,
): Promise<Result<FoundFiles, ContextRefusal>> {
  if (typeof target !== 'string') return ok({ paths: target, skipped: [], isFile: true });
  try {
    const found = await stat(target);
    if (found.isFile()) return ok({ paths: [told(root, target)], skipped: [], isFile: true });
    if (!found.isDirectory())
      return refuse('context-unreadable', `${target} is no file and no folder; pipe it in and name it -`);
    const files: Walk = { paths: [], skipped: [], most, leaveOut };
    await walk(target, root, files);
    if (isTooMuch(files))
      return refuse('context-unreadable', `${target} holds more than ${most} files; name a part of it`);
    const skipped = files.skipped.sort((left, right) => comparePaths(left.path, right.path));
    return ok({ paths: files.paths.sort(comparePaths), skipped, isFile: false });
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
    const reason = whySkipped(entry, path, found);
    if (entry.isDirectory()) await walkReadable(path, root, found);
    else if (reason === null) found.paths.push(told(root, path));
    else found.skipped.push({ path: told(root, path), reason });
  }
}

function whySkipped(entry: Stats, path: string, { leaveOut }: Walk): SkippedFile['reason'] | null {
  if (entry.isSymbolicLink()) return 'link';
  if (!entry.isFile()) return 'no-file';
  return leaveOut(path) ? 'left-out' : null;
}

async function walkReadable(folder: string, root: string, found: Walk): Promise<void> {
  try {
    await walk(folder, root, found);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    found.skipped.push({ path: told(root, folder), reason: 'unreadable' });
  }
}

function told(root: string, path: string): string {
  return relative(root, path).replaceAll('\\', '/');
}

const BLOCK = 1_048_576;
/** A zero byte this early means that it is no text, as git has it. */
const PROBE = 8_000;

/** A pipe would wait for somebody who writes into it. */
const AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK;

/** @param file absolute @param path as it is told. Throws the signal's reason. */
async function indexFile(
  file: string,
  path: string,
  signal?: AbortSignal,
): Promise<Result<IndexedFile, ContextRefusal>> {
  try {
    const handle = await open(file, AT_ONCE);
    try {
      const found = await handle.stat();
      if (!found.isFile()) return refuse('context-unreadable', `${path} is no file`);
      const { mtimeMs: modified } = found;
      const scanned = await scan(handle, signal);
      if (scanned === undefined) return refuse('context-binary', `${path} is no text: it begins with zero bytes`);
      return ok({ file, path, modified, ...scanned });
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (signal?.aborted || errorCode(error) === undefined) throw error;
    if (errorCode(error) === 'ENOENT') return refuse('context-not-found', `there is no ${path}`);
    return refuse('context-unreadable', `cannot read ${path}: ${errorText(error)}`);
  }
}

/** Undefined: it is no text. */
async function scan(handle: FileHandle, signal?: AbortSignal): Promise<Omit<SourcePart, 'path'> | undefined> {
  const hash = createHash('sha256');
  const lines = new LineCounter();
  const block = Buffer.alloc(BLOCK);
  for (let at = 0; ; ) {
    if (signal !== undefined) throwIfAborted(signal);
    const { bytesRead } = await handle.read(block, 0, BLOCK, at);
    const bytes = block.subarray(0, bytesRead);
    if (at === 0 && isBinary(bytes)) return undefined;
    if (bytesRead === 0) return { hash: `sha256:${hash.digest('hex')}`, ...lines.lines() };
    hash.update(bytes);
    lines.add(bytes);
    at += bytesRead;
  }
}

function isBinary(beginning: Uint8Array): boolean {
  return beginning.subarray(0, PROBE).includes(0);
}

/** Gives the absolute path. Throws TalariaError `disk-full` | `spool-failed`, or the signal's reason; then no file is left. */
export async function spoolInput(
  input: AsyncIterable<Uint8Array | string>,
  folder: string,
  signal?: AbortSignal,
): Promise<Result<string, 'context-empty' | 'context-binary'>> {
  const temp = join(folder, `.tmp_spool_${randomHex(6)}`);
  let made = false;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    made = true;
    const written = await write(input, temp, signal);
    if (!written.ok) return written;
    const path = join(folder, `${written.value}.txt`);
    await rename(temp, path);
    syncFolder(folder);
    return ok(path);
  } catch (error) {
    if (signal?.aborted || errorCode(error) === undefined) throw error;
    const code = errorCode(error) === 'ENOSPC' ? 'disk-full' : 'spool-failed';
    throw new TalariaError(`cannot keep the input in ${folder}: ${errorText(error)}`, { code, cause: error });
  } finally {
    if (made) await rm(temp, { force: true });
  }
}

/** Gives the hash, in hex. */
async function write(
  input: AsyncIterable<Uint8Array | string>,
  temp: string,
  signal?: AbortSignal,
): Promise<Result<string, 'context-empty' | 'context-binary'>> {
  const file = await open(temp, 'wx', 0o600);
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const block of input) {
      if (signal !== undefined) throwIfAborted(signal);
      const piece = typeof block === 'string' ? Buffer.from(block) : block;
      if (bytes === 0 && isBinary(piece)) return refuse('context-binary', 'what was piped in is no text');
      hash.update(piece);
      await file.writeFile(piece);
      bytes += piece.length;
    }
    if (bytes === 0) return refuse('context-empty', 'nothing was piped in');
    await file.sync();
    return ok(hash.digest('hex'));
  } finally {
    await file.close();
  }
}
