// Owns what one folder looked like before the commands that run in it, and tells what of it steers and is new when one of them ends.
// Knows no session and no mount. Invariant: what is bound and what counts as the owner's is taken only while nothing runs in the folder;
// each change is told once.
import { isWithin } from '../../risk/place.ts';
import { createScanner, type Scan } from './folder-scan.ts';
import {
  changedMarks,
  type FolderView,
  type Marks,
  markSteering,
  type Protected,
  protectedIn,
  steeringIn,
} from './folder-view.ts';

export interface Planted {
  readonly planted: readonly string[];
  readonly notes: readonly string[];
}

export interface FolderWatch {
  readonly isQuiet: boolean;
  /** What to bind. While commands run it is what was found before them. */
  protects(): Protected;
  /** A command starts: what it has read-only, and what the owner opened for it to write. Call what is returned once, when it has ended. */
  enter(fixed: readonly string[], opened: readonly string[]): () => Planted;
}

interface Look {
  readonly scan: Scan;
  readonly marks: Marks;
}

const CUT = '[not all of the many new folders were looked through for files that steer what runs later]';

export function watchFolder(view: FolderView, userHome: string, now: () => number): FolderWatch {
  const scanner = createScanner(now);
  const isHome = isWithin(userHome, view.folder);
  const look = (before?: Scan) => {
    const scan = scanner.scan({ folder: view.folder, isHome, ...(before ? { before } : {}) });
    const steering = steeringIn(view, scan, userHome);
    return { scan, steering, marks: markSteering(steering) };
  };
  /** What the owner opened, for each command that runs. */
  const running = new Set<readonly string[]>();
  let last: Look | undefined;
  let protects: Protected = { held: [], fixed: [] };
  /** Read-only for each command that runs: what changed there was changed by somebody else. */
  let bound: readonly string[] | undefined;
  return {
    get isQuiet() {
      return running.size === 0;
    },
    protects() {
      if (running.size > 0) return protects;
      const { steering, ...found } = look();
      last = found;
      protects = protectedIn(steering);
      bound = undefined;
      return protects;
    },
    enter(fixed, opened) {
      const own = [...opened];
      running.add(own);
      bound = bound?.filter((path) => fixed.includes(path)) ?? fixed;
      return () => {
        const { scan, marks } = look(last?.scan);
        const free = [...(bound ?? []), ...[...running].flat()];
        running.delete(own);
        const planted = changedMarks(last?.marks ?? new Map(), marks).filter(
          (path) => !scan.arrived.has(path) && !free.some((one) => isWithin(path, one)),
        );
        last = { scan, marks };
        return { planted, notes: scan.isCut ? [CUT] : [] };
      };
    },
  };
}
