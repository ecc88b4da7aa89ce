// Owns what of a text is worth indexing or comparing: its stems in order, without the words that say nothing.
// Knows no index. Invariant: total, linear, the same for a text and for a question about it.
import { splitWords } from './split-words.ts';
import { stemWord } from './stem-word.ts';
import { isStopStem } from './stop-words.ts';

/** Stems of one text at most; the middle of longer ones is left out. */
const MOST_STEMS = 20_000;

/** Stems in order, stop words left out. */
export function contentStems(text: string): string[] {
  const stems: string[] = [];
  for (const word of splitWords(text)) {
    const stem = stemWord(word);
    if (!isStopStem(stem)) stems.push(stem);
  }
  if (stems.length <= MOST_STEMS) return stems;
  return [...stems.slice(0, MOST_STEMS * 0.75), ...stems.slice(-MOST_STEMS * 0.25)];
}
