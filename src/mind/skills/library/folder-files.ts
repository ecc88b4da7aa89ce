// Owns reading inside one skill's folder: a named file, SKILL.md itself, the list of supporting files. Knows no header.
// Invariant: nothing outside the folder is ever read, by no path and by no link; what is no text is said, not decoded.
import { type Dirent, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, posix } from 'node:path';
import { errorCode } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { SUPPORT_FOLDERS, type SupportFolder, skillLimits } from '../format/skill-limits.ts';
import { parseIgnoreRules } from './ignore-rules.ts';
import { isInside } from './walk-skills.ts';

export type FileRefusal = 'no-such-file' | 'outside-folder' | 'not-text';

/** Paths below the skill's folder, with `/`, by supporting folder. */
export type LinkedFiles = Readonly<Record<SupportFolder, readonly string[]>>;

const MOST_FILES = 500;
const DEEPEST = 6;
const IGNORE_FILES = ['.skillignore', '.clawhubignore'];

/** Text of the file at `path`, which is relative to `folder`. */
export function readFolderFile(folder: string, path: string): Result<string, FileRefusal> {
  const clean = posix.normalize(path.replaceAll('\\', '/'));
  const leaves = isAbsolute(path) || /^[A-Za-z]:/.test(path) || clean === '..' || clean.startsWith('../');
  if (leaves || path.includes('\0')) return refuse('outside-folder', `${JSON.stringify(path)} leads out of the skill.`);
  try {
    const real = realpathSync(join(folder, clean));
    if (!isInside(realpathSync(folder), real))
      return refuse('outside-folder', `${JSON.stringify(path)} is a link that leads out of the skill.`);
    const read = readText(real, path);
    if (read.ok) return read;
    return refuse(read.reason === 'too-large' ? 'not-text' : read.reason, read.detail);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return refuse('no-such-file', `The skill has no file ${JSON.stringify(path)}.`);
  }
}

/** UTF-8 text of a file of at most 1 MiB. Throws what the file system throws. */
export function readText(path: string, shown: string): Result<string, 'no-such-file' | 'not-text' | 'too-large'> {
  const found = statSync(path);
  if (!found.isFile()) return refuse('no-such-file', `${JSON.stringify(shown)} is no file.`);
  if (found.size > skillLimits.supportBytes)
    return refuse('too-large', `${JSON.stringify(shown)} has ${found.size} bytes; at most 1 MiB is read.`);
  const text = decodeText(readFileSync(path));
  return text === undefined ? refuse('not-text', `${JSON.stringify(shown)} is not UTF-8 text.`) : ok(text);
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Undefined for bytes that are no UTF-8 text. */
function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return decoder.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Supporting files, by name; hidden ones, links and what the ignore files name are left out. */
export function listLinkedFiles(folder: string): LinkedFiles {
  const ignore = parseIgnoreRules(IGNORE_FILES.map((name) => textOrNothing(folder, name)).join('\n'));
  const list = (name: SupportFolder) => [...filesBelow(folder, name, 0)].filter((path) => !ignore.ignores(path));
  const entries = SUPPORT_FOLDERS.map((name) => [name, list(name).slice(0, MOST_FILES)] as const);
  return Object.fromEntries(entries) as unknown as LinkedFiles;
}

function textOrNothing(folder: string, path: string): string {
  const read = readFolderFile(folder, path);
  return read.ok ? read.value : '';
}

function* filesBelow(folder: string, below: string, depth: number): Generator<string, void, undefined> {
  for (const entry of entriesOf(join(folder, below))) {
    if (entry.name.startsWith('.')) continue;
    const path = `${below}/${entry.name}`;
    if (entry.isFile()) yield path;
    else if (entry.isDirectory() && depth < DEEPEST) yield* filesBelow(folder, path, depth + 1);
  }
}

function entriesOf(path: string): readonly Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return [];
  }
}
