// Owns what a language must tell so that a request can be read in it. Shape and the union of two; holds no word.

export interface Lexicon {
  /** They say what comes out. */
  readonly clearVerbs: ReadonlySet<string>;
  /** They leave open what comes out: clear only with an object that says more than "the file". */
  readonly openVerbs: ReadonlySet<string>;
  /** They say only that something is to be done: clear only with two such objects. */
  readonly handlingVerbs: ReadonlySet<string>;
  readonly questionWords: ReadonlySet<string>;
  /** Nouns that name the target again and say nothing of what in it is meant. */
  readonly genericNouns: ReadonlySet<string>;
  /** Nouns, adverbs and fillers that stand for nothing. */
  readonly emptyWords: ReadonlySet<string>;
  /** They carry the sentence and no content. */
  readonly functionWords: ReadonlySet<string>;
}

export function wordSet(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/).filter((word) => word !== ''));
}

export function joinLexicons(left: Lexicon, right: Lexicon): Lexicon {
  const both = (key: keyof Lexicon): ReadonlySet<string> => new Set([...left[key], ...right[key]]);
  return {
    clearVerbs: both('clearVerbs'),
    openVerbs: both('openVerbs'),
    handlingVerbs: both('handlingVerbs'),
    questionWords: both('questionWords'),
    genericNouns: both('genericNouns'),
    emptyWords: both('emptyWords'),
    functionWords: both('functionWords'),
  };
}
