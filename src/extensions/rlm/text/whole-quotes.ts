// Owns where a quotation stands in a text, and how far it must be taken to be whole: to the ends of the sentences, rows or lines in which it begins and ends.
// Knows no fact and no claim. White space never counts; what else is folded away is the caller's. Invariant: a place only grows; linear.
import { findQuote } from '#mind/evidence/trace-guard/find-quote.ts';
import { cutPassages, cutSentences, type Passage } from './cut-passages.ts';

export interface WholePlace {
  /** UTF-16 offsets into the text as it is, half-open. */
  readonly start: number;
  readonly end: number;
  /** Nothing had to be added but a list mark, a tag or a last mark. */
  readonly isWhole: boolean;
}

interface Piece {
  /** In the text. */
  readonly start: number;
  readonly end: number;
  readonly inner: number;
  /** In the folded text; from `from` on with its list mark. */
  readonly from: number;
  readonly folded: { readonly start: number; readonly inner: number; readonly end: number };
}

export function foldSpaces(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** The id that begins a line: it belongs to who quotes it, or not. */
const TAGGED = /^(?:FACT:\s*[^\s:]+|\[?[A-Z][A-Z0-9]*[-.]?\d[\d.]*\]?)[:\s]\s*/;

/** Rows of a table and lines of code are whole only as they are. */
function stretchesOf(text: string, passage: Passage): readonly { start: number; end: number; inner: number }[] {
  const { start, end, tag, kind } = passage;
  const inner = start + (tag === null ? 0 : (TAGGED.exec(passage.text)?.[0].length ?? 0));
  if (kind === 'code' || passage.text.startsWith('|')) return [{ start, end, inner }];
  const cut = cutSentences(text, { start: Math.min(inner, end), end });
  return cut.length === 0
    ? [{ start, end, inner: start }]
    : cut.map((one, at) => ({ start: at === 0 ? start : one.start, end: one.end, inner: one.start }));
}

export class WholeQuotes {
  readonly #fold: (text: string) => string;
  readonly #pieces: readonly Piece[];
  readonly #folded: string;

  constructor(text: string, fold = foldSpaces) {
    this.#fold = fold;
    const parts: string[] = [];
    let length = 0;
    let last = 0;
    const put = (end: number): number => {
      const part = fold(text.slice(last, end));
      const from = length > 0 && part !== '' && /^\s|\s$/.test(`${text[last - 1]}${text[last]}`) ? length + 1 : length;
      if (part !== '') parts.push(from > length ? ` ${part}` : part);
      length = from + part.length;
      last = end;
      return from;
    };
    this.#pieces = cutPassages(text)
      .flatMap((passage) => stretchesOf(text, passage))
      .map(({ start, end, inner }) => {
        const from = put(start);
        const begins = put(inner);
        const within = put(end);
        const folded = { start: inner > start ? begins : within, inner: within, end: length };
        return { start, end, inner, from: Math.min(from, folded.start), folded };
      });
    this.#folded = parts.join('');
  }

  /** The first place where it is whole, else the first of all; undefined: it stands nowhere. */
  find(quote: string): WholePlace | undefined {
    const wanted = this.#fold(quote);
    if (!/[\p{L}\p{N}]/u.test(wanted)) return undefined;
    const places = findQuote(this.#folded, wanted).flatMap((at) => this.#around(at, at + wanted.length) ?? []);
    return places.find(({ isWhole }) => isWhole) ?? places[0];
  }

  #around(from: number, to: number): WholePlace | undefined {
    const first = this.#pieces.find(({ folded }) => folded.end > from);
    const last = this.#pieces.find(({ folded }) => folded.end >= to);
    if (first === undefined || last === undefined) return undefined;
    const isBegun = [first.from, first.folded.start, first.folded.inner].includes(from);
    return {
      start: from >= first.folded.inner ? first.inner : first.start,
      end: last.end,
      isWhole: isBegun && /^[.,;:…]*$/.test(this.#folded.slice(to, last.folded.end)),
    };
  }
}
