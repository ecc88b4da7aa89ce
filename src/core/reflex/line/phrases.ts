// Owns the reading of the language data: lists of phrases, and meanings with the phrases that stand for them.

/** `a | b c` → `['a', 'b c']`; white space means nothing. */
export function phrases(text: string): readonly string[] {
  return text.split('|').map(tidy);
}

/** Words separated by white space. */
export function wordList(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/** Lines of `meaning = a | b` → `{ a: meaning, b: meaning }`. */
export function meanings(text: string): Readonly<Record<string, string>> {
  const lines = text.trim().split('\n');
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [meaning = '', said = ''] = line.split(' = ');
      return phrases(said).map((phrase) => [phrase, meaning.trim()]);
    }),
  );
}

function tidy(phrase: string): string {
  return phrase.trim().replace(/\s+/g, ' ');
}
