// Owns where the curator's managed block stands in the text of a skill (seed 002, what gets written; curator notes 10). Pure. Knows nothing of
// what it says: who searches, mines or follows a skill reads it without.

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

/** The text as it was before a block was put into it; one with broken markers stays as it is. */
export function withoutBlock(text: string): string {
  const place = locateBlock(text);
  if (place.state !== 'whole') return text;
  const before = text.slice(0, place.start);
  const after = text.slice(place.end).replace(/^\r?\n/, '');
  return after === '' ? before.replace(/\n\n$/, '\n') : before + after;
}

export function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}
