// Owns the words of a sentence by which a part cut out of it says something else: what reverses, reports, limits or asks. Data and its look-up;
// words that turn what they stand beside in any sentence are those of turning-words.ts. Knows no evidence. Invariant: pure and linear.
import { turningWords } from './turning-words.ts';

/** Reverse what stands beside them, or say that somebody else says it. */
const REVERSING = `not no never nobody none nothing nowhere neither nor cannot without hardly barely scarcely rarely seldom unlikely
  allegedly reportedly rumour rumours rumor rumors pretend pretends
  nicht kein keine keinen keinem keiner keines nie niemals niemand nichts ohne kaum falsch unwahr angeblich mythos irrtum gerücht`;
/** Say when, for whom, how much or how surely it holds. */
const LIMITING = `except unless if when whenever until only otherwise instead whether might may could should would perhaps maybe possibly probably
  about approximately roughly nearly almost most some few fewer
  außer wenn falls sofern solange nur sonst ob könnte könnten sollte sollten würde würden vielleicht möglicherweise etwa ungefähr
  höchstens mindestens einige wenige meisten`;
const LEFT_OUT: ReadonlySet<string> = new Set(`${REVERSING} ${LIMITING}`.split(/\s+/));
const FAMILIES =
  /^(?:claim|alleg|den(?:y|ie)|doubt|suppos|purport|behaupt|bestreit|bezweif|leugn)|^(?:do|does|did|is|are|was|were|have|has|had|would|could|should|ca|wo|must|need|might|ai)nt$/u;
const PAIRS: ReadonlySet<string> = new Set([
  'up to',
  'at least',
  'at most',
  'more than',
  'less than',
  'rather than',
  'said to',
  'thought to',
  'believed to',
  'provided that',
  'as long',
  'bis zu',
]);
const TOKEN = /[\p{L}\p{M}'’ʼ]+|\p{N}+|\?(?=["'”’)\]*_`]*(?:\s|$))/gu;

/** The words of a sentence outside of a part of it, without which the part says something else; a question mark too. */
export function leftOutWords(
  sentence: string,
  part: { readonly start: number; readonly end: number },
): readonly string[] {
  const words: string[] = [];
  let before = { word: '', index: 0 };
  for (const { 0: token, index } of sentence.matchAll(TOKEN)) {
    const word = token.toLowerCase().replace(/['’ʼ]/gu, '');
    const isInside = (start: number): boolean => start >= part.start && index + token.length <= part.end;
    if (PAIRS.has(`${before.word} ${word}`) && !isInside(before.index)) words.push(`${before.word} ${word}`);
    else if (isLeftOut(word) && !isInside(index) && !isMonth(word, before.word, sentence.slice(index + 3, index + 6)))
      words.push(word);
    before = { word, index };
  }
  return words;
}

function isLeftOut(word: string): boolean {
  return word === '?' || LEFT_OUT.has(word) || FAMILIES.test(word) || turningWords(word, '').length > 0;
}

/** Case does not tell: evidence is compared folded. */
function isMonth(word: string, before: string, after: string): boolean {
  return word === 'may' && (/^(?:in|since|\d+)$/.test(before) || /^\s\d/.test(after));
}
