// Owns how evidence rows read inside a block (curator notes 10). Pure. The original writes them as they are; ours keep them on one line in
// a code fence, stripped of everything that could close the fence, the block or a comment, and redacted: data, never instructions.

import { cutPoints, firstPoints } from '#base/text/code-points.ts';
import type { EvidenceRow } from '../report/evidence.ts';
import { newestFirst } from '../report/rows-reader.ts';
import { inlineText } from '../text/inline-text.ts';

/** Rows as callers have them: a field that is missing is empty. */
export type BlockRow = Partial<EvidenceRow>;

const LONGEST_PREVIEW = 220;
/** No name is longer; more of it would be evidence, not a name. */
const LONGEST_NAME = 80;
const LOOKED_AT = 4000;
/** The door takes such a mark in a new text for a sign that the text is not what was meant. */
const TAKEN_OUT = /\[redacted:[\w-]{1,40}\]/g;
const NO_ROWS = '- No recent evidence rows in this window.';

/** Ours in an order that does not depend on the input's; the original's as given. */
export function orderRows(rows: readonly BlockRow[], upstream: boolean): readonly BlockRow[] {
  if (upstream) return rows;
  return newestFirst(
    rows.map((row) => ({ ...row, created_at: String(row.created_at ?? '') })),
    false,
  );
}

/** The lines below "Recent evidence". */
export function evidenceLines(rows: readonly BlockRow[], upstream: boolean): readonly string[] {
  if (rows.length === 0) return [NO_ROWS];
  return upstream ? rows.map(upstreamLine) : fenced(rows.map(ourLine));
}

export function fenced(lines: readonly string[]): readonly string[] {
  return ['```text', ...lines, '```'];
}

function upstreamLine(row: BlockRow): string {
  const preview = cutPoints(previewOf(row).replaceAll('\n', ' '), LONGEST_PREVIEW);
  const lead = `- ${row.created_at ?? ''}: \`${row.tool_name ?? ''}\` ${verdict(row)}`;
  return preview === '' ? lead : `${lead} — ${preview}`;
}

function ourLine(row: BlockRow): string {
  const preview = safePreview(row, LONGEST_PREVIEW);
  const lead = `- ${safeName(row.created_at)} ${safeName(row.tool_name)} ${verdict(row)}`;
  return preview === '' ? lead : `${lead}: ${preview}`;
}

export function safePreview(row: BlockRow, limit: number): string {
  return cutPoints(
    inlineText(firstPoints(previewOf(row), LOOKED_AT))
      .replace(TAKEN_OUT, '(secret left out)')
      .trim(),
    limit,
  );
}

/** One line, no mark of Markdown that could begin anything. */
export function safeName(name: unknown): string {
  const plain = inlineText(firstPoints(String(name ?? ''), LOOKED_AT)).replaceAll('`', "'");
  return cutPoints(plain.trim(), LONGEST_NAME);
}

export function previewOf({ result_preview: preview }: BlockRow): string {
  return preview === null || preview === undefined ? '' : String(preview);
}

export function verdict(row: BlockRow): 'error' | 'ok' {
  return row.is_error ? 'error' : 'ok';
}
