// Owns every write below a skills root (design 2, write doors): a folder comes in whole by rename, a file is replaced whole by rename,
// several are swapped as a folder, a folder that goes is moved into `.archive`. Knows no proposal, no guard and no format.
// Invariants: whoever looks sees one state or, between two renames, none; what was done can be undone, what was displaced stays in `old`
// until the write is over; what is no part of a skill (hidden names, links, empty folders) is carried over; nothing outside the root is touched.
import {
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { atomicWrite, syncFolder } from '#base/atomic-write.ts';
import { errorCode, ifThere, TalariaError } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { SKILL_NAME, skillLimits } from '../format/skill-text.ts';
import {
  changesBetween,
  type FileChange,
  hashSkillTree,
  readSkillTree,
  type SkillFile,
  type SkillTree,
} from './skill-tree.ts';

const STAGING = '.staging';
const ARCHIVE = '.archive';

/** A state of one skill's folder that takes the place of another. `undefined`: there is none. */
interface Placement {
  readonly root: string;
  /** Absolute, below `root`. */
  readonly folder: string;
  readonly before: SkillTree | undefined;
  readonly after: SkillTree | undefined;
  /** Names the staging folder of this write. */
  readonly id: string;
  /** Names the archive folder. */
  readonly stamp: string;
  /** The old folder stays whole beside the new one until the write is over, also when one file differs. */
  readonly keepsOld?: boolean;
}

/** A state that is made aside and not in place yet. */
export interface StagedSkill {
  /** Throws for broken I/O; `undo` then puts back what was there. */
  place(): void;
  /** Puts the state before in place again, if it is not there. What stood there meanwhile is in staging then. Throws for broken I/O. */
  undo(): void;
}

/** Makes the new state aside; what stands in the folder is not touched. Throws for broken I/O. */
export function stageSkill(placement: Placement): StagedSkill {
  const { before, after } = placement;
  if (before === undefined && after !== undefined) return bringIn(placement, after);
  if (before !== undefined && after === undefined) return archive(placement);
  const [change, ...more] = changesBetween(before, after);
  if (change === undefined || before === undefined || after === undefined)
    throw new TalariaError(`${placement.folder}: nothing changes`, { code: 'skill-placement' });
  return more.length > 0 || placement.keepsOld ? swap(placement, before, after) : replaceFile(placement, change);
}

/** Replaces one state by the other. Throws; the old state stands then. */
export function placeSkill(placement: Placement): void {
  const staged = stageSkill(placement);
  try {
    staged.place();
  } catch (error) {
    staged.undo();
    throw error;
  }
}

function bringIn({ root, folder, id }: Placement, tree: SkillTree): StagedSkill {
  const { skill, undone } = stagingOf(root, id);
  for (const file of tree.values()) writeFile(join(skill, file.path), file);
  return once(
    () => {
      makeFolder(dirname(folder));
      renameSync(skill, folder);
    },
    () => syncFolder(dirname(folder)),
    () => {
      moveIfThere(folder, undone);
      removeEmpty(root, dirname(folder));
    },
  );
}

function archive({ root, folder, id, stamp }: Placement): StagedSkill {
  const kept = archivePlace({ root, folder, stamp });
  return once(
    () => {
      makeFolder(dirname(kept));
      renameSync(folder, kept);
    },
    () => {
      syncFolder(dirname(kept));
      syncFolder(dirname(folder));
    },
    () => {
      moveIfThere(folder, stagingOf(root, id).undone);
      moveIfThere(kept, folder);
      removeEmpty(root, dirname(kept));
    },
  );
}

function swap(placement: Placement, before: SkillTree, after: SkillTree): StagedSkill {
  stageSwap(placement, before, after);
  return { place: () => swapIn(placement), undo: () => swapBack(placement) };
}

function replaceFile(placement: Placement, change: FileChange): StagedSkill {
  const { folder } = placement;
  const target = join(folder, change.path);
  stageFile(placement, change.after);
  return once(
    () => putFile(placement, target, change.after),
    () => syncFolder(dirname(target)),
    () => {
      stageFile(placement, change.before);
      putFile(placement, target, change.before);
      syncFolder(dirname(target));
      if (change.before === undefined) removeEmpty(folder, dirname(target));
    },
  );
}

function stageFile({ root, id }: Placement, file: SkillFile | undefined): void {
  if (file !== undefined) writeFile(stagingOf(root, id).file, file);
}

/** Not yet durable: the caller syncs the folder. */
function putFile({ root, id }: Placement, target: string, file: SkillFile | undefined): void {
  if (file === undefined) {
    rmSync(target, { force: true });
  } else {
    makeFolder(dirname(target));
    renameSync(stagingOf(root, id).file, target);
  }
}

/** `undo` does something only after `move` came through. */
function once(move: () => void, last: () => void, back: () => void): StagedSkill {
  let isPlaced = false;
  return {
    place: () => {
      move();
      isPlaced = true;
      last();
    },
    undo: () => {
      if (isPlaced) back();
      isPlaced = false;
    },
  };
}

function archivePlace({ root, folder, stamp }: Pick<Placement, 'root' | 'folder' | 'stamp'>): string {
  return join(root, ARCHIVE, stamp, relative(root, folder));
}

/** After `undo`: what stood there meanwhile and is not `after` goes to the archive, so that nobody's words are lost. Gives its folder. */
export function archiveUndone(
  placement: Pick<Placement, 'root' | 'folder' | 'id' | 'stamp' | 'after'>,
): string | undefined {
  const { undone } = stagingOf(placement.root, placement.id);
  const found = readSkillTree(undone);
  const isOurs =
    found.ok && (found.value === undefined || hashSkillTree(found.value) === hashSkillTree(placement.after));
  if (isOurs) return undefined;
  const kept = archivePlace(placement);
  moveIfThere(undone, kept);
  return kept;
}

/** Takes away what a write left in `.staging`, finished or not. */
export function clearStaging(root: string, id: string): void {
  rmSync(join(root, STAGING, id), { recursive: true, force: true });
}

/** Names of writes that left something in `.staging`. */
export function stagedWrites(root: string): readonly string[] {
  return ifThere(() => readdirSync(join(root, STAGING))) ?? [];
}

/** The lock of one skill, by name: two skills of one name cannot be made in two categories at once. */
export function skillLock(root: string, name: string): string {
  const file = SKILL_NAME.test(name) && name.length <= skillLimits.name ? name : sha256(name);
  return join(root, '.locks', `${file}.lock`);
}

interface FolderSwap {
  readonly root: string;
  readonly folder: string;
  readonly id: string;
}

/** Makes the new state aside. Files of the skill are copies: whoever writes into one of the two folders does not reach the other. */
function stageSwap({ root, folder, id }: FolderSwap, before: SkillTree, after: SkillTree): void {
  const { skill } = stagingOf(root, id);
  makeFolder(skill);
  for (const file of after.values()) writeFile(join(skill, file.path), file);
  const isOfSkill = (path: string): boolean => before.has(path) || after.has(path);
  const folders = new Set([skill]);
  // A folder that has gone meanwhile is for the caller to find out, who looks again before the swap.
  for (const path of existsSync(folder) ? foreignEntries(folder, '', isOfSkill) : []) {
    carryOver(join(folder, path), join(skill, path));
    folders.add(dirname(join(skill, path)));
  }
  for (const made of folders) syncFolder(made);
}

function swapIn({ root, folder, id }: FolderSwap): void {
  const { skill, old } = stagingOf(root, id);
  renameSync(folder, old);
  renameSync(skill, folder);
  syncFolder(dirname(folder));
  syncFolder(dirname(old));
}

/** May be called at any moment and again after a failure: it goes on where it stopped. */
function swapBack({ root, folder, id }: FolderSwap): void {
  const { old, undone } = stagingOf(root, id);
  if (!existsSync(old)) return;
  moveIfThere(folder, undone);
  moveIfThere(old, folder);
}

/** After a kill between the two renames: the state that was displaced last stands again. */
export function returnDisplaced({ root, folder, id }: FolderSwap): void {
  if (!existsSync(folder)) moveIfThere(stagingOf(root, id).old, folder);
}

/** Entries that no skill's tree holds, empty folders among them. */
function* foreignEntries(folder: string, below: string, isOfSkill: (path: string) => boolean): Generator<string> {
  const entries = readdirSync(join(folder, below), { withFileTypes: true });
  if (entries.length === 0 && below !== '') yield below;
  for (const entry of entries) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) yield* foreignEntries(folder, path, isOfSkill);
    else if (!isOfSkill(path)) yield path;
  }
}

function carryOver(from: string, to: string): void {
  const stats = lstatSync(from);
  makeFolder(stats.isDirectory() ? to : dirname(to));
  if (stats.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  else if (!stats.isDirectory()) linkOrCopy(from, to);
}

const NO_LINKS: readonly string[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK'];

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!NO_LINKS.includes(errorCode(error) ?? '')) throw error;
    copyFileSync(from, to);
  }
}

function makeFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

function writeFile(path: string, { bytes, executable }: SkillFile): void {
  makeFolder(dirname(path));
  atomicWrite(path, bytes, { mode: executable ? 0o700 : 0o600 });
}

/** Takes away folders that became empty, from `folder` up to, not with, `root`. */
function removeEmpty(root: string, folder: string): void {
  for (let at = folder; at.startsWith(root + sep) && readdirSync(at).length === 0; at = dirname(at)) rmdirSync(at);
}

/** Moves what stands at `from`, if anything does; durable in both folders. */
function moveIfThere(from: string, to: string): void {
  if (!existsSync(from)) return;
  makeFolder(dirname(to));
  renameSync(from, to);
  syncFolder(dirname(from));
  syncFolder(dirname(to));
}

/** Where one write keeps what it stages and what it displaces. */
function stagingOf(root: string, id: string): { readonly [name in 'skill' | 'file' | 'old' | 'undone']: string } {
  const folder = join(root, '.staging', id);
  return {
    skill: join(folder, 'skill'),
    file: join(folder, 'file'),
    old: join(folder, 'old'),
    undone: join(folder, 'undone'),
  };
}
