// Owns what git takes for a repository and reads by itself: where a `.git` file leads, submodules, and whether git can be asked in a folder
// without running anything that files there name (drivers, monitors, hooks). Knows no command and no mount. Invariants: a doubt (a link, a file
// that cannot be read whole) is a no; folders are looked through upwards as git does, so that the repository that is judged is the one it finds.
import { lstatSync, readdirSync, realpathSync, type Stats } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { errorCode, known } from '#base/errors.ts';
import { readRegular } from '#base/paths/open-files.ts';
import { kindsOf, lookAt, realPathOf } from './mounts.ts';
import { HARMLESS_GIT_SETTING } from './places.rules.ts';

/** True also where there is no repository: git does nothing there. */
export function isGitHarmlessIn(folder: string): boolean {
  try {
    return isHarmlessUpFrom(realpathSync.native(folder));
  } catch (error) {
    // Nothing can run in a folder that is not there.
    if (errorCode(error) === 'ENOENT') return true;
    if (errorCode(error) === undefined) throw error;
    return false;
  }
}

function isHarmlessUpFrom(folder: string): boolean {
  // A folder with a HEAD may be a repository itself, whose settings lie among the files of the folder.
  if (entryAt(join(folder, 'HEAD'))) return false;
  const git = join(folder, '.git');
  if (entryAt(git)) return isPlainRepository(git);
  const above = dirname(folder);
  return above === folder || isHarmlessUpFrom(above);
}

const HEAD = /^(?:ref: refs\/\S+|[0-9a-f]{40}|[0-9a-f]{64})\s*$/;
/** Settings and refs that lie elsewhere; entries of the index that do. */
const TELLING = /^(?:commondir|sharedindex\..*)$/;

/** What git takes for no repository would send it on to the folders above. */
function isPlainRepository(git: string): boolean {
  const parts = [git, join(git, 'objects'), join(git, 'refs')];
  return (
    parts.every((path) => entryAt(path)?.isDirectory()) &&
    !readdirSync(git).some((name) => TELLING.test(name)) &&
    !entryAt(join(git, 'hooks/post-index-change')) &&
    HEAD.test(wholeFile(join(git, 'HEAD'))?.toString() ?? '') &&
    isHarmlessConfig(join(git, 'config')) &&
    !mayHoldSubmodules(join(git, 'index'))
  );
}

/** Only settings that run nothing; also where there is no such file. */
export function isHarmlessConfig(path: string): boolean {
  if (!entryAt(path)) return true;
  const lines = wholeFile(path)?.toString().split('\n');
  return lines?.every(isHarmlessLine) ?? false;
}

/** A line that goes on in the next one may say anything. */
export function isHarmlessLine(line: string): boolean {
  return HARMLESS_GIT_SETTING.test(line) && !/\\\r?$/.test(line);
}

/** The mode of an entry that is a repository of its own: git reads its settings as well. The bytes may stand there by chance. */
const SUBMODULE = Buffer.from([0, 0, 0xe0, 0]);

function mayHoldSubmodules(index: string): boolean {
  return entryAt(index) !== undefined && wholeFile(index, LARGEST_INDEX)?.includes(SUBMODULE) !== false;
}

const LARGEST = 1_000_000;
const LARGEST_INDEX = 64_000_000;

/** Undefined for a link and for what is no regular file, is too large or cannot be read. */
function wholeFile(path: string, most = LARGEST): Buffer | undefined {
  return known(() => (entryAt(path)?.isFile() ? readRegular(path, most, 'link-free') : undefined));
}

/** Of a link itself. */
function entryAt(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** The git folder that a `.git` file names. */
export function gitOf(file: string): string | undefined {
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

/**
 * All folders below `modules` of a git folder: names of submodules may hold slashes, and what is no module has no hooks. What was found
 * `before` is looked at again, whatever else is there now.
 */
export function modulesBelow(git: string, before: ReadonlySet<string> | undefined) {
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
    const inner = entries.filter((entry) => entry.isDirectory() && !(isModule && NO_MODULES.has(entry.name)));
    queue.push(...inner.map(({ name }) => join(path, name)));
  }
  return { folders: found, isCut };
}

/** Of git itself, in each of its folders: no module is kept in them. */
const NO_MODULES = new Set([
  'objects',
  'refs',
  'logs',
  'hooks',
  'info',
  'branches',
  'lfs',
  'worktrees',
  'rebase-merge',
]);

export function isPlainFolder(path: string): boolean {
  const facts = lookAt(path);
  return facts !== 'closed' && facts?.isDirectory() === true;
}

/** Undefined for what is no file, or too large to be one of git's. */
export function textIn(path: string): string | undefined {
  return lookAt(path) === undefined ? undefined : known(() => readRegular(path, LARGEST).toString());
}

export function textOf(path: string): string {
  return textIn(path) ?? '';
}
