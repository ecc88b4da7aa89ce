// Owns the words of lexical search (curator notes 6): runs of word characters or hyphens of at least two characters, in lower case. Pure.

/** Letters, digits and underscore of every script, as the original's language counts word characters. */
const WORD = /[\p{L}\p{N}_-]+/gu;

export function tokensOf(text: string): ReadonlySet<string> {
  const words = text.match(WORD) ?? [];
  return new Set(words.filter((word) => /../u.test(word)).map((word) => word.toLowerCase()));
}
