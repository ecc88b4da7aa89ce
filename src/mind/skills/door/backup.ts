// Owns the backups of skills below one folder, `<stamp>/SKILL.md`, `<stamp>/support/…`, `<stamp>/manifest.json` (curator notes 11), and the
// form of that manifest. Knows no door.
// Invariants: the manifest alone says what a version changed and what would undo it; a backup is whole before anything below the skills root
// changes; a stamp is given once; a copy whose hash is not the recorded one is no backup; files are found by the manifest's own place.

import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { z } from 'zod';
import { atomicWrite, syncFolder } from '#base/atomic-write.ts';
import { isoTime } from '#base/clock.ts';
import { errorCode, ifThere } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { canonicalJson, type JsonObject, parseJson } from '#base/json.ts';
import { readIfThere } from '#base/platform.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { SKILL_FILE } from '../format/skill-text.ts';
import type { Commit, DoorParts } from './door-parts.ts';
import {
  changesBetween,
  type FileChange,
  hashOfOne,
  hashOfSkillFile,
  hashSkillTree,
  type SkillFile,
} from './skill-tree.ts';

const hash = z.string().nullable();

const supportFile = z.looseObject({
  path: z.string(),
  kind: z.string(),
  /** Content after the write; null: the file went. */
  sha256: hash,
  /** Content before it; null: there was none. */
  original_sha256: hash,
  backup_path: z.string().nullable(),
  recorded_at: z.string(),
});

const manifest = z.looseObject({
  schema_version: z.string(),
  skill_name: z.string(),
  target_path: z.string(),
  backup_path: z.string().nullable(),
  original_sha256: hash,
  new_sha256: hash,
  applied_at: z.string(),
  rolled_back: z.boolean(),
  verify: z.looseObject({ enabled: z.boolean(), passed: z.boolean().nullable() }),
  provenance: z.looseObject({ skill_name: z.string(), source: z.string(), writable: z.boolean() }),
  evidence: z.looseObject({ db_path: z.string() }),
  scheduler: z.looseObject({}),
  support_files: z.array(supportFile),
  /** Ours from here on: enough to write the version row again. */
  proposal_id: z.string(),
  actor: z.string(),
  operation: z.string(),
  /** Below the skills root. */
  folder: z.string(),
  original_tree_sha256: hash,
  new_tree_sha256: hash,
  applied_at_ms: z.number(),
  undoes_version: z.number().nullable(),
});

export type SkillManifest = z.infer<typeof manifest>;

export const MANIFEST_FILE = 'manifest.json';

/** Sorted keys. */
export function sortedJson(value: object): string {
  const sorted = parseJson(canonicalJson(value as JsonObject));
  return `${JSON.stringify(sorted.ok ? sorted.value : value, null, 2)}\n`;
}

export function readManifestText(text: string): Result<SkillManifest, 'invalid-manifest'> {
  const parsed = parseJson(text);
  const read = parsed.ok ? manifest.safeParse(parsed.value) : undefined;
  return read?.success
    ? ok(read.data)
    : refuse('invalid-manifest', 'The manifest is damaged or was written by another program.');
}

/** `backup` is the absolute folder of the backup, `isVerified` whether verifiers will be asked. */
export function buildManifest(
  parts: DoorParts,
  commit: Commit,
  { backup, isVerified }: { readonly backup: string; readonly isVerified: boolean },
): SkillManifest {
  const { name, folder, before, after, made } = commit;
  const now = parts.clock.now();
  const original = hashOfSkillFile(before);
  return {
    schema_version: '0.6',
    skill_name: name,
    target_path: join(folder, SKILL_FILE),
    backup_path: original === null ? null : join(backup, SKILL_FILE),
    original_sha256: original,
    new_sha256: hashOfSkillFile(after),
    applied_at: isoTime(now),
    rolled_back: false,
    verify: { enabled: isVerified, passed: isVerified ? null : true, exit_code: 0, output: '' },
    provenance: { skill_name: name, source: made.trail?.source ?? made.source, writable: true },
    evidence: { db_path: made.trail?.evidencePath ?? parts.database.path },
    scheduler: { ...made.trail?.scheduler },
    support_files: changesBetween(before, after)
      .filter(({ path }) => path !== SKILL_FILE)
      .map((change) => supportEntry(change, backup, isoTime(now))),
    proposal_id: commit.proposalId,
    actor: made.actor,
    operation: made.action,
    folder: relative(parts.places.root, folder).split(sep).join('/'),
    original_tree_sha256: hashSkillTree(before),
    new_tree_sha256: hashSkillTree(after),
    applied_at_ms: now,
    undoes_version: made.undoes?.version ?? null,
  };
}

function supportEntry(
  { path, before, after }: FileChange,
  backup: string,
  at: string,
): SkillManifest['support_files'][number] {
  return {
    path,
    kind: before === undefined ? 'added' : after === undefined ? 'removed' : 'replaced',
    sha256: hashOfOne(after),
    original_sha256: hashOfOne(before),
    backup_path: before === undefined ? null : join(backup, backupPlace(path)),
    recorded_at: at,
  };
}

/** Makes the folder of a new backup, `20260514T101502123000Z`; gives its name. The last three digits part writes of one millisecond. */
export function claimStamp(backups: string, epochMs: number): string {
  mkdirSync(backups, { recursive: true, mode: 0o700 });
  const plain = isoTime(epochMs).replace(/[-:.Z]/g, '');
  for (let turn = 0; turn < 1_000; turn += 1) {
    const stamp = `${plain}${String(turn).padStart(3, '0')}Z`;
    try {
      mkdirSync(join(backups, stamp), { mode: 0o700 });
      return stamp;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
  return claimStamp(backups, epochMs + 1);
}

/** Where the copy of a changed file lies, below the backup's folder. */
function backupPlace(path: string): string {
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
  atomicWrite(join(folder, MANIFEST_FILE), sortedJson(manifest));
}

export function removeBackup(backups: string, stamp: string): void {
  rmSync(join(backups, stamp), { recursive: true, force: true });
}

/** Names of backups, newest first. */
export function listBackups(backups: string): readonly string[] {
  const names = ifThere(() => readdirSync(backups)) ?? [];
  return names
    .filter((name) => /^\d{8}T\d+Z$/.test(name))
    .sort()
    .reverse();
}

/** `manifest-changed`: it is there and is no manifest any more. */
export function readManifest(folder: string): Result<SkillManifest, 'backup-not-found' | 'manifest-changed'> {
  const text = readIfThere(join(folder, MANIFEST_FILE));
  if (text === undefined) return refuse('backup-not-found', `There is no manifest in ${folder}.`);
  const read = readManifestText(text);
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
  return ifThere(() => ({ path, bytes: readFileSync(place), executable: (lstatSync(place).mode & 0o100) !== 0 }));
}
