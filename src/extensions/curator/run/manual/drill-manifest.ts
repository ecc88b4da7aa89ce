// Owns a restore drill that is remembered (seed 002; curator notes 12): the drill itself is the door's, the state file is the gate's; and its Markdown.
// Invariant: every drill is remembered, a failed one too; where it cannot be, the report says so.
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorCode, errorText } from '#base/errors.ts';
import type { DrillReport } from '#mind/skills/door/drill/drill-report.ts';
import { runRestoreDrill } from '#mind/skills/door/drill/restore-drill.ts';
import { isAsRecorded } from '#mind/skills/door/history/recorded-check.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import { inlineText } from '../../text/inline-text.ts';
import { recordDrill } from '../drill/drill-state.ts';

export interface DrillOrder {
  /** Absolute paths. */
  readonly manifest: string;
  readonly targetDir?: string;
  /** Default: beside the backups that the manifest is one of, else beside those of the home. */
  readonly stateFile?: string;
}

/** A type, so that it counts as JSON. */
export type RememberedDrill = DrillReport & { readonly state_path: string; readonly state_error?: string };

export async function drillManifest(
  { places, clock, open }: Pick<CuratorGround, 'places' | 'clock' | 'open'>,
  { manifest, targetDir, stateFile }: DrillOrder,
): Promise<RememberedDrill> {
  const { state } = await open();
  const report = await runRestoreDrill({
    manifestPath: manifest,
    clock,
    recorded: (path) => isAsRecorded(state, path),
    ...(targetDir === undefined ? {} : { targetDir }),
  });
  const state_path = stateFile ?? join(backupsOf(report.manifest_path) ?? places.skillBackups, STATE_FILE);
  const state_error = remember(state_path, report);
  return { ...report, state_path, ...(state_error === undefined ? {} : { state_error }) };
}

const STATE_FILE = 'restore-drill-state.json';

/** The folder of backups that the manifest is one of; undefined: it lies in no backup, and nothing is written beside it. */
function backupsOf(manifest: string): string | undefined {
  const backup = dirname(manifest);
  return existsSync(manifest) && /^\d{8}T\d+Z$/.test(basename(backup)) ? dirname(backup) : undefined;
}

/** Why it could not be remembered. */
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
  const { errors, warnings, state_error: stateError } = report;
  return `${[
    '# Restore drill',
    '',
    `- Status: ${report.status}`,
    `- Manifest: ${code(report.manifest_path)}`,
    `- Restored: ${report.restored_target === null ? '-' : code(report.restored_target)}`,
    `- Report: ${report.report_path === null ? '-' : code(report.report_path)}`,
    `- State: ${code(report.state_path)}${stateError === undefined ? '' : ` (not written: ${inlineText(stateError)})`}`,
    '- No live file was touched.',
    '',
    '## Checks',
    ...(report.checks.length === 0 ? ['- None could be made.'] : report.checks.map(checkLine)),
    ...section('Warnings', warnings),
    ...section('Errors', errors),
  ].join('\n')}\n`;
}

function checkLine({ name, status, reason }: RememberedDrill['checks'][number]): string {
  return `- ${name}: ${status}${reason === null ? '' : ` (${inlineText(reason)})`}`;
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', `## ${title}`, ...lines.map((line) => `- ${inlineText(line)}`)];
}

function code(path: string): string {
  return `\`${inlineText(path).replaceAll('`', "'")}\``;
}
