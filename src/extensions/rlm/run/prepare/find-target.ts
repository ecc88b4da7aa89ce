// Owns what a target is: a file, a folder with its files, or a text. Reads names and sizes, no content. Notes 13.5.
// Invariant: links are not followed; what is no file of text stays named; the order is that of sorted paths, on every machine.
import { type Dirent, readdirSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { errorCode, errorText } from '#base/errors.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { comparePaths, isSkippedPath } from '../../chunk/select-chunks.ts';
import type { SkippedFile } from '../run-request.ts';

export interface FoundFile {
  /** Relative to the root, with `/`. */
  readonly path: string;
  readonly absolute: string;
}

export interface FoundPath {
  readonly kind: 'path';
  readonly root: string;
  readonly isFolder: boolean;
  readonly files: readonly FoundFile[];
  readonly skipped: readonly SkippedFile[];
}

export type FoundTarget = FoundPath | { readonly kind: 'prompt'; readonly root: string; readonly text: string };

export type TargetRefusal =
  | 'target-blank'
  | 'target-missing'
  | 'target-empty'
  | 'target-binary'
  | 'target-unreadable'
  | 'target-too-large';

export interface TargetGround {
  readonly cwd: string;
  readonly userHome: string;
  /** Files of a folder that stay out; one that is named itself is the person's word. */
  readonly isSecret?: (absolute: string) => boolean;
}

const MOST_FILES = 100_000;
const LONGEST_TEXT = 200_000;

export function findTarget(typed: string, ground: TargetGround): Result<FoundTarget, TargetRefusal> {
  if (typed.trim() === '') return refuse('target-blank', 'name a file, a folder or a text to read');
  const absolute = typedPath(typed, ground);
  const stats = statOf(absolute);
  if (!stats.ok) return refuse('target-unreadable', `${typed} cannot be read (${stats.detail})`);
  if (stats.value === undefined) return textTarget(typed, ground);
  const root = isInside(ground.cwd, absolute) ? ground.cwd : dirname(absolute);
  const path = relative(root, absolute).split(sep).join('/');
  if (stats.value.isDirectory()) return folderTarget({ path, absolute, root }, typed, ground);
  if (!stats.value.isFile()) return refuse('target-unreadable', `${typed} is neither a file nor a folder`);
  return ok({ kind: 'path', root, isFolder: false, files: [{ path, absolute }], skipped: [] });
}

/** Undefined: nothing is there, or the name can be none. */
function statOf(path: string): Result<Stats | undefined, 'unreadable'> {
  try {
    return ok(statSync(path));
  } catch (error) {
    const code = errorCode(error) ?? '';
    if (/^(?:ENOENT|ENOTDIR|ENAMETOOLONG|ERR_INVALID_ARG_VALUE)$/.test(code)) return ok(undefined);
    return refuse('unreadable', errorText(error));
  }
}

function isInside(cwd: string, path: string): boolean {
  const from = relative(cwd, path);
  return !(from === '..' || from.startsWith(`..${sep}`) || isAbsolute(from));
}

function textTarget(text: string, { cwd }: TargetGround): Result<FoundTarget, TargetRefusal> {
  if (looksLikePath(text))
    return refuse('target-missing', `there is no file or folder ${text}; a text to read has several words`);
  if (text.includes('\0')) return refuse('target-binary', 'a text as target has no NUL character; name a file of text');
  if (text.length > LONGEST_TEXT)
    return refuse('target-too-large', `a text as target has ${LONGEST_TEXT} characters at most; put it into a file`);
  return ok({ kind: 'prompt', root: cwd, text: text.toWellFormed() });
}

/** One word, or something that begins as paths do. */
function looksLikePath(text: string): boolean {
  return !/\s/.test(text.trim()) || /^(?:~?[/\\]|\.{1,2}[/\\]|[A-Za-z]:[/\\])\S*$/.test(text.trim());
}

interface Folder {
  readonly path: string;
  readonly absolute: string;
  readonly root: string;
}

function folderTarget(
  folder: Folder,
  typed: string,
  { isSecret = () => false }: TargetGround,
): Result<FoundTarget, TargetRefusal> {
  const files: FoundFile[] = [];
  const skipped: SkippedFile[] = [];
  const open: Folder[] = [folder];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const entries = entriesOf(next.absolute);
    if (entries === undefined && next === folder) return refuse('target-unreadable', `${typed} cannot be read`);
    if (entries === undefined) skipped.push({ path: next.path, reason: 'unreadable' });
    for (const entry of entries ?? []) sortEntry(entry, next, { open, files, skipped });
    if (files.length > MOST_FILES)
      return refuse('target-too-large', `${typed} holds more than ${MOST_FILES} files; name a folder of it`);
  }
  const shown = files.filter(({ absolute }) => !isSecret(absolute));
  const hidden = new Set(files).difference(new Set(shown));
  for (const { path } of hidden) skipped.push({ path, reason: 'secret' });
  shown.sort((one, other) => comparePaths(one.path, other.path));
  skipped.sort((one, other) => comparePaths(one.path, other.path));
  return ok({ kind: 'path', root: folder.root, isFolder: true, files: shown, skipped });
}

interface Sorted {
  readonly open: Folder[];
  readonly files: FoundFile[];
  readonly skipped: SkippedFile[];
}

function sortEntry(entry: Dirent, { path, absolute, root }: Folder, { open, files, skipped }: Sorted): void {
  const own = path === '' ? entry.name : `${path}/${entry.name}`;
  if (isSkippedPath(entry.name)) return;
  if (entry.isDirectory()) open.push({ path: own, absolute: join(absolute, entry.name), root });
  else if (entry.isFile()) files.push({ path: own, absolute: join(absolute, entry.name) });
  else skipped.push({ path: own, reason: 'not_a_file' });
}

function entriesOf(path: string): readonly Dirent[] | undefined {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    // Whoever calls names the folder as unreadable.
    return errorCode(error) === undefined ? raise(error) : undefined;
  }
}

function raise(error: unknown): never {
  throw error;
}
