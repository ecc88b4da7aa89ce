// Owns the small steps of bringing skill files into place below a skills root. Knows no state and no write that is under way.
// Invariant: a file is put in place whole and durable, private to its owner.
import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { atomicWrite, syncFolder } from '#base/atomic-write.ts';
import type { SkillFile } from '../skill-tree.ts';

export function makeFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

export function writeFile(path: string, { bytes, executable }: SkillFile): void {
  makeFolder(dirname(path));
  atomicWrite(path, bytes, { mode: executable ? 0o700 : 0o600 });
}

/** Takes away folders that became empty, from `folder` up to, not with, `root`. */
export function removeEmpty(root: string, folder: string): void {
  for (let at = folder; at.startsWith(root + sep) && readdirSync(at).length === 0; at = dirname(at)) rmdirSync(at);
}

/** Moves what stands at `from`, if anything does; durable in both folders. */
export function moveIfThere(from: string, to: string): void {
  if (!existsSync(from)) return;
  makeFolder(dirname(to));
  renameSync(from, to);
  syncFolder(dirname(from));
  syncFolder(dirname(to));
}

/** Where one write keeps what it stages and what it displaces. */
export function stagingOf(
  root: string,
  id: string,
): { readonly [name in 'skill' | 'file' | 'old' | 'undone']: string } {
  const folder = join(root, '.staging', id);
  return {
    skill: join(folder, 'skill'),
    file: join(folder, 'file'),
    old: join(folder, 'old'),
    undone: join(folder, 'undone'),
  };
}
