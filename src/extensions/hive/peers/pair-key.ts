// Owns when two sparks are about the same two peers: by ids, in either order (R4.28; hivemind notes 6, B2).

/** The same for (a, b) and (b, a). Ids hold no line break. */
export function pairKey(a: string, b: string): string {
  return a < b ? `${a}\n${b}` : `${b}\n${a}`;
}
