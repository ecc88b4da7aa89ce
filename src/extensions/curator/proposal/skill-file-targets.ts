// Owns which files `skill-validate` looks at, and reading them (curator notes 14). Knows no rule of a skill. Invariants: a folder stands for
// every SKILL.md below it, in order of their paths; links to folders are not followed; what cannot be read is a target all the same.
import { type Dirent, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '#base/errors.ts';
import { comparePoints } from '#base/text/code-points.ts';
import type { SkillFileInput } from '../verify/validate-skill-file.ts';

/** Bytes: far more than any skill has. */
const LARGEST = 64 * 1024 * 1024;

/** `paths`: absolute; a file stands for itself, whatever its name. */
export function skillFileTargets(paths: readonly string[]): readonly SkillFileInput[] {
  return paths.flatMap((path) => (isFolder(path) ? skillsBelow(path) : [path])).map(readTarget);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function skillsBelow(root: string): readonly string[] {
  const found: string[] = [];
  const waiting = [root];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else if (entry.name === 'SKILL.md') found.push(path);
    }
  }
  return found.sort(comparePoints);
}

function entriesOf(folder: string): readonly Dirent[] {
  return readdirSync(folder, { withFileTypes: true });
}

function readTarget(path: string): SkillFileInput {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found?.isFile()) return { path, bytes: null };
    return found.size > LARGEST ? { path, bytes: null, fault: 'file-too-large' } : { path, bytes: readFileSync(path) };
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    return { path, bytes: null, fault: `file-not-readable:${code}` };
  }
}
