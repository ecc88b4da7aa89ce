// Owns the Markdown form of a drill's report (curator notes 12). Pure. Invariant: every name and reason on one line without marks.
import { inlineText } from '../../text/inline-text.ts';
import type { RememberedDrill } from './drill-manifest.ts';

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
