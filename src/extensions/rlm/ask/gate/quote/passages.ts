// Owns cutting evidence into passages, each of which can be quoted: a sentence, an item, a row, a line. Knows no claim.
// Invariant: linear in what is read, which is bounded; a passage of a part is never larger than that of the whole.
import { cutPassages } from '../../../text/cut-passages.ts';
import { type ReadWord, readWords } from './read-words.ts';

/** Characters of a text that are read; what is longer is no evidence for one sentence. */
const MOST_READ = 20_000;

export interface Passages {
  readonly each: readonly (readonly ReadWord[])[];
  /** All words in a row, for what is quoted word for word across passages. */
  readonly row: readonly ReadWord[];
}

export function readPassages(text: string): Passages {
  const head = text.length <= MOST_READ ? text : text.slice(0, MOST_READ).replace(/\s\S*$/u, '');
  const each = cutPassages(head)
    .flatMap(({ text: passage }) => cutLines(passage))
    .map(readWords)
    .filter((words) => words.length > 0);
  return { each, row: each.flat() };
}

/** A line that is short and ends in no comma was not wrapped: the next, with a capital, is another statement. */
const WRAPPED = 40;

function cutLines(passage: string): readonly string[] {
  const cut: string[] = [];
  for (const line of passage.split(/\r\n|[\n\r\u2028\u2029]/u)) {
    const before = cut.at(-1);
    const last = before?.slice(before.lastIndexOf('\n') + 1).trimEnd() ?? '';
    const goesOn =
      before !== undefined && (last.length >= WRAPPED || last.endsWith(',') || !/^\s*[\p{Lu}\p{N}]/u.test(line));
    if (goesOn) cut[cut.length - 1] = `${before}\n${line}`;
    else cut.push(line);
  }
  return cut;
}
