// Owns filling in a manifest for one change, before anything of it is done. Pure but for the clock. Knows no disk.
// Invariant: the manifest alone says what the version changed and what would undo it.
import { join, relative, sep } from 'node:path';
import { isoTime } from '#base/clock.ts';
import { sha256 } from '#base/ids.ts';
import { SKILL_FILE } from '../../format/skill-limits.ts';
import type { Commit } from '../commit.ts';
import type { DoorParts } from '../door-parts.ts';
import { changesBetween, type FileChange, hashOfSkillFile, hashSkillTree, type SkillFile } from '../skill-tree.ts';
import { backupPlace } from './skill-backup.ts';
import type { ManifestFile, SkillManifest } from './skill-manifest.ts';

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

function supportEntry({ path, before, after }: FileChange, backup: string, at: string): ManifestFile {
  return {
    path,
    kind: before === undefined ? 'added' : after === undefined ? 'removed' : 'replaced',
    sha256: hashOf(after),
    original_sha256: hashOf(before),
    backup_path: before === undefined ? null : join(backup, backupPlace(path)),
    recorded_at: at,
  };
}

function hashOf(file: SkillFile | undefined): string | null {
  return file === undefined ? null : sha256(file.bytes);
}
