// Owns finding and reading SKILL.md files on disk, for the search (curator notes 6), the validator (14) and a run (8.3).
import { type Dirent, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorCode, errorText, known } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { comparePoints } from '#base/text/code-points.ts';
import { withoutBlock } from '#mind/skills/format/skill-text.ts';
import type { SkillFileInput } from './block/structural-check.ts';

const FILE = 'SKILL.md';
/** Folders of what was removed or replaced (decision 0019): nobody is to be led back to it. */
const KEPT_ASIDE: ReadonlySet<string> = new Set(['.archive', '.curator_backups', '.hub']);

/** Of every SKILL.md below a folder; links to folders are not followed. `onFault`: for a folder that cannot be read. */
function skillFilesBelow(
  root: string,
  isPassed: (name: string) => boolean,
  onFault: (path: string, e: unknown) => void,
) {
  const found: string[] = [];
  const waiting = [root];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of entriesOf(folder, onFault)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !isPassed(entry.name)) waiting.push(path);
      else if (entry.name === FILE && !entry.isDirectory()) found.push(path);
    }
  }
  return found.sort(comparePoints);
}

function entriesOf(folder: string, onFault: (path: string, error: unknown) => void): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    onFault(folder, error);
    return [];
  }
}

/** A skill as the caller names it; `path` of its SKILL.md is carried through. */
export interface RankableSkill {
  readonly name: string;
  readonly path: string;
  readonly text: string;
}

/** Named after their folders, without managed blocks; bytes that are no UTF-8 become U+FFFD. A folder that is not there has no skills. */
export function readSkillFiles(root: string): {
  readonly skills: readonly RankableSkill[];
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  const onFault = (path: string, error: unknown) => {
    if (errorCode(error) !== 'ENOENT') problems.push(`${path}: ${errorText(error)}`);
  };
  const skills = skillFilesBelow(root, (name) => KEPT_ASIDE.has(name), onFault).flatMap((path) => {
    try {
      return [{ name: basename(dirname(path)), path, text: withoutBlock(readFileSync(path, 'utf8')) }];
    } catch (error) {
      problems.push(`${path}: ${errorText(error)}`);
      return [];
    }
  });
  return { skills, problems: problems.sort(comparePoints) };
}

const LARGEST_TARGET = 64 * 1024 * 1024;

/** `paths`: absolute; a folder stands for every SKILL.md below it, a file for itself, whatever its name. */
export function skillFileTargets(paths: readonly string[]): readonly SkillFileInput[] {
  const unreadable = (_path: string, error: unknown) => {
    throw error;
  };
  const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return paths
    .flatMap((path) => (isFolder(path) ? skillFilesBelow(path, () => false, unreadable) : [path]))
    .map(readTarget);
}

function readTarget(path: string): SkillFileInput {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found?.isFile()) return { path, bytes: null };
    if (found.size > LARGEST_TARGET) return { path, bytes: null, fault: 'file-too-large' };
    return { path, bytes: readFileSync(path) };
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    return { path, bytes: null, fault: `file-not-readable:${code}` };
  }
}

export type UnreadableSkill = 'skill-file-not-found' | 'skill-file-unreadable' | 'skill-content-hard-cap';

/** 100,000 characters take at most this many bytes; twice that is read. */
const MOST_BYTES = 800_000;

export function readSkillFile(path: string): Result<string, UnreadableSkill> {
  try {
    const found = statSync(path);
    if (!found.isFile()) return refuse('skill-file-not-found', `${path} is no file.`);
    if (found.size > MOST_BYTES) return refuse('skill-content-hard-cap', `${path} has ${found.size} bytes.`);
    const bytes = readFileSync(path);
    if (bytes.includes(0)) return refuse('skill-file-unreadable', `${path} holds a NUL.`);
    return ok(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (error) {
    const code = errorCode(error);
    if (error instanceof TypeError && code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      return refuse('skill-file-unreadable', `${path} is not UTF-8 text.`);
    if (code === undefined) throw error;
    const isGone = code === 'ENOENT' || code === 'ENOTDIR';
    return refuse(isGone ? 'skill-file-not-found' : 'skill-file-unreadable', `${path} cannot be read (${code}).`);
  }
}

export interface SkillPath {
  /** Absolute, of SKILL.md, as it was reached. */
  readonly path: string;
  /** The way there, or the file itself, is a link. */
  readonly linked: boolean;
}

const PASSED_BY: ReadonlySet<string> = new Set([...KEPT_ASIDE, '.git', 'node_modules']);
const DEEPEST = 12;

/** Every SKILL.md that a run may meet, links followed, each folder once. */
export function* walkSkillFiles(
  folder: string,
  linked = false,
  depth = 0,
  seen = new Set<string>(),
): Generator<SkillPath, void, undefined> {
  const real = realOf(folder);
  if (real === undefined || seen.has(real) || depth > DEEPEST) return;
  seen.add(real);
  const entries = entriesOf(folder, () => undefined).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const isLinked = linked || entry.isSymbolicLink();
    const found = entry.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : entry;
    if (entry.name === FILE && found?.isFile()) yield { path, linked: isLinked };
    else if (!PASSED_BY.has(entry.name) && found?.isDirectory()) yield* walkSkillFiles(path, isLinked, depth + 1, seen);
  }
}

/** Where a path truly lies, links followed; undefined: it is not there, or cannot be looked at. */
export function realOf(path: string): string | undefined {
  return known(() => realpathSync(path));
}
