// Owns reading every SKILL.md below a folder for a search (curator notes 6), but removed ones (decision 0019) and managed blocks. Knows no ranking.
// Invariants: sorted by path; bytes that are no UTF-8 become U+FFFD; links to folders are not followed; what cannot be read is named.
import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { errorCode, errorText } from '#base/errors.ts';
import { comparePoints } from '#base/text/code-points.ts';
import { withoutBlock } from '#mind/skills/format/managed-block.ts';
import type { RankableSkill } from './rank-skills.ts';

export interface FoundSkillFiles {
  /** Named after their folders. */
  readonly skills: readonly RankableSkill[];
  readonly problems: readonly string[];
}

/** Folders of what was removed or replaced: nobody is to be led back to it. */
const KEPT_ASIDE: ReadonlySet<string> = new Set(['.archive', '.curator_backups', '.hub']);

/** A folder that is not there has no skills. */
export function readSkillFiles(root: string): FoundSkillFiles {
  const skills: RankableSkill[] = [];
  const problems: string[] = [];
  const waiting = [root];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of entriesOf(folder, problems)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !KEPT_ASIDE.has(entry.name)) waiting.push(path);
      else if (entry.name === 'SKILL.md') readOne(path, { skills, problems });
    }
  }
  return { skills: skills.sort((a, b) => comparePoints(a.path, b.path)), problems: problems.sort(comparePoints) };
}

function entriesOf(folder: string, problems: string[]): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') problems.push(`${folder}: ${errorText(error)}`);
    return [];
  }
}

function readOne(path: string, into: { readonly skills: RankableSkill[]; readonly problems: string[] }): void {
  try {
    into.skills.push({ name: basename(join(path, '..')), path, text: withoutBlock(readFileSync(path, 'utf8')) });
  } catch (error) {
    into.problems.push(`${path}: ${errorText(error)}`);
  }
}
