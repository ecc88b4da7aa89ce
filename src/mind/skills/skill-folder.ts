// Owns every write below a skills root (design 2, write doors): a folder comes in whole by rename, a file is replaced whole by rename,
// a folder that goes is moved into `.archive`. Called by guarded-apply and its parts alone. Knows no proposal, no guard and no format.
// Invariants: whoever looks sees the old or the new state; what was done can be undone; nothing outside the root is touched.
import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { atomicWrite, syncFolder } from '#base/atomic-write.ts';
import { errorCode, TalariaError } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { changesBetween, type FileChange, type SkillFile, type SkillTree } from './door/skill-tree.ts';
import { SKILL_NAME, skillLimits } from './format/skill-limits.ts';

const STAGING = '.staging';
const ARCHIVE = '.archive';

/** A state of one skill's folder that takes the place of another. `undefined`: there is none. */
export interface Placement {
  readonly root: string;
  /** Absolute, below `root`. */
  readonly folder: string;
  readonly before: SkillTree | undefined;
  readonly after: SkillTree | undefined;
  /** Names the staging folder of this write. */
  readonly id: string;
  /** Names the archive folder. */
  readonly stamp: string;
}

export interface Placed {
  /** Puts the state before in place again. Throws for broken I/O. */
  undo(): void;
}

/** Replaces one state by the other. Two states that both exist may differ in one file. Throws; the old state stands then, or `undoPlacement` mends. */
export function placeSkill(placement: Placement): Placed {
  const { before, after } = placement;
  if (before === undefined && after !== undefined) return bringIn(placement, after);
  if (before !== undefined && after === undefined) return archive(placement);
  const [change, ...more] = changesBetween(before, after);
  if (change === undefined || more.length > 0)
    throw new TalariaError(`${placement.folder}: one file changes at a time`, { code: 'skill-placement' });
  const target = replaceFile(placement, change.path, change.after);
  return settle(
    () => syncFolder(dirname(target)),
    () => undoFile(placement, change),
  );
}

function bringIn(placement: Placement, tree: SkillTree): Placed {
  const { root, folder, id } = placement;
  const staged = join(root, STAGING, id, 'skill');
  for (const file of tree.values()) writeFile(join(staged, file.path), file);
  makeFolder(dirname(folder));
  renameSync(staged, folder);
  const undo = (): void => {
    const gone = join(root, STAGING, id, 'undone');
    makeFolder(dirname(gone));
    renameSync(folder, gone);
    syncFolder(dirname(folder));
    removeEmpty(root, dirname(folder));
  };
  return settle(() => syncFolder(dirname(folder)), undo);
}

function archive({ root, folder, stamp }: Placement): Placed {
  const kept = join(root, ARCHIVE, stamp, relative(root, folder));
  makeFolder(dirname(kept));
  renameSync(folder, kept);
  const undo = (): void => {
    renameSync(kept, folder);
    syncFolder(dirname(folder));
    removeEmpty(root, dirname(kept));
  };
  return settle(() => {
    syncFolder(dirname(kept));
    syncFolder(dirname(folder));
  }, undo);
}

/** A failure after the rename undoes the rename before it leaves. */
function settle(last: () => void, undo: () => void): Placed {
  try {
    last();
    return { undo };
  } catch (error) {
    undo();
    throw error;
  }
}

function undoFile(placement: Placement, { path, before }: FileChange): void {
  syncFolder(dirname(replaceFile(placement, path, before)));
  if (before === undefined) removeEmpty(placement.folder, dirname(join(placement.folder, path)));
}

/** Not yet durable: the caller syncs the folder of the path that it gives. */
function replaceFile({ root, folder, id }: Placement, path: string, file: SkillFile | undefined): string {
  const target = join(folder, path);
  if (file === undefined) {
    rmSync(target, { force: true });
    return target;
  }
  const staged = join(root, STAGING, id, 'file');
  writeFile(staged, file);
  makeFolder(dirname(target));
  renameSync(staged, target);
  return target;
}

function writeFile(path: string, { bytes, executable }: SkillFile): void {
  makeFolder(dirname(path));
  atomicWrite(path, bytes, { mode: executable ? 0o700 : 0o600 });
}

function makeFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** Takes away folders that became empty, from `folder` up to, not with, `root`. */
function removeEmpty(root: string, folder: string): void {
  for (let at = folder; at.startsWith(root + sep) && readdirSync(at).length === 0; at = dirname(at)) rmdirSync(at);
}

/** Takes away what a write left in `.staging`, finished or not. */
export function clearStaging(root: string, id: string): void {
  rmSync(join(root, STAGING, id), { recursive: true, force: true });
}

/** Names of writes that left something in `.staging`. */
export function stagedWrites(root: string): readonly string[] {
  try {
    return readdirSync(join(root, STAGING));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** The lock of one skill, by name: two skills of one name cannot be made in two categories at once. */
export function skillLock(root: string, name: string): string {
  const file = SKILL_NAME.test(name) && name.length <= skillLimits.name ? name : sha256(name);
  return join(root, '.locks', `${file}.lock`);
}
