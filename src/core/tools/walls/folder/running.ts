// Owns what the running commands of this process could change, and so which paths hold still while they run. Knows no session and builds
// nothing. Invariant: a path that holds still leads to the same thing for as long as these commands run: who may write above it has it,
// and each folder on the way to it, as mount points, and nobody can move or replace a mount point of his own view.
import { dirname } from 'node:path';
import { isWithin } from '../../risk/place.ts';
import { realPathOf } from '../mounts.ts';

export interface RunningCommand {
  /** Absolute and link-free. */
  readonly writable: readonly string[];
  readonly points: ReadonlySet<string>;
}

export class RunningCommands {
  readonly #all = new Set<RunningCommand>();

  add(command: RunningCommand): void {
    this.#all.add(command);
  }

  remove(command: RunningCommand): void {
    this.#all.delete(command);
  }

  /** Does another one write there? Commands that share a folder can hand each other what they have open. */
  isShared(folder: string): boolean {
    return [...this.#all].some(({ writable }) => writable.some((root) => isWithin(folder, root)));
  }

  /** May it be bound by its name? bubblewrap follows that name once more, while these commands run on. */
  holdsStill(path: string): boolean {
    return realPathOf(path) === path && this.isHeld(path);
  }

  isHeld(path: string): boolean {
    return [...this.#all].every(({ writable, points }) =>
      writable.every((root) => downTo(path, root).every((at) => points.has(at))),
    );
  }
}

/** The folders from `root` (left out) down to `path` (the last one); none where `path` is not inside. */
export function downTo(path: string, root: string): readonly string[] {
  const found: string[] = [];
  if (!isWithin(path, root)) return found;
  for (let at = path; at !== root; at = dirname(at)) found.unshift(at);
  return found;
}
