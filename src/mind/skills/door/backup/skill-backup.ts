// Owns the backups of skills below one folder: `<stamp>/SKILL.md`, `<stamp>/support/…`, `<stamp>/manifest.json` (curator notes 11).
// Knows no door. Invariants: a backup is whole before anything below the skills root changes; a stamp is given once; a copy whose hash
// is not the recorded one is no backup.
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { atomicWrite, syncFolder } from '#base/atomic-write.ts';
import { errorCode } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { SKILL_FILE } from '../../format/skill-limits.ts';
import type { FileChange, SkillFile } from '../skill-tree.ts';
import {
  backupStamp,
  MANIFEST_FILE,
  readManifestText,
  type SkillManifest,
  writeManifestText,
} from './skill-manifest.ts';

const ATTEMPTS = 1_000;

/** Makes the folder of a new backup; gives its name. */
export function claimStamp(backups: string, epochMs: number): string {
  mkdirSync(backups, { recursive: true, mode: 0o700 });
  for (let turn = 0; turn < ATTEMPTS; turn += 1) {
    const stamp = backupStamp(epochMs, turn);
    if (isClaimed(join(backups, stamp))) return stamp;
  }
  return claimStamp(backups, epochMs + 1);
}

function isClaimed(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Where the copy of a changed file lies, below the backup's folder. */
export function backupPlace(path: string): string {
  return path === SKILL_FILE ? SKILL_FILE : `support/${path}`;
}

/** Copies what `changes` will take away, then writes the manifest. */
export function writeBackup(folder: string, changes: readonly FileChange[], manifest: SkillManifest): void {
  for (const { path, before } of changes) {
    if (before === undefined) continue;
    atomicWrite(join(folder, backupPlace(path)), before.bytes, { mode: before.executable ? 0o700 : 0o600 });
  }
  writeManifest(folder, manifest);
  syncFolder(folder);
}

export function writeManifest(folder: string, manifest: SkillManifest): void {
  atomicWrite(join(folder, MANIFEST_FILE), writeManifestText(manifest));
}

export function removeBackup(backups: string, stamp: string): void {
  rmSync(join(backups, stamp), { recursive: true, force: true });
}

/** Names of backups, newest first. */
export function listBackups(backups: string): readonly string[] {
  try {
    return readdirSync(backups)
      .filter((name) => /^\d{8}T\d+Z$/.test(name))
      .sort()
      .reverse();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** `manifest-changed`: it is there and is no manifest any more. */
export function readManifest(folder: string): Result<SkillManifest, 'backup-not-found' | 'manifest-changed'> {
  const text = readIfThere(join(folder, MANIFEST_FILE));
  if (text === undefined) return refuse('backup-not-found', `There is no manifest in ${folder}.`);
  const read = readManifestText(text.toString('utf8'));
  return read.ok ? read : refuse('manifest-changed', `${folder}: ${read.detail}`);
}

/** A file as it was before and as a hash after one version. */
export interface RecordedFile {
  readonly path: string;
  readonly before: SkillFile | undefined;
  readonly afterHash: string | null;
}

/** Every file that the version changed, with its content before. Refuses copies that are missing or not what was recorded. */
export function readBackup(
  folder: string,
  manifest: SkillManifest,
): Result<readonly RecordedFile[], 'backup-not-found'> {
  const main = { path: SKILL_FILE, sha256: manifest.new_sha256, original_sha256: manifest.original_sha256 };
  const files: RecordedFile[] = [];
  for (const file of [main, ...manifest.support_files]) {
    if (!isBelow(file.path))
      return refuse('backup-not-found', `${folder}: the manifest names a file outside the skill.`);
    const copy = file.original_sha256 === null ? undefined : readCopy(folder, file.path);
    if (file.original_sha256 !== null && (copy === undefined || sha256(copy.bytes) !== file.original_sha256))
      return refuse('backup-not-found', `The copy of ${file.path} in ${folder} is missing or was changed.`);
    files.push({ path: file.path, before: copy, afterHash: file.sha256 });
  }
  return ok(files);
}

/** A manifest can be edited: a path in it leads nowhere but below the skill and the backup. */
function isBelow(path: string): boolean {
  return path.split('/').every((part) => part !== '' && !part.startsWith('.') && !/[\\\0]/.test(part));
}

function readCopy(folder: string, path: string): SkillFile | undefined {
  const place = join(folder, backupPlace(path));
  const bytes = readIfThere(place);
  return bytes && { path, bytes, executable: (lstatSync(place).mode & 0o100) !== 0 };
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
