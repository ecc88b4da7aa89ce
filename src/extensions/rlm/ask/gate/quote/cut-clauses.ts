// Owns cutting a sentence into clauses that may rest on different handles. Text only. Invariant: linear; no word is lost but the joint.

const JOINT = /\s*;\s*|,?\s+(?:and|und)\s+|,\s+(?:but|aber)\s+|,?\s+(?:while|whereas)\s+/iu;
const MOST = 8;

/** One: it has no joint. */
export function cutClauses(sentence: string): readonly string[] {
  const cut = sentence.split(JOINT).filter((one) => one.trim() !== '');
  return cut.length > MOST ? [sentence] : cut;
}

const SOURCE = `(?:file|text|document|documentation|material|source|context|log|guide|datei|quelle)`;
const SAYS = `(?:says?|states?|reads?|sagt|steht)`;

/** The sentence without `The file notes.md says that`, when the file is a source. */
export function withoutIntroduction(sentence: string, isSource: (name: string) => boolean): string {
  const found = new RegExp(
    String.raw`^(?:the\s+)?(?:(${SOURCE})\s*)?["\x60]?([\w./-]*\w\.\w+)?["\x60]?\s+?${SAYS}(?:\s+that\b|\s*:)?\s+|^(?:the\s+)?(${SOURCE})\s+${SAYS}(?:\s+that\b|\s*:)?\s+`,
    'iu',
  ).exec(sentence);
  if (found === null) return sentence;
  const [whole, kind, name, bare] = found;
  if (name === undefined ? bare === undefined && kind === undefined : !isSource(name.toLowerCase())) return sentence;
  return sentence.slice(whole.length);
}
