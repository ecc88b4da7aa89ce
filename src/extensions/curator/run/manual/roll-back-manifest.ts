// Owns undoing the version that a manifest belongs to, and saying so as the original does (curator notes 11.4). Knows no manifest's text:
// paths and hashes are those that were recorded. Invariant: the door's rollback does the work, the same that `skills rollback` ends in; a
// copy of a backup means the version.
import { basename, dirname, join } from 'node:path';
import { sha256 } from '#base/ids.ts';
import { versionOfBackup } from '#mind/skills/door/history/version-rows.ts';
import type { CuratorGround, CuratorMind } from '../../curator-ground.ts';
import { manifestPlace } from '../drill/known-applies.ts';
import { readSkillFile } from '../gather/read-skill-file.ts';

/** A type, so that it counts as JSON. */
export type RollbackResult = {
  readonly rolled_back: boolean;
  /** `rolled-back`, or the gate that refused. */
  readonly reason: string;
  readonly detail?: string;
  readonly manifest_path: string;
  readonly target_path: string | null;
  readonly backup_path: string | null;
  /** With `target-changed`. */
  readonly current_sha256?: string | null;
  readonly expected_sha256?: string | null;
  /** Number of the version that stands now. */
  readonly version?: number;
  readonly new_sha256?: string | null;
};

export async function rollBackManifest(
  { ground, mind }: { readonly ground: CuratorGround; readonly mind: CuratorMind },
  { manifest, force }: { readonly manifest: string; readonly force: boolean },
): Promise<RollbackResult> {
  const place = manifestPlace(manifest, ground.places.skillBackups);
  const recorded = versionOfBackup(mind.state, basename(dirname(place)));
  const shown = { manifest_path: manifest, ...pathsOf(ground, recorded) };
  if (mind.state.readOnly)
    return {
      rolled_back: false,
      reason: 'home-newer',
      detail: 'A newer Talaria wrote this home; update this one first.',
      ...shown,
    };
  const undone = await mind.door.rollback({ manifestPath: place }, { force, actor: 'rollback' });
  if (!undone.ok) {
    const { reason, detail } = undone;
    const hashes = reason === 'target-changed' ? hashesOf(shown.target_path, recorded?.new_hash ?? null) : {};
    return { rolled_back: false, reason, detail, ...shown, ...hashes };
  }
  await mind.skills.refresh();
  const { version, newHash, path } = undone.value;
  return { rolled_back: true, reason: 'rolled-back', ...shown, target_path: path, version, new_sha256: newHash };
}

function hashesOf(target: string | null, expected: string | null): Partial<RollbackResult> {
  const now = target === null ? undefined : readSkillFile(target);
  return { current_sha256: now?.ok ? sha256(now.value) : null, expected_sha256: expected };
}

/** As recorded with the version, whatever a manifest says now; null without a version. */
function pathsOf(
  { places }: CuratorGround,
  recorded: ReturnType<typeof versionOfBackup>,
): Pick<RollbackResult, 'target_path' | 'backup_path'> {
  if (recorded === undefined) return { target_path: null, backup_path: null };
  const { folder, backup, original_hash: original } = recorded;
  return {
    target_path: join(places.skills, folder, 'SKILL.md'),
    backup_path: original === null ? null : join(places.skillBackups, backup, 'SKILL.md'),
  };
}
