// Owns the two checks of a drill that restore something: SKILL.md and the support files, copied into the drill folder and compared by
// hash. Knows no report. Invariant: only the drill folder is written to; a path of a manifest never leads out of it.
import { basename, join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { errorCode } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { SKILL_FILE } from '../../format/skill-limits.ts';
import { MANIFEST_FILE } from '../backup/skill-manifest.ts';
import { type BackupCopy, readBackupCopy } from './backup-copy.ts';
import { textAt } from './drill-manifest.ts';
import type { DrillCheck, DrillCompat } from './drill-report.ts';

export interface Recovery extends DrillCompat {
  readonly manifest: JsonObject;
  /** Folder of the manifest and folder of the drill, both resolved. */
  readonly backup: string;
  readonly target: string;
}

export const REPORT_FILE = 'restore-drill-report.json';
/** As many files as a skill may have. */
const MAX_ENTRIES = 1_000;

/** With `restored`, the path of the copy that is what it should be. */
export function recoverTarget({
  manifest,
  backup,
  target,
  compat,
}: Recovery): DrillCheck & { readonly restored?: string } {
  const name = 'target-recovery' as const;
  const recorded = textAt(manifest, 'backup_path');
  const expected = manifest.original_sha256;
  // A first version took nothing away: undoing it removes the skill.
  if (manifest.backup_path === null && expected === null && compat !== 'upstream')
    return { name, status: 'skipped', reason: null };
  if (recorded === undefined) return { name, status: 'fail', reason: 'manifest-missing-backup-path' };
  const copy = readBackupCopy(backup, recorded);
  if (!copy.ok) return { name, status: 'fail', reason: TARGET_REASONS[copy.reason] };
  const restored = join(target, targetName(manifest));
  atomicWrite(restored, copy.bytes);
  if (sha256(copy.bytes) !== expected) return { name, status: 'fail', reason: 'sha256-mismatch' };
  return { name, status: 'pass', reason: null, restored };
}

const TARGET_REASONS: Readonly<Record<Extract<BackupCopy, { ok: false }>['reason'], string>> = {
  missing: 'backup-missing',
  outside: 'backup-outside-folder',
  'too-large': 'backup-too-large',
};

/** Plain: the manifest may say anything. */
function targetName(manifest: JsonObject): string {
  const name = basename(textAt(manifest, 'target_path') ?? SKILL_FILE);
  return isPlainPath(name) && name !== REPORT_FILE ? name : SKILL_FILE;
}

export function recoverSupportFiles(recovery: Recovery): DrillCheck {
  const name = 'support-files-recovery' as const;
  const { support_files: entries } = recovery.manifest;
  if (entries === undefined || entries === null) return { name, status: 'skipped', reason: null };
  if (!Array.isArray(entries)) return { name, status: 'warn', reason: 'warned-entries:1' };
  const list: readonly (JsonValue | undefined)[] = entries;
  if (list.length === 0) return { name, status: 'skipped', reason: null };
  if (list.length > MAX_ENTRIES) return { name, status: 'fail', reason: `failed-entries:${list.length}` };
  const outcomes = list.map((entry) => recoverEntry(entry, recovery));
  const count = (wanted: EntryOutcome) => outcomes.filter((outcome) => outcome === wanted).length;
  if (count('failed') > 0) return { name, status: 'fail', reason: `failed-entries:${count('failed')}` };
  if (count('warned') > 0) return { name, status: 'warn', reason: `warned-entries:${count('warned')}` };
  return { name, status: 'pass', reason: null };
}

type EntryOutcome = 'ok' | 'warned' | 'failed';

function recoverEntry(entry: JsonValue | undefined, { backup, target, manifest }: Recovery): EntryOutcome {
  if (!isJsonObject(entry)) return 'warned';
  const path = textAt(entry, 'path');
  if (path === undefined || !isPlainPath(path) || [REPORT_FILE, MANIFEST_FILE, targetName(manifest)].includes(path))
    return 'warned';
  // Ours says what was there before, null for nothing; the original's copy is of what was written, and `sha256` is its hash.
  const expected = 'original_sha256' in entry ? entry.original_sha256 : entry.sha256;
  const recorded = textAt(entry, 'backup_path');
  if (recorded === undefined) return expected === null ? 'ok' : 'warned';
  const copy = readBackupCopy(backup, recorded);
  if (!copy.ok || sha256(copy.bytes) !== expected) return 'failed';
  return isWritten(join(target, path), copy.bytes) ? 'ok' : 'failed';
}

/** Two entries may want one place as a file and as a folder; that is the manifest's fault, a full disk is not. */
function isWritten(path: string, bytes: Uint8Array): boolean {
  try {
    atomicWrite(path, bytes);
    return true;
  } catch (error) {
    if (errorCode(error) !== 'write-failed') throw error;
    return false;
  }
}

/** Relative, without parent components and empty ones. */
function isPlainPath(path: string): boolean {
  const parts = path.split(/[\\/]/);
  return !path.includes('\0') && parts.every((part) => part !== '' && part !== '.' && part !== '..');
}
