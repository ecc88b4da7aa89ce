// Owns finding the words by which a statement turns what it quotes: `It is false that …` says every word of the evidence.
// Invariant: pure and linear; a word that the evidence itself holds turns nothing.

const NO_LETTERS = /[^\p{L}]+/u;
const TURNING: ReadonlySet<string> = new Set(
  `false falsely untrue wrong wrongly incorrect incorrectly inaccurate mistaken mistakenly myth hoax lie lies contrary opposite refuted
  refutes disproved disproven disproves debunked contradicted contradicts fake pretended allegedly supposedly doubtful doubted`.split(
    /\s+/,
  ),
);

/** One word in lower case. */
export function isTurningWord(word: string): boolean {
  return TURNING.has(word);
}

/** Both texts folded. */
export function turningWords(said: string, evidence: string): readonly string[] {
  const own = new Set(evidence.split(NO_LETTERS));
  return said.split(NO_LETTERS).filter((word) => TURNING.has(word) && !own.has(word));
}
