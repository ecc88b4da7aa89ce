// Owns the cheap stage of verification (seed 002, builtin-structural; curator notes 11.3, stage 1). Pure, no process, reads the text only.
// Invariant: every failure is named, in the notes' order; a text without front matter passes that part.

import { codeLength } from '#base/text/code-points.ts';
import type { CompatOptions } from '#mind/evidence/ledger/compact-preview.ts';
import { countOf, END_MARKER, START_MARKER } from '#mind/skills/format/managed-block.ts';
import { HARD_LIMIT } from '../block/prepare-update.ts';
import { type HeaderFault, headerFault } from './header-fault.ts';

export interface StructuralVerdict {
  readonly passed: boolean;
  readonly failures: readonly string[];
}

/**
 * The cheap stage of verification (seed 002, builtin-structural; notes 11.3). In: the text of a SKILL.md. Out: whether it passed, and in
 * the notes' order what failed: size over 100,000 code points, markers unbalanced, doubled or reversed, front matter that is no YAML
 * mapping, with the class of the YAML fault. The same for ours and the original. Throws nothing.
 */
export function structuralCheck(text: string, _options: CompatOptions = {}): StructuralVerdict {
  const fault = frontMatterFault(text);
  const failures = [...sizeFailures(text), ...markerFailures(text), ...(fault === null ? [] : [fault])];
  return { passed: failures.length === 0, failures };
}

function sizeFailures(text: string): readonly string[] {
  const size = codeLength(text);
  return size > HARD_LIMIT ? [`over-hard-cap:${size}>${HARD_LIMIT}`] : [];
}

function markerFailures(text: string): readonly string[] {
  const starts = countOf(text, START_MARKER);
  const ends = countOf(text, END_MARKER);
  const endsBefore = starts === 1 && text.indexOf(END_MARKER) < text.indexOf(START_MARKER);
  return [
    ...(starts === ends ? [] : [`unbalanced-managed-block-markers:${starts}!=${ends}`]),
    ...(starts > 1 ? [`duplicate-managed-block:${starts}`] : []),
    ...(endsBefore ? ['managed-block-end-before-start'] : []),
  ];
}

function frontMatterFault(text: string): HeaderFault {
  if (!text.startsWith('---')) return null;
  const header = headerOf(text);
  return header === undefined ? 'frontmatter-not-parseable' : headerFault(header);
}

/** Between a first line of three dashes and the next one, which may be the last line of the text. */
export function headerOf(text: string): string | undefined {
  const lines = text.split(/\r\n?|\n/);
  if (!/^---[ \t]*$/.test(lines[0] ?? '')) return undefined;
  const close = lines.findIndex((line, at) => at > 0 && /^---[ \t]*$/.test(line));
  return close === -1 ? undefined : lines.slice(1, close).join('\n');
}
