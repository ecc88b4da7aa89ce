// Owns putting another state of a whole skill's folder in place: the new one is made aside, then two renames swap them. Knows no door.
// Invariants: whoever looks sees one state or, between the renames, none; what is no part of a skill (hidden names, links, empty folders)
// is carried over; what was displaced stays in `old` until the write is over, so that a killed swap is put back whole (`returnDisplaced`).
import { copyFileSync, existsSync, linkSync, readdirSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { syncFolder } from '#base/atomic-write.ts';
import { errorCode } from '#base/errors.ts';
import type { SkillTree } from '../skill-tree.ts';
import { makeFolder, moveIfThere, stagingOf, writeFile } from './stage-files.ts';

export interface FolderSwap {
  readonly root: string;
  readonly folder: string;
  readonly id: string;
}

/** Makes the new state aside. Files of the skill are copies: whoever writes into one of the two folders does not reach the other. */
export function stageSwap({ root, folder, id }: FolderSwap, before: SkillTree, after: SkillTree): void {
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

export function swapIn({ root, folder, id }: FolderSwap): void {
  const { skill, old } = stagingOf(root, id);
  renameSync(folder, old);
  renameSync(skill, folder);
  syncFolder(dirname(folder));
  syncFolder(dirname(old));
}

/** May be called at any moment and again after a failure: it goes on where it stopped. */
export function swapBack({ root, folder, id }: FolderSwap): void {
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
  const target = linkTarget(from);
  makeFolder(target === null ? to : dirname(to));
  if (target === undefined) linkOrCopy(from, to);
  else if (target !== null) symlinkSync(target, to);
}

/** Where a link leads; undefined: it is a file; null: it is a folder. */
function linkTarget(path: string): string | undefined | null {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== 'EINVAL') throw error;
    return isFolder(path) ? null : undefined;
  }
}

function isFolder(path: string): boolean {
  try {
    readdirSync(path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') return false;
    throw error;
  }
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
