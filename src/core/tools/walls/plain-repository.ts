// Owns whether git can be asked in a folder without running anything that files there name: drivers, monitors, hooks.
// Knows no command and no wall. Invariant: a doubt (a link, a file that cannot be read whole) is a no; folders are looked through upwards
// as git does, so that the repository that is judged is the one that git would find.
import { lstatSync, readdirSync, realpathSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode } from '#base/errors.ts';
import { readRegular } from '#base/paths/open-files.ts';
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
  if (lookAt(join(folder, 'HEAD'))) return false;
  const git = join(folder, '.git');
  if (lookAt(git)) return isPlainRepository(git);
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
    parts.every((path) => lookAt(path)?.isDirectory()) &&
    !readdirSync(git).some((name) => TELLING.test(name)) &&
    !lookAt(join(git, 'hooks/post-index-change')) &&
    HEAD.test(wholeFile(join(git, 'HEAD'))?.toString() ?? '') &&
    isHarmlessConfig(join(git, 'config')) &&
    !mayHoldSubmodules(join(git, 'index'))
  );
}

/** Only settings that run nothing; also where there is no such file. */
export function isHarmlessConfig(path: string): boolean {
  if (!lookAt(path)) return true;
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
  return lookAt(index) !== undefined && wholeFile(index, LARGEST_INDEX)?.includes(SUBMODULE) !== false;
}

const LARGEST = 1_000_000;
const LARGEST_INDEX = 64_000_000;

/** Undefined for a link and for what is no regular file, is too large or cannot be read. */
function wholeFile(path: string, most = LARGEST): Buffer | undefined {
  try {
    return lookAt(path)?.isFile() ? readRegular(path, most, 'link-free') : undefined;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}

/** Of a link itself. */
function lookAt(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}
