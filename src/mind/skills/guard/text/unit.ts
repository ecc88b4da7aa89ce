// Owns the shape in which rules see a file: units, each one sentence group, list item, table row or command with the context it stands in.
// Knows no rule. Invariant: plain data; a unit's text is folded and its addresses are marked.

/** `passage` is the prose of a section, `program` the code of a file or fence: several units as one, a unit a line. */
export type UnitKind = 'prose' | 'code' | 'comment' | 'header' | 'passage' | 'program';

export interface Unit {
  readonly kind: UnitKind;
  /** Folded, addresses marked. */
  readonly text: string;
  /** 1-based line of each start offset, ascending; `guarded` where a part of a whole differs from it. */
  readonly starts: readonly { readonly offset: number; readonly line: number; readonly guarded?: boolean }[];
  /** Number of the fence, file or section it belongs to. */
  readonly block: number;
  /** It stands under words that tell of attacks or of what not to do. */
  readonly guarded: boolean;
  /** Decoded out of another text: 0 is as written. */
  readonly depth: number;
}

export function lineAt(unit: Unit, offset: number): number {
  let found = unit.starts[0]?.line ?? 0;
  for (const start of unit.starts) {
    if (start.offset > offset) break;
    found = start.line;
  }
  return found;
}

export function guardedAt(unit: Unit, offset: number): boolean {
  let guarded = unit.guarded;
  for (const start of unit.starts) {
    if (start.offset > offset) break;
    guarded = start.guarded ?? unit.guarded;
  }
  return guarded;
}
