// Owns the words in which a count may be told beside those that its code searched for. Data. Knows no sentence.
import { stemWord } from '#base/text/stem-word.ts';

const WORDS =
  `times time line occurrence occur count number total sum average mean median longest shortest first last largest smallest
  contain mention stand appear name word byte character file match hit entry row record result value search find found in on at and with for from
  whole context material document text code`
    .trim()
    .split(/\s+/);

const STEMS: ReadonlySet<string> = new Set(WORDS.map(stemWord));

export function isCountingWord(lower: string): boolean {
  return STEMS.has(stemWord(lower));
}
