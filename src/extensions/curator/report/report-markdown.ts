// Owns the Markdown form of a report (curator notes 5). Pure. Invariant: the same figures as the JSON; no text of the evidence but names,
// and those on one line without marks.
import { inlineText } from '../text/inline-text.ts';
import type { EvidenceReport, EvidenceRow } from './evidence.ts';

const SHOWN_ROWS = 10;

export function reportMarkdown(report: EvidenceReport): string {
  const { filters, summary } = report;
  return `${[
    `# ${report.title}`,
    '',
    `- Window: last ${filters.days} day(s)`,
    `- Skill filter: ${filters.skill === null ? 'all' : code(filters.skill)}`,
    `- Evidence DB: ${code(report.db_path)}`,
    '- No mutation: this report changes nothing.',
    '',
    '## Summary',
    `- Tool events: ${summary.tool_events}`,
    `- Skill-related events: ${summary.skill_events}`,
    `- Error-like events: ${summary.error_events}`,
    `- Turn events: ${summary.turn_events}`,
    `- Session-end events: ${summary.session_events}`,
    '',
    '## Top skills',
    ...orNone(
      summary.skills.map((row) => tallyLine(row.skill_name, row)),
      'No skill events in this window.',
    ),
    '',
    '## Top tools',
    ...orNone(
      summary.tools.map((row) => tallyLine(row.tool_name, row)),
      'No tool events in this window.',
    ),
    '',
    '## Recent skill/tool evidence',
    ...orNone(report.skill_evidence.slice(0, SHOWN_ROWS).map(evidenceLine), 'No evidence in this window.'),
    '',
    '## Interpretation policy',
    '- Counts are signals for a reviewer, not verdicts.',
    '- Nothing here is applied; changes pass the guarded apply.',
  ].join('\n')}\n`;
}

function orNone(lines: readonly string[], placeholder: string): readonly string[] {
  return lines.length > 0 ? lines : [`- ${placeholder}`];
}

function tallyLine(name: string, counts: { readonly event_count: number; readonly errors: number }): string {
  return `- ${code(name)}: ${counts.event_count} event(s), ${counts.errors} error-like`;
}

function evidenceLine(row: EvidenceRow): string {
  const mark = row.is_error ? '⚠' : '✓';
  const [skill, session] = [row.skill_name, row.session_id].map((name) => (name ? code(name) : '-'));
  return `- ${mark} ${inlineText(row.created_at)} ${code(row.tool_name)} skill ${skill} session ${session}`;
}

function code(name: string): string {
  return `\`${inlineText(name).replaceAll('`', "'")}\``;
}
