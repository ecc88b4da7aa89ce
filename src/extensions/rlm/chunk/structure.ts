/**
 * Owns the choice of how a source is taken apart, and where its parts may be parted: for each line how good a place it is to begin a chunk.
 * Levels: 2 a section, a top-level block, a record; 1 a paragraph or inner block; 0 inside one. It does not know limits.
 * Invariant: one pass, linear; the levels only move cuts, they never lose a line.
 */
import { codeLevels } from './code-levels.ts';
import { lineReader } from './line-reader.ts';
import { markdownLevels } from './markdown-levels.ts';
import { blankLineRecordLevels, csvLevels } from './record-levels.ts';
import type { LineIndex } from './scan-lines.ts';

/** `records`: one record a line (JSON lines, logs); `blocks`: records parted by blank lines; `csv`: quoted line ends belong to their record. */
export const STRUCTURES = ['lines', 'markdown', 'code', 'records', 'blocks', 'csv'] as const;
export type Structure = (typeof STRUCTURES)[number];

/** null: every line is as good as another. */
export function boundaryLevels(bytes: Uint8Array, index: LineIndex, structure: Structure): Uint8Array | null {
  const reader = lineReader(bytes, index);
  switch (structure) {
    case 'lines':
    case 'records':
      return null;
    case 'markdown':
      return markdownLevels(reader);
    case 'code':
      return codeLevels(reader);
    case 'blocks':
      return blankLineRecordLevels(reader);
    case 'csv':
      return csvLevels(reader);
  }
}

const BY_ENDING: Readonly<Record<string, Structure>> = {
  ...endings('markdown', 'md markdown mdx qmd rmd'),
  ...endings('csv', 'csv tsv'),
  ...endings('records', 'jsonl ndjson log'),
  ...endings('blocks', 'bib ldif vcf ics'),
  ...endings(
    'code',
    'ts tsx js jsx mjs cjs py rb go rs java kt c h cc cpp hpp cs php swift scala sh lua sql r jl ex hs ml pl css scss zig sol',
  ),
};

function endings(structure: Structure, names: string): Record<string, Structure> {
  return Object.fromEntries(names.split(' ').map((name) => [name, structure]));
}

/** By the ending of the name; lines when it says nothing. */
export function structureOf(path: string): Structure {
  const ending = /\.([A-Za-z0-9]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(BY_ENDING, ending) ? (BY_ENDING[ending] ?? 'lines') : 'lines';
}
