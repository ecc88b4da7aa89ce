// Owns what the owner types himself: the guarded apply, undoing the version of a manifest, and a restore drill that is remembered (seed 002; curator
// notes 11, 12).
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorCode, errorText } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import type { Ground, Mind } from '#core/agent/room.ts';
import { isAsRecorded } from '#mind/skills/door/history.ts';
import { type DrillReport, runRestoreDrill } from '#mind/skills/door/restore-drill.ts';
import { versionOfBackup } from '#mind/skills/door/versions.ts';
import type { Verifier } from '#mind/skills/skill.ts';
import { readSkillFile, realOf } from '../skill-files.ts';
import { inlineCode, inlineText } from '../text.ts';
import { manifestPlace, recordDrill } from './drill.ts';
import type { ApplyResult } from './run-outcome.ts';
import { writeSkill } from './write-skill.ts';

const STATE_FILE = 'restore-drill-state.json';
const HOME_NEWER = {
  ...{ reason: 'home-newer', detail: 'A newer Talaria wrote this home; update this one first.' },
} as const;

export interface ApplyOrder {
  readonly target: string;
  readonly content: string;
  /** SHA-256 hex that the target has now. */
  readonly expectedHash: string;
  readonly backupDir: string;
  readonly approved: boolean;
  readonly verifiers: readonly Verifier[];
}

export async function applyByOwner(
  ground: Ground,
  mind: Mind,
  order: ApplyOrder,
  signal: AbortSignal,
): Promise<ApplyResult> {
  const { target, content, expectedHash, backupDir, approved, verifiers } = order;
  const refused = (reason: string, detail: string) => ({ applied: false, reason, detail, target_path: target });
  if (!approved) return refused('approval-required', 'Add --approve to write it.');
  if (mind.state.readOnly) return { applied: false, ...HOME_NEWER };
  await mind.skills.ready(signal);
  const [real, named] = [realOf(target), basename(dirname(target))];
  const skill = mind.skills
    .list()
    .filter(({ writable, folder }) => writable && basename(folder) === named)
    .find(({ folder }) => real !== undefined && realOf(join(folder, 'SKILL.md')) === real);
  if (skill === undefined)
    return refused(
      'target-not-found',
      `${target} is no SKILL.md of a skill in ${ground.places.skills}. Only those are written; \`talaria import\` or \`talaria skills install\` brings a skill there.`,
    );
  const { name, folder } = skill;
  const result = await writeSkill(
    { ground, mind, backupDir, drillStatePath: join(backupDir, STATE_FILE) },
    {
      ...{ name, change: { action: 'edit', content }, actor: 'owner', approved, verifiers },
      expectedHash: expectedHash.trim().toLowerCase(),
      trail: { source: 'owner' },
    },
    join(folder, 'SKILL.md'),
    signal,
  );
  if (result.applied) await mind.skills.refresh(signal);
  return result;
}

/** `reason`: `rolled-back`, or the gate that refused. The hashes come with `target-changed`; `version`: the one that stands now. */
type RollbackResult = Pick<ApplyResult, 'reason' | 'detail' | 'new_sha256' | 'current_sha256'> & {
  readonly rolled_back: boolean;
  readonly manifest_path: string;
  readonly target_path: string | null;
  readonly backup_path: string | null;
  readonly expected_sha256?: string | null;
  readonly version?: number;
};

/** Undoes it as `skills rollback` does, and says so as the original does; a copy of a backup means the version. */
export async function rollBackManifest(
  { places }: Ground,
  mind: Mind,
  manifest: string,
  force: boolean,
): Promise<RollbackResult> {
  const place = manifestPlace(manifest, places.skillBackups);
  const recorded = versionOfBackup(mind.state, basename(dirname(place)));
  /** As recorded with the version, whatever a manifest says now; null without a version. */
  const target_path = recorded ? join(places.skills, recorded.folder, 'SKILL.md') : null;
  const hasBackup = recorded !== undefined && recorded.original_hash !== null;
  const backup_path = hasBackup ? join(places.skillBackups, recorded.backup, 'SKILL.md') : null;
  const shown = { manifest_path: manifest, target_path, backup_path };
  if (mind.state.readOnly) return { rolled_back: false, ...HOME_NEWER, ...shown };
  const undone = await mind.door.rollback({ manifestPath: place }, { force, actor: 'rollback' });
  if (!undone.ok) {
    const { reason, detail } = undone;
    const refused = { rolled_back: false, reason, detail, ...shown };
    if (reason !== 'target-changed') return refused;
    const now = target_path === null ? undefined : readSkillFile(target_path);
    const current_sha256 = now?.ok ? sha256(now.value) : null;
    return { ...refused, current_sha256, expected_sha256: recorded?.new_hash ?? null };
  }
  await mind.skills.refresh();
  const { version, newHash, path } = undone.value;
  return { rolled_back: true, reason: 'rolled-back', ...shown, target_path: path, version, new_sha256: newHash };
}

type RememberedDrill = DrillReport & { readonly state_path: string; readonly state_error?: string };

/** Absolute paths. `stateFile`: default beside the backups that the manifest is one of, else beside those of the home. */
export async function drillManifest(
  { places, clock, open }: Pick<Ground, 'places' | 'clock' | 'open'>,
  manifestPath: string,
  { targetDir, stateFile }: { readonly targetDir?: string | undefined; readonly stateFile?: string | undefined } = {},
): Promise<RememberedDrill> {
  const { state } = await open();
  const report = await runRestoreDrill({
    ...{ manifestPath, clock, recorded: (path) => isAsRecorded(state, path) },
    ...(targetDir === undefined ? {} : { targetDir }),
  });
  const state_path = stateFile ?? join(backupsOf(report.manifest_path) ?? places.skillBackups, STATE_FILE);
  const state_error = remember(state_path, report);
  return { ...report, state_path, ...(state_error === undefined ? {} : { state_error }) };
}

/** The folder of backups that the manifest is one of; undefined: it lies in no backup, and nothing is written beside it. */
function backupsOf(manifest: string): string | undefined {
  const backup = dirname(manifest);
  return existsSync(manifest) && /^\d{8}T\d+Z$/.test(basename(backup)) ? dirname(backup) : undefined;
}

function remember(path: string, report: DrillReport): string | undefined {
  const { manifest_path, status, restored_target, report_path, warnings, drill_finished_at: drill_at } = report;
  try {
    const done = recordDrill(path, { manifest_path, status, drill_at, restored_target, report_path, warnings });
    return done.ok ? undefined : done.detail;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return errorText(error);
  }
}

export function drillMarkdown(report: RememberedDrill): string {
  const { checks, errors, warnings, state_error: stateError } = report;
  const named = (path: string | null) => (path === null ? '-' : inlineCode(path));
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ['', `## ${title}`, ...lines.map((line) => `- ${inlineText(line)}`)];
  return `${[
    '# Restore drill',
    '',
    `- Status: ${report.status}`,
    `- Manifest: ${named(report.manifest_path)}`,
    `- Restored: ${named(report.restored_target)}`,
    `- Report: ${named(report.report_path)}`,
    `- State: ${named(report.state_path)}${stateError === undefined ? '' : ` (not written: ${inlineText(stateError)})`}`,
    '- No live file was touched.',
    '',
    '## Checks',
    ...(checks.length === 0 ? ['- None could be made.'] : []),
    ...checks.map(
      ({ name, status, reason }) => `- ${name}: ${status}${reason === null ? '' : ` (${inlineText(reason)})`}`,
    ),
    ...section('Warnings', warnings),
    ...section('Errors', errors),
  ].join('\n')}\n`;
}
