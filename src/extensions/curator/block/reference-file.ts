// Owns the file that bulky evidence spills into: its name, its text, and which old ones may go (curator notes 10, 21.6). Pure.
// Of the original's file only the name is kept. Invariant: what was recorded stands in a fence that it cannot close; the files of one skill
// are at most `KEPT_REFERENCES` and the new one.

import { caseFold } from '#base/text/case-fold.ts';
import { comparePoints } from '#base/text/code-points.ts';
import { timeStamp } from '../text/time-stamp.ts';
import { countsOf, failureLines, failuresOf, safeName } from './failures.ts';
import { type BlockRequest, DEFAULT_DAYS, fenced } from './managed-block.ts';

export interface SupportFile {
  /** Below the skill's folder, with slashes. */
  readonly path: string;
  readonly text: string;
}

const MOST_ROWS = 20;
/** Older reference files that stay beside a new one. */
const KEPT_REFERENCES = 2;

export function referenceFile(request: BlockRequest): SupportFile {
  const { iso, file } = timeStamp(request.now);
  const failures = failuresOf(request);
  const summary = countsOf(request.summary, failures);
  const lines = [
    `# Auto-curated evidence: \`${safeName(request.skill)}\``,
    '',
    `- Generated at: \`${iso}\``,
    `- Evidence window: last ${request.days ?? DEFAULT_DAYS} day(s)`,
    '',
    '## Summary',
    `- Tool events: ${summary.tool_events ?? 0}`,
    `- Skill events: ${summary.skill_events ?? 0}`,
    `- Error-like events: ${summary.error_events ?? 0}`,
    '',
    '## Evidence',
    '',
    ...fenced(failureLines(failures.slice(0, MOST_ROWS))),
  ];
  return { path: `references/${PREFIX}${slugOf(request.skill)}-${file}.md`, text: `${lines.join('\n').trimEnd()}\n` };
}

const PREFIX = 'curator-evolver-auto-';

export function slugOf(skill: string): string {
  const slug = caseFold(skill)
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|[._-]+$/g, '');
  return slug === '' ? 'skill' : slug;
}

/** Of the paths below a skill's folder, the reference files of this skill that may go once `current` stands, or none; oldest first. */
export function prunableReferences(paths: readonly string[], skill: string, current?: string): readonly string[] {
  const lead = `references/${PREFIX}${slugOf(skill)}-`;
  const own = paths.filter((path) => path.startsWith(lead) && /^\d{8}-\d{6}\.md$/.test(path.slice(lead.length)));
  const older = own.filter((path) => path !== current).sort(comparePoints);
  return current === undefined ? older : older.slice(0, Math.max(0, older.length - KEPT_REFERENCES));
}
