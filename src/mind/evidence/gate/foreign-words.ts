// Owns where the words of a text come from: the owner, our own record, or something that the agent read. Pure. Knows no language: words are
// compared by their letters. Invariant: a session without foreign words gives nothing; what it gives is a reason to wait, never to refuse.
import { splitWords } from '#base/text/split-words.ts';
import { stemWord } from '#base/text/stem-word.ts';
import type { EvidenceEntry } from '../trace-guard/claim.ts';
import { countWords } from '../trace-guard/find-quote.ts';
import { hardValues } from '../trace-guard/hard-values.ts';

/** Words that occur in what is foreign alone. */
const MOST_FOREIGN = 3;
const RUN = 4;
/** Values of one text that are set aside. */
const MOST_VALUES = 1_000;
/** Characters of the foreign texts that are looked through, newest first. */
const MOST_READ = 4_000_000;

/** The words of a session, read once for all that is asked about them. */
export interface WordsRead {
  /** Of the owner and of our own record. */
  readonly own: ReadonlySet<string>;
  /** Of what was read, and runs of four. */
  readonly words: ReadonlySet<string>;
  readonly runs: ReadonlySet<string>;
}

/** Undefined: nothing foreign was read. */
export function readWords(entries: readonly EvidenceEntry[]): WordsRead | undefined {
  const texts = entries.flatMap((entry) => entry.texts);
  const foreign = texts.filter(({ origin }) => origin === 'foreign');
  if (foreign.length === 0) return undefined;
  const own = texts.flatMap((one) => (one.origin === 'owner' || one.origin === 'observed' ? splitWords(one.text) : []));
  return { own: new Set(own), ...foreignRuns(foreign.map((one) => one.text)) };
}

/** Words of the text that stand in foreign texts alone, when they are most of it or a run of them was taken over; else empty. */
export function foreignWords(text: string, { own, words: read, runs }: WordsRead): readonly string[] {
  const values = [...new Set(hardValues(text).map(({ shown }) => shown))].slice(0, MOST_VALUES);
  const words = splitWords(values.reduce((rest, shown) => rest.replaceAll(shown, ' '), text.replace(/\p{Cf}/gu, '')));
  const taken = words.map((word) => isContent(word) && read.has(word) && !own.has(word));
  const alone = [...new Set(words.filter((_, at) => taken[at]))];
  const known = new Set(words.filter((word) => isContent(word) && (own.has(word) || read.has(word))));
  const isMost = alone.length >= MOST_FOREIGN && alone.length * 2 > known.size;
  return isMost || words.some((_, at) => isTakenRun(words, at, { taken, runs })) ? alone : [];
}

/** Quotes of fewer words say nothing that they do not name. */
const FEW_WORDS = 8;

/**
 * Where foreign words were read: does what is cited say little and nothing of this text? An `ok` that follows a page agrees to the page, a
 * call that fetched it carries none of it. Quotes of some length are for a judge.
 * @param quotes empty for a call
 * @param records of the calls that are cited
 */
export function agreesToForeign(
  text: string,
  { quotes, records }: { readonly quotes: readonly string[]; readonly records: readonly string[] },
): boolean {
  const stemsOf = (said: string) => splitWords(said).filter(isContent).map(stemWord);
  const words = new Set(stemsOf(text));
  const names = (said: string) => stemsOf(said).some((word) => words.has(word));
  return ![...quotes, ...records].some(names) && quotes.every((quote) => countWords(quote) < FEW_WORDS);
}

function isContent(word: string): boolean {
  return word.length > 3 || /[^\p{Script=Latin}\p{Script=Cyrillic}]/u.test(word);
}

function isTakenRun(
  words: readonly string[],
  at: number,
  { taken, runs }: { readonly taken: readonly boolean[]; readonly runs: ReadonlySet<string> },
): boolean {
  const run = words.slice(at, at + RUN);
  return run.length === RUN && taken.slice(at, at + RUN).filter(Boolean).length >= 2 && runs.has(run.join(' '));
}

function foreignRuns(texts: readonly string[]): Pick<WordsRead, 'words' | 'runs'> {
  const words = new Set<string>();
  const runs = new Set<string>();
  let left = MOST_READ;
  for (const text of texts.toReversed()) {
    const list = splitWords(text.slice(0, left));
    for (const [at, word] of list.entries()) {
      words.add(word);
      if (at + RUN <= list.length) runs.add(list.slice(at, at + RUN).join(' '));
    }
    left -= text.length;
    if (left <= 0) break;
  }
  return { words, runs };
}
