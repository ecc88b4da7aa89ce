// Owns cutting one line that is too long: between characters where the bytes are UTF-8, never between CR and LF, anywhere in what is neither.
// Invariant: the cores follow each other without gap; each part holds `size` bytes at most, overlap included.

export interface PartSize {
  /** Bytes of a part at most, 4 or more. */
  readonly size: number;
  /** Bytes repeated from before; at most a quarter of the size. */
  readonly overlap: number;
}

/** [start, where the new bytes begin, end] of each part. */
export type PartBounds = readonly [start: number, core: number, end: number];

export function splitLine(
  bytes: Uint8Array,
  range: { readonly start: number; readonly end: number },
  size: PartSize,
): PartBounds[] {
  const parts: PartBounds[] = [];
  let core = range.start;
  while (core < range.end) {
    const start = core === range.start ? core : startOfCharacter(bytes, core - size.overlap, core, 1);
    const whole = Math.min(range.end, start + size.size);
    const end = whole === range.end ? whole : lastCut(bytes, whole, core);
    parts.push([start, core, end]);
    core = end;
  }
  return parts;
}

function lastCut(bytes: Uint8Array, at: number, least: number): number {
  if (bytes[at] === 10 && bytes[at - 1] === 13) return at - 1 > least ? at - 1 : at;
  return startOfCharacter(bytes, at, least, -1);
}

/** The nearest start of a character in the direction, `bound` when it comes first; `at` itself when the bytes there are no UTF-8. */
function startOfCharacter(bytes: Uint8Array, at: number, bound: number, step: 1 | -1): number {
  for (let moved = 0; moved < 4; moved += 1) {
    const place = at + moved * step;
    if (place === bound) return step === 1 ? bound : at;
    if (((bytes[place] ?? 0) & 0xc0) !== 0x80) return place;
  }
  return at;
}
