// Owns what a skill's folder holds at one moment: reading it whole, hashing it, comparing two. Knows no door and no format.
// Invariants: reading never follows a link and never leaves the folder; equal content gives equal hashes on every machine; hidden
// names and links are no part of a skill.
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ifThere } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { SKILL_FILE } from '../format/skill-text.ts';

export interface SkillFile {
  /** Below the skill's folder, parted by `/`. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** The owner may run it. */
  readonly executable: boolean;
}

/** Files by path, in the order of their paths. */
export type SkillTree = ReadonlyMap<string, SkillFile>;

const MAX_FILES = 1_000;
const MAX_BYTES = 64 * 1_048_576;

/** Undefined when there is no such folder. Throws the system's error for a folder that cannot be read. */
export function readSkillTree(folder: string): Result<SkillTree | undefined, 'too-large'> {
  if (!isFolder(folder)) return ok(undefined);
  const files: SkillFile[] = [];
  let bytes = 0;
  for (const { path, isFile } of entriesBelow(folder, isHidden)) {
    if (!isFile) continue;
    const stats = lstatSync(join(folder, path));
    bytes += stats.size;
    if (files.length >= MAX_FILES || bytes > MAX_BYTES)
      return refuse(
        'too-large',
        `${folder} holds more than ${MAX_FILES} files or ${MAX_BYTES / 1_048_576} MiB; that is no skill to be changed here.`,
      );
    files.push({ path, bytes: readFileSync(join(folder, path)), executable: (stats.mode & 0o100) !== 0 });
  }
  return ok(treeOf(files));
}

export function treeOf(files: Iterable<SkillFile>): SkillTree {
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  return new Map(sorted.map((file) => [file.path, file]));
}

/** More than `readSkillTree` would read again. */
export function tooLarge(files: readonly SkillFile[]): boolean {
  return files.length > MAX_FILES || files.reduce((sum, file) => sum + file.bytes.length, 0) > MAX_BYTES;
}

/** A path that would have to be a file and a folder. */
export function clashIn(tree: SkillTree): string | undefined {
  const folders = [...tree.keys()].flatMap((path) => {
    const parts = path.split('/');
    return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('/'));
  });
  return folders.find((folder) => tree.has(folder));
}

/** `tree` with one file put in, replaced, or (without bytes) taken out. */
export function withFile(tree: SkillTree, path: string, bytes: Uint8Array | undefined): SkillTree {
  const executable = tree.get(path)?.executable ?? false;
  return withFileOf(tree, path, bytes && { path, bytes, executable });
}

/** `tree` with `file` at its path, or without one there. */
export function withFileOf(tree: SkillTree, path: string, file: SkillFile | undefined): SkillTree {
  const rest = [...tree.values()].filter((other) => other.path !== path);
  return treeOf(file === undefined ? rest : [...rest, file]);
}

/** SHA-256 hex over every path and its content; null for no folder. */
export function hashSkillTree(tree: SkillTree | undefined): string | null {
  if (tree === undefined) return null;
  return sha256([...tree.values()].map(({ path, bytes }) => `${path}\0${sha256(bytes)}\n`).join(''));
}

/** For `ProposalLedger.reconcile`: the hash of the folder as it stands; null when it is not there. */
export function hashSkillFolder(folder: string): string | null {
  const tree = readSkillTree(folder);
  return tree.ok ? hashSkillTree(tree.value) : 'too-large';
}

/** SHA-256 hex of SKILL.md, which callers know as the skill's hash; null when there is none. */
export function hashOfSkillFile(tree: SkillTree | undefined): string | null {
  return hashOfFile(tree, SKILL_FILE);
}

export function hashOfFile(tree: SkillTree | undefined, path: string): string | null {
  return hashOfOne(tree?.get(path));
}

/** SHA-256 hex; null when there is no file. */
export function hashOfOne(file: SkillFile | undefined): string | null {
  return file === undefined ? null : sha256(file.bytes);
}

export interface FileChange {
  readonly path: string;
  readonly before: SkillFile | undefined;
  readonly after: SkillFile | undefined;
}

/** What differs, by path. */
export function changesBetween(before: SkillTree | undefined, after: SkillTree | undefined): readonly FileChange[] {
  const paths = new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])]);
  return [...paths]
    .sort()
    .map((path) => ({ path, before: before?.get(path), after: after?.get(path) }))
    .filter((change) => !isSame(change.before, change.after));
}

function isSame(a: SkillFile | undefined, b: SkillFile | undefined): boolean {
  return a !== undefined && b !== undefined && Buffer.compare(a.bytes, b.bytes) === 0;
}

/** Valid UTF-8 or undefined; a byte order mark stays. */
export function textOf(file: SkillFile | undefined): string | undefined {
  return file && utf8Text(file.bytes);
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Undefined for bytes that are no UTF-8 text; a byte order mark stays. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Is there a folder that is no link? */
function isFolder(path: string): boolean {
  return ifThere(() => lstatSync(path).isDirectory(), ['ENOENT', 'ENOTDIR']) ?? false;
}

export const isHidden = (name: string): boolean => name.startsWith('.');

/** What is no folder below a folder, links among it, by name; `path` is parted by `/`. No link is followed. */
export function* entriesBelow(
  folder: string,
  skips: (name: string) => boolean,
  deepest = Number.POSITIVE_INFINITY,
  below = '',
): Generator<{ readonly path: string; readonly isFile: boolean }> {
  const entries = readdirSync(join(folder, below), { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (skips(entry.name)) continue;
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (!entry.isDirectory()) yield { path, isFile: entry.isFile() };
    else if (deepest > 0) yield* entriesBelow(folder, skips, deepest - 1, path);
  }
}
