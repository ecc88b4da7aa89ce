// Owns the guess at which entries were meant by a text that none of them contains. Pure and bounded: word overlap, no model.
// Invariant: returns entries as they are, best first, only such as share at least one word with the text.

/** At most `count` entries. */
export function nearestEntries(entries: readonly string[], text: string, count = 3): readonly string[] {
  const wanted = words(text);
  return entries
    .map((entry) => ({ entry, score: overlap(wanted, words(entry)) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, count)
    .map(({ entry }) => entry);
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? []);
}

/** Shared words over the geometric mean of both sizes: a long entry does not win by its length. */
function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const word of a) if (b.has(word)) shared += 1;
  return shared / Math.sqrt(Math.max(1, a.size * b.size));
}
