// Owns splitting a typed line into words, quotes respected. Knows no command. Invariants: never throws; an open quote runs to the end; an
// apostrophe within a word is one: "don't".

export function splitWords(line: string): string[] {
  const words: string[] = [];
  const pattern = /\s*(?:((?:[^\s"']|(?<=[\p{L}\p{N}])'|"[^"]*(?:"|$)|'[^']*(?:'|$))+))/uy;
  for (let match = pattern.exec(line); match?.[1] !== undefined; match = pattern.exec(line)) {
    words.push(
      match[1].replace(
        /"([^"]*)(?:"|$)|(?<![\p{L}\p{N}])'([^']*)(?:'|$)/gu,
        (_, double?: string, single?: string) => double ?? single ?? '',
      ),
    );
  }
  return words;
}
