// Owns finding the project's own instructions: the first of three well-known files, here or in a parent up to the repository's root.
// Knows no prompt. Invariant: a file that cannot be read as text is no instruction and never an error.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readRegular } from '#base/paths/open-files.ts';
import { splitFrontMatter } from '#base/text/front-matter.ts';
import { headTail } from '#base/text.ts';

export interface ProjectFile {
  readonly path: string;
  readonly text: string;
}

const NAMES = ['.talaria.md', 'AGENTS.md', 'CLAUDE.md'];
const MAX_BYTES = 2_000_000;
const MAX_PARENTS = 40;

/** Characters of a project file in the prompt, of which 70 parts of 90 come from its head. */
export const PROJECT_FILE_LIMIT = 20_000;

export function findProjectFile(cwd: string): ProjectFile | undefined {
  let folder = cwd;
  for (let depth = 0; depth < MAX_PARENTS; depth++) {
    for (const name of NAMES) {
      const text = readText(join(folder, name));
      if (text !== undefined) return { path: join(folder, name), text };
    }
    const parent = dirname(folder);
    if (parent === folder || existsSync(join(folder, '.git'))) return undefined;
    folder = parent;
  }
  return undefined;
}

export function capProjectFile(text: string, limit: number): string {
  return headTail(text, Math.floor((limit * 7) / 9), Math.floor((limit * 2) / 9));
}

function readText(path: string): string | undefined {
  try {
    const text = readRegular(path, MAX_BYTES).toString('utf8');
    const { body } = splitFrontMatter(text);
    return body.includes('\0') || body.trim() === '' ? undefined : body;
  } catch {
    return undefined;
  }
}
