// Owns finding every SKILL.md below any folder (curator notes 8.3): sorted, archives left out. Knows no name and no content.
// Invariant: reads lists of folders only; links are followed, no folder is entered twice; what cannot be listed holds nothing.
import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '#base/errors.ts';
import { realOf } from '../real-path.ts';

export interface SkillPath {
  /** Absolute, of SKILL.md, as it was reached. */
  readonly path: string;
  /** The way there, or the file itself, is a link. */
  readonly linked: boolean;
}

const FILE = 'SKILL.md';
const SKIPPED: ReadonlySet<string> = new Set(['.archive', '.curator_backups', '.hub', '.git', 'node_modules']);
const DEEPEST = 12;

export function walkSkillFiles(root: string): readonly SkillPath[] {
  return [...walk({ folder: root, linked: false, depth: 0 }, new Set())];
}

interface Place {
  readonly folder: string;
  readonly linked: boolean;
  readonly depth: number;
}

function* walk(place: Place, seen: Set<string>): Generator<SkillPath, void, undefined> {
  const { folder, linked, depth } = place;
  const real = realOf(folder);
  if (real === undefined || seen.has(real) || depth > DEEPEST) return;
  seen.add(real);
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    const isLinked = linked || entry.isSymbolicLink();
    if (entry.name === FILE && kindOf(path, entry) === 'file') yield { path, linked: isLinked };
    else if (!SKIPPED.has(entry.name) && kindOf(path, entry) === 'folder')
      yield* walk({ folder: path, linked: isLinked, depth: depth + 1 }, seen);
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return [];
  }
}

function kindOf(path: string, entry: Dirent): 'file' | 'folder' | 'other' {
  const found = entry.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : entry;
  if (found?.isFile()) return 'file';
  return found?.isDirectory() ? 'folder' : 'other';
}
