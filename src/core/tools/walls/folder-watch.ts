// Owns what one folder looked like before the commands that run in it, and tells what of it steers and is new when one of them ends.
// Knows no session and no mount. Invariants: what is bound and what counts as the owner's is taken only while nothing runs in the folder; what a
// command made counts as the owner's only after a yes, or as part of a repository that is foreign as a whole; each change is told once until it
// is decided.

import { TalariaError } from '#base/errors.ts';
import { isWithin } from '../risk/place.ts';
import { createScanner, type Scan } from './folder-scan.ts';
import { type FolderView, type Marked, markSteering, type Protected, protectedIn, steeringIn } from './folder-view.ts';
import { isClosed, type Kept, keptOf, loosen, putBack } from './kept-steering.ts';
import { lookAt } from './mounts.ts';
import type { Fate } from './walls.ts';

export interface Planted {
  readonly planted: readonly string[];
  readonly notes: readonly string[];
  /** For what was planted; of each path once. */
  readonly fate: Fate;
}

interface Before {
  readonly mark: string;
  readonly kept: Kept | undefined;
}

interface Look extends Marked {
  readonly scan: Scan;
  readonly gits: ReadonlySet<string>;
}

const CUT =
  '[NOT LOOKED THROUGH for files that steer what runs later: a part of the folder, which has too much or is closed]';

/** Of all that is kept. */
const MOST_KEPT = 3_000;

export class FolderWatch {
  readonly #view: FolderView;
  readonly #userHome: string;
  readonly #scan: ReturnType<typeof createScanner>;
  /** What the owner opened, for each command that runs. */
  readonly #running = new Set<readonly string[]>();
  /** The owner's. */
  #known = new Map<string, string>();
  #kept = new Map<string, Before>();
  /** As it came with a repository, which is not the owner's. */
  readonly #arrived = new Map<string, string>();
  /** Not decided yet; without a mark: decided, and still there. */
  readonly #told = new Map<string, string | undefined>();
  /** Nobody allowed it and it could not be taken away. */
  readonly #left = new Set<string>();
  #last: Look | undefined;
  #isMissed = false;
  #isCutTold = false;
  #protects: Protected = { held: [], fixed: [] };
  /** Read-only for each command that runs: what changed there was changed by somebody else. */
  #bound: readonly string[] | undefined;

  constructor(view: FolderView, userHome: string, now: () => number) {
    this.#view = view;
    this.#userHome = userHome;
    this.#scan = createScanner(now);
  }

  /** Nothing runs, and nothing is known that another watch would not know. */
  get isQuiet(): boolean {
    return this.#running.size + this.#told.size + this.#arrived.size + this.#left.size === 0;
  }

  /** What to bind. While commands run it is what was found before them. Throws TalariaError `steering-left`. */
  protects(): Protected {
    this.#refuseLeft();
    if (this.#running.size > 0) return this.#protects;
    const look = this.#look(false);
    this.#protects = look.protects();
    // What the last look should have told is told by the next one.
    if (!this.#isMissed) this.#adopt(look);
    this.#bound = undefined;
    return this.#protects;
  }

  /** A command starts: what it has read-only, and what the owner opened for it to write. Call what is returned once, when it has ended. */
  enter(fixed: readonly string[], opened: readonly string[]): () => Planted {
    const own = [...opened];
    this.#running.add(own);
    this.#bound = this.#bound?.filter((path) => fixed.includes(path)) ?? fixed;
    return () => {
      const free = [...(this.#bound ?? []), ...[...this.#running].flat()];
      this.#running.delete(own);
      this.#isMissed = true;
      const told = this.#tell(this.#look(true), free);
      this.#isMissed = false;
      return told;
    };
  }

  #look(isAfter: boolean): Look & { protects(): Protected } {
    const { folder } = this.#view;
    const facts = lookAt(folder);
    if (isAfter && facts && facts !== 'closed' && isClosed(facts)) loosen(folder);
    const isHome = isWithin(this.#userHome, folder);
    const before = this.#last ? { before: this.#last.scan } : {};
    const scan = this.#scan({ folder, isHome, isAfter, ...before });
    const steering = steeringIn(this.#view, scan, this.#userHome, this.#last?.gits);
    const gits = new Set([...steering.ownGits, ...steering.nestedGits].map(({ path }) => path));
    return { scan, gits, ...markSteering(steering), protects: () => protectedIn(steering) };
  }

  /** Nothing runs: what is there is the owner's, but for what commands left. */
  #adopt(look: Look): void {
    const { marks, scan } = look;
    for (const path of this.#told.keys()) if (lookAt(path) === undefined) this.#told.delete(path);
    for (const [path, mark] of this.#arrived)
      if (!scan.arrived.has(path) || marks.get(path) !== mark) this.#arrived.delete(path);
    const was = this.#known;
    const isOwners = (path: string) => !this.#told.has(path) && !this.#arrived.has(path);
    this.#known = new Map([...marks].filter(([path]) => isOwners(path) || was.has(path)));
    for (const [path, mark] of was) if (this.#known.has(path) && !isOwners(path)) this.#known.set(path, mark);
    this.#keep();
    this.#last = look;
  }

  #keep(): void {
    const kept = new Map<string, Before>();
    for (const [path, mark] of this.#known) {
      if (kept.size >= MOST_KEPT) break;
      if (this.#protects.fixed.some((one) => isWithin(path, one))) continue;
      const last = this.#kept.get(path);
      // What was told is there as a command left it.
      if (last?.mark === mark) kept.set(path, last);
      else if (!this.#told.has(path)) kept.set(path, { mark, kept: keptOf(path) });
    }
    this.#kept = kept;
  }

  #tell(look: Look, free: readonly string[]): Planted {
    const { scan, marks } = look;
    for (const [path, isNew] of scan.arrived) if (isNew) this.#arrived.set(path, marks.get(path) ?? '');
    const changed = [...marks].filter(([path, mark]) => this.#isNews(path, mark, look));
    const isFree = (path: string) => !this.#told.has(path) && free.some((one) => isWithin(path, one));
    for (const [path, mark] of changed) if (isFree(path)) this.#known.set(path, mark);
    const planted = changed.map(([path]) => path).filter((path) => !isFree(path));
    for (const path of planted) this.#told.set(path, marks.get(path));
    this.#last = look;
    const isCut = scan.isCut || (look.isCut && !this.#isCutTold);
    this.#isCutTold ||= look.isCut;
    return { planted, notes: isCut ? [CUT] : [], fate: this.#fateOf(planted) };
  }

  #isNews(path: string, mark: string, { scan, targets }: Look): boolean {
    if (this.#known.get(path) === mark || this.#told.get(path) === mark) return false;
    if (scan.arrived.has(path) && this.#arrived.get(path) === mark) return false;
    return this.#known.has(path) || !targets.has(path);
  }

  #fateOf(planted: readonly string[]): Fate {
    return {
      stays: () => this.#allow(planted),
      putBack: (path) => {
        const was = this.#known.has(path) ? this.#kept.get(path)?.kept : undefined;
        if (was === undefined) return this.#known.has(path) ? 'not kept' : 'nothing';
        if (was.kind === 'other') return 'not kept';
        putBack(path, was);
        this.#allow([path]);
        return 'done';
      },
      decided: (left) => {
        for (const path of left) this.#left.add(path);
        const open = planted.filter((path) => this.#told.has(path));
        for (const path of open) this.#told.set(path, undefined);
        for (const path of open) if (lookAt(path) === undefined) this.#told.delete(path);
      },
    };
  }

  #allow(paths: readonly string[]): void {
    const { marks } = this.#look(false);
    for (const path of paths) {
      const mark = marks.get(path);
      if (mark === undefined) this.#known.delete(path);
      else this.#known.set(path, mark);
      this.#told.delete(path);
    }
    this.#keep();
  }

  #refuseLeft(): void {
    for (const path of this.#left) if (lookAt(path) === undefined) this.#left.delete(path);
    if (this.#left.size === 0) return;
    throw new TalariaError(
      `commands are refused in ${this.#view.folder}: what steers later runs was left there without leave and could not be taken away: ${[...this.#left].join(', ')}`,
      { code: 'steering-left', fix: 'Look at it and remove it yourself, then go on.' },
    );
  }
}
