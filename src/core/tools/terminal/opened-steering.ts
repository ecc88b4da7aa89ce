// Owns what steers later runs and was opened for one command among foreign words: as it was before, and what becomes of what was written.
// Knows no wall. Invariant: what the owner did not see and allow is put back as it was.
import { cpSync, lstatSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { ToolContext } from '#core/agent/tool.ts';
import { isHarmlessConfig } from '../walls/plain-repository.ts';
import type { Opening } from '../walls/walls.ts';
import { isAskedAnew, type WallDesk } from './openings.ts';
import { plantedWords } from './planted-files.ts';

interface Kept {
  readonly path: string;
  readonly mark: string;
  /** A copy; absent where there was nothing. */
  readonly copy?: string;
}

export interface OpenedSteering {
  /** Once, when the command has ended: asks about the words that it wrote. */
  settle(desk: WallDesk): Promise<readonly string[]>;
}

export function keepOpened(openings: readonly Opening[], context: ToolContext): OpenedSteering {
  const opened = openings.filter((opening) => isAskedAnew(opening, context));
  const paths = opened.flatMap((opening) => (opening.kind === 'write' ? steeringOf(opening.path) : []));
  if (paths.length === 0) return { settle: async () => [] };
  const folder = mkdtempSync(join(tmpdir(), 'talaria-opened-'));
  const kept = paths.map((path, at): Kept => {
    const { mark } = plantedWords([path], context.cwd);
    const copy = join(folder, String(at));
    return copied(path, copy) ? { path, mark, copy } : { path, mark };
  });
  return {
    async settle(desk) {
      const isChanged = ({ path, mark }: Kept) => plantedWords([path], context.cwd).mark !== mark;
      const changed = kept.filter((one) => isChanged(one) && !isPlainGit(one));
      const names = changed.map(({ path }) => path);
      // Also where the question ends without an answer.
      let isAllowed = names.length === 0;
      try {
        isAllowed ||= await desk.mayStay(names);
      } finally {
        if (!isAllowed) for (const one of changed) putBack(one);
        rmSync(folder, { recursive: true, force: true });
      }
      return isAllowed
        ? []
        : [`[put back as it was, since the owner did not allow what was written there: ${names.join(', ')}]`];
    },
  };
}

const OF_GIT = 'config config.worktree commondir hooks info modules worktrees'.split(' ');

/** Of git's folder what it reads and runs by itself: what is pushed lies in the rest. */
function steeringOf(path: string): readonly string[] {
  const isFolder = (name: string) => statSync(join(path, name), { throwIfNoEntry: false })?.isDirectory() === true;
  const isGit = /\.git$/.test(path) && isFolder('objects') && isFolder('refs');
  return isGit ? OF_GIT.map((name) => join(path, name)) : [path];
}

/** A remote or a branch more: nothing that runs. */
function isPlainGit({ path }: Kept): boolean {
  return basename(path) === 'config' && /\.git$/.test(dirname(path)) && isHarmlessConfig(path);
}

function putBack({ path, copy }: Kept): void {
  rmSync(path, { recursive: true, force: true });
  if (copy !== undefined) copied(copy, path);
}

function copied(from: string, to: string): boolean {
  if (lstatSync(from, { throwIfNoEntry: false }) === undefined) return false;
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  return true;
}
