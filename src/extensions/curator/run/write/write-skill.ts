// Owns one guarded write of the curator through the door and what is kept of it: result, drill state, copy of the backup (curator notes
// 8.6, 11). Knows no plan. Invariants: the door alone writes skills; a fault of the disk is a result with its code, the old skill standing;
// what fails after the version stands is a warning, never a failure.

import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeFolders } from '#base/atomic-write.ts';
import { isoTime } from '#base/clock.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { randomHex, sha256 } from '#base/ids.ts';
import type { SkillDoor, SkillRefusal, SkillWrite, SkillWritten } from '#mind/skills/skill-door.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import { recordApply } from '../drill/drill-state.ts';
import { newestApplyAt } from '../drill/known-applies.ts';
import { readSkillFile } from '../gather/read-skill-file.ts';
import type { ApplyResult } from '../run-outcome.ts';

export interface WriteParts {
  readonly ground: CuratorGround;
  readonly door: SkillDoor;
  /** Absolute; a copy of the backup goes there when it is not the door's own. */
  readonly backupDir: string;
  readonly drillStatePath: string;
  /** Skills that the curator may have written before. */
  readonly skills: readonly string[];
}

export interface GuardedWrite {
  readonly request: SkillWrite;
  /** Absolute path of SKILL.md. */
  readonly target: string;
}

export async function writeSkill(
  parts: WriteParts,
  { request, target }: GuardedWrite,
  signal: AbortSignal,
): Promise<ApplyResult> {
  const known = newestApplyAt(parts.door, parts.skills);
  try {
    const written = await parts.door.write(request, signal);
    if (!written.ok) return refusedResult(written, request, target);
    return appliedResult(parts, written.value, known);
  } catch (error) {
    if (signal.aborted || !(error instanceof TalariaError)) throw error;
    return { applied: false, reason: error.code, detail: error.message, target_path: target };
  }
}

function refusedResult(refusal: SkillRefusal, { expectedHash }: SkillWrite, target: string): ApplyResult {
  const { reason, detail, manifestPath, archivePath, verify } = refusal;
  return {
    ...{ applied: false, reason: REASONS[reason] ?? reason, detail, target_path: target },
    ...(reason === 'hash-mismatch' ? hashes(target, expectedHash) : {}),
    ...(manifestPath === undefined ? {} : { manifest_path: manifestPath }),
    ...(archivePath === undefined ? {} : { archive_path: archivePath }),
    ...(verify === undefined ? {} : { verify }),
  };
}

/** The door's words that the original has its own for. */
const REASONS: Readonly<Partial<Record<SkillRefusal['reason'], string>>> = {
  'not-agent-made': 'source-not-agent-created',
  'too-large': 'skill-content-hard-cap',
  unchanged: 'managed-block-unchanged',
};

function hashes(target: string, expected: string | undefined): Partial<ApplyResult> {
  const now = readSkillFile(target);
  const current = now.ok ? sha256(now.value) : null;
  return { current_sha256: current, ...(expected === undefined ? {} : { expected_sha256: expected }) };
}

function appliedResult(parts: WriteParts, written: SkillWritten, known: number): ApplyResult {
  const { ground, backupDir, drillStatePath } = parts;
  const told: string[] = [...written.warnings];
  const isElsewhere = backupDir !== ground.places.skillBackups;
  const copied = isElsewhere
    ? attempt(told, 'the backup was not copied', () => copyBackup(written.manifestPath, backupDir))
    : undefined;
  const manifest = copied ?? written.manifestPath;
  attempt(told, 'the drill state was not written', () =>
    recordApply(drillStatePath, {
      manifest_path: manifest,
      applied_at: isoTime(ground.clock.now()),
      target_path: written.path,
      skill_name: written.name,
      known_at: Math.max(known, versionAt(parts.door, written)),
    }),
  );
  return {
    applied: true,
    reason: 'applied',
    target_path: written.path,
    backup_path: manifest.replace(/manifest\.json$/, 'SKILL.md'),
    manifest_path: manifest,
    new_sha256: written.newHash,
    drill_state_path: drillStatePath,
    ...(written.verify === undefined ? {} : { verify: written.verify }),
    ...(told.length === 0 ? {} : { warnings: told }),
  };
}

function versionAt(door: Pick<SkillDoor, 'versions'>, { name, version }: SkillWritten): number {
  return door.versions(name).find((row) => row.version === version)?.at ?? 0;
}

function attempt<T>(told: string[], what: string, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    told.push(`${what}: ${errorText(error)}`);
    return undefined;
  }
}

/** Gives the path of the copied manifest. Throws the system's error, with nothing left behind. */
function copyBackup(manifestPath: string, backupDir: string): string {
  const from = dirname(manifestPath);
  const to = join(backupDir, basename(from));
  if (existsSync(to)) return join(to, basename(manifestPath));
  const temp = join(backupDir, `.tmp_${basename(from)}_${randomHex(4)}`);
  makeFolders(backupDir);
  try {
    cpSync(from, temp, { recursive: true, errorOnExist: true, force: false });
    renameSync(temp, to);
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
  return join(to, basename(manifestPath));
}
