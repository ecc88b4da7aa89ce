// Owns the two markers and finding the block between them (seed 002, what gets written; curator notes 10). Pure.

export const START_MARKER = '<!-- curator-evolver:auto:start -->';
export const END_MARKER = '<!-- curator-evolver:auto:end -->';

/**
 * `none`: no marker. `whole`: one start before one end; offsets in UTF-16 units, `end` behind the end marker.
 * `broken`: anything else, and so nothing that could be replaced without guessing.
 */
export type BlockPlace =
  | { readonly state: 'none' }
  | { readonly state: 'broken' }
  | { readonly state: 'whole'; readonly start: number; readonly end: number };

export function locateBlock(text: string): BlockPlace {
  const starts = countOf(text, START_MARKER);
  const ends = countOf(text, END_MARKER);
  if (starts === 0 && ends === 0) return { state: 'none' };
  const start = text.indexOf(START_MARKER);
  const end = text.indexOf(END_MARKER);
  if (starts !== 1 || ends !== 1 || end < start) return { state: 'broken' };
  return { state: 'whole', start, end: end + END_MARKER.length };
}

export function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}
