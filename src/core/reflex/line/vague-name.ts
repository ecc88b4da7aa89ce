// Owns the question whether words name anything: `the other folder` and `the name of the guy` do not.
// Knows no language but the lists it is given. Invariant: quotations, paths, names of code and figures are never vague.
import type { Language } from '../language.ts';
import { wordList } from './phrases.ts';

interface Sets {
  readonly adjectives: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  readonly links: ReadonlySet<string>;
}

const known = new WeakMap<Language, Sets>();

function setsOf(language: Language): Sets {
  const before = known.get(language);
  if (before !== undefined) return before;
  const adjectives = wordList(language.vagueAdjectives);
  const made = {
    adjectives: new Set(adjectives),
    names: new Set([...adjectives, ...wordList(language.vagueNouns)]),
    links: new Set(wordList(language.vagueLinks)),
  };
  known.set(language, made);
  return made;
}

/** Only tells which one of several: `other`, `last`. */
export function isVagueAdjective(word: string, language: Language): boolean {
  return setsOf(language).adjectives.has(word);
}

/** Nothing in it names a thing. */
export function isVagueName(text: string, language: Language): boolean {
  const { names, links } = setsOf(language);
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => names.has(word) || links.has(word));
}

/** A small word, which stands between things and is none. */
export function isVagueLink(word: string, language: Language): boolean {
  return setsOf(language).links.has(word.toLowerCase());
}
