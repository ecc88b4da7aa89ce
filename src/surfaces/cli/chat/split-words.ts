// Owns splitting a typed line into words, quotes respected. Knows no command. Invariant: never throws; an open quote runs to the end.

export function splitWords(line: string): string[] {
  const words: string[] = [];
  const pattern = /\s*(?:((?:[^\s"']|"[^"]*(?:"|$)|'[^']*(?:'|$))+))/y;
  for (let match = pattern.exec(line); match?.[1] !== undefined; match = pattern.exec(line)) {
    words.push(
      match[1].replace(
        /"([^"]*)(?:"|$)|'([^']*)(?:'|$)/g,
        (_, double?: string, single?: string) => double ?? single ?? '',
      ),
    );
  }
  return words;
}
