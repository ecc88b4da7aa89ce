// Owns finding the name of a skill in a line by patterns: names that are everyday words count where the pattern leaves no doubt. Pure.
import { patterns } from './english.ts';

/** Lower case; undefined when no pattern fits. */
export function namedIn(words: string, forms: readonly RegExp[]): string | undefined {
  const line = words.replace(/[.!?\s]+$/, '');
  for (const form of forms) {
    const name = form.exec(line)?.groups?.name;
    if (name !== undefined && !patterns.noName.test(name)) return name.toLowerCase();
  }
  return undefined;
}
