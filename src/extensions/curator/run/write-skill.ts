// Owns one guarded write of the curator through the door and what is kept of it: verifiers, result, drill state, copy of the backup (seed 002,
// staged verification; curator notes 8.6, 11). Knows no plan. Invariants: the door alone writes skills; the structural stage is always first and
// starts no process; a fault of the disk is a result with its code, the old skill standing; what fails after the version stands is a warning,
// never a failure.
import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeFolders } from '#base/atomic-write.ts';
import { isoTime } from '#base/clock.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { randomHex, sha256 } from '#base/ids.ts';
import type { Ground, Mind } from '#core/agent/room.ts';
import type { SkillRefusal, SkillWrite, SkillWritten, Verifier } from '#mind/skills/skill.ts';
import { structuralCheck } from '../block/structural-check.ts';
import { readSkillFile } from '../skill-files.ts';
import { newestApply, recordApply } from './drill.ts';
import type { ApplyResult } from './run-outcome.ts';

/** From cheap to expensive; `cwd`: absolute; null: the skill's folder. `signal` ends a command that runs. A command gets no variable that may be a secret. */
export async function verifiersOf(
  preVerify: string | null,
  verify: string | null,
  { cwd, ground, signal }: { readonly cwd: string | null; readonly ground: Ground; readonly signal: AbortSignal },
): Promise<readonly Verifier[]> {
  const { commandVerifier } = await import('#mind/skills/door/verify.ts');
  const env = await ground.commandVariables();
  const walls = (await ground.open()).walls();
  const place = { env, signal, ...(cwd === null ? {} : { cwd }), ...(walls ? { walls } : {}) };
  const commands = { 'pre-verify-command': preVerify, 'verify-command': verify };
  return [
    structuralVerifier,
    ...Object.entries(commands).flatMap(([name, command]) =>
      command === null ? [] : [commandVerifier({ name, command, ...place })],
    ),
  ];
}

const structuralVerifier: Verifier = {
  name: 'builtin-structural',
  verify: async ({ after }) => {
    if (after === null) return { passed: false, detail: 'read-failed: SKILL.md is not there', exitCode: 1 };
    const { passed, failures } = structuralCheck(after);
    return { passed, detail: failures.join(','), exitCode: passed ? 0 : 1 };
  },
};

export interface WriteParts {
  readonly ground: Ground;
  readonly mind: Mind;
  /** Absolute; a copy of the backup goes there when it is not the door's own. */
  readonly backupDir: string;
  readonly drillStatePath: string;
}

export async function writeSkill(
  parts: WriteParts,
  request: SkillWrite,
  target: string,
  signal: AbortSignal,
): Promise<ApplyResult> {
  const { door, skills } = parts.mind;
  const known = newestApply(door, skills.list())?.at ?? 0;
  try {
    const written = await door.write(request, signal);
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
  const { ground, mind, backupDir, drillStatePath } = parts;
  const told: string[] = [...written.warnings];
  const version = mind.door.versions(written.name).find((row) => row.version === written.version);
  const copied =
    backupDir === ground.places.skillBackups
      ? undefined
      : attempt(told, 'the backup was not copied', () => copyBackup(written.manifestPath, backupDir));
  const manifest = copied ?? written.manifestPath;
  attempt(told, 'the drill state was not written', () =>
    recordApply(drillStatePath, {
      manifest_path: manifest,
      applied_at: isoTime(ground.clock.now()),
      target_path: written.path,
      skill_name: written.name,
      known_at: Math.max(known, version?.at ?? 0),
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
