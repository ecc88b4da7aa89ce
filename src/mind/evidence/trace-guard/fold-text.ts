// Owns the form in which quotes are compared, and the cutting of a text into sentences in that form. Knows no meaning.
// Invariant: total and linear; what differs only in white space, case and typographic quotes folds to the same text.
import { stemWord } from '#base/text/stem-word.ts';
import { isStopStem } from '#base/text/stop-words.ts';

/** White space to one blank, lower case, typographic quotes and apostrophes to plain ones, composed characters. */
export function foldText(text: string): string {
  return plainQuotes(text.normalize('NFC')).toLowerCase().replace(/\s+/gu, ' ').trim();
}

/** Plain quotation marks, and digits of every script as 0 to 9. */
export function plainQuotes(text: string): string {
  return plainDigits(text)
    .replace(/[‘’‚‛′ʼ＇]/gu, "'")
    .replace(/[“”„‟″«»＂]/gu, '"');
}

const FOREIGN_DIGIT = /(?![0-9])\p{Nd}/gu;

/** Unicode keeps the ten digits of a script together, in order. */
function plainDigits(text: string): string {
  return text
    .replace(/(?<=\p{Nd})[\u066b\u066c](?=\p{Nd})/gu, (mark) => (mark === '\u066b' ? '.' : ','))
    .replace(FOREIGN_DIGIT, (digit) => {
      const code = digit.codePointAt(0) ?? 0;
      let zero = code;
      while (/^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
      return String((code - zero) % 10);
    });
}

export interface FoldedSentence {
  /** As it stands in the text. */
  readonly raw: string;
  /** Where it stands in the folded text. */
  readonly start: number;
  readonly end: number;
}

export interface FoldedText {
  readonly folded: string;
  readonly sentences: readonly FoldedSentence[];
}

const BOUNDARY = /(?:[.!?;…]["')\]]{0,3}\s+)|(?:\n\s*)|(?:[。！？；｡]\s*)/gu;
/** A line this long that ends in the middle of a sentence was wrapped. */
const WRAPPED_LINE = 40;

export function foldSentences(text: string): FoldedText {
  const sentences: FoldedSentence[] = [];
  let folded = '';
  for (const { raw, gap } of cutSentences(text)) {
    const piece = foldText(raw);
    if (piece === '') continue;
    if (folded !== '' && gap) folded += ' ';
    sentences.push({ raw, start: folded.length, end: folded.length + piece.length });
    folded += piece;
  }
  return { folded, sentences };
}

/** `gap`: white space stands before it. */
function cutSentences(text: string): readonly { readonly raw: string; readonly gap: boolean }[] {
  const cut: { raw: string; gap: boolean }[] = [];
  let from = 0;
  let gap = false;
  let lineStart = 0;
  for (const match of text.matchAll(BOUNDARY)) {
    const end = match.index + match[0].length;
    const isNewline = match[0].includes('\n');
    const wrapped =
      isNewline && isWrapped(text, { lineStart, lineEnd: match.index, next: end }) && !/\n[^\S\n]*\n/u.test(match[0]);
    if (isNewline) lineStart = end;
    if (wrapped) continue;
    cut.push({ raw: text.slice(from, end), gap });
    gap = /\s$/u.test(match[0]);
    from = end;
  }
  cut.push({ raw: text.slice(from), gap });
  return cut;
}

function isWrapped(
  text: string,
  place: { readonly lineStart: number; readonly lineEnd: number; readonly next: number },
): boolean {
  const line = text.slice(place.lineStart, place.lineEnd).trimEnd();
  if (/[.!?:;,]$/u.test(line) || !/^[\p{Ll}("']/u.test(text.slice(place.next, place.next + 2))) return false;
  return line.length >= WRAPPED_LINE || isLeftOpen(line);
}

/** Does the line end in a word that needs another one? */
function isLeftOpen(line: string): boolean {
  const last = /\s([\p{L}']{1,12})$/u.exec(plainQuotes(line).toLowerCase())?.[1];
  return last !== undefined && isStopStem(stemWord(last.replaceAll("'", '')));
}
