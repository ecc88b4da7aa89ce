// Owns how far a quotation is taken so that it says what its sentence says: as it is, or with the whole sentence when the rest of it holds a
// word that turns or limits it. Knows no fact. Invariant: the same for the same text, linear in it; a place only grows.
import { leftOutWords } from '../../guard/text/left-out-words.ts';
import { sentenceRanges, sentencesAround, type TextRange } from '../../guard/text/sentence-ranges.ts';
import type { QuotePlace } from './quote-finder.ts';

export type WholeSentence = (place: QuotePlace) => QuotePlace;

/** UTF-16 units on each side; of a longer sentence (a log, a table without ends) the words near by. */
const MOST_BESIDE = 1_000;

export function wholeSentence(text: string): WholeSentence {
  let ranges: readonly TextRange[] | undefined;
  return (place) => {
    ranges ??= sentenceRanges(text);
    const { start, end } = near(text, sentencesAround(ranges, place), place);
    const part = { start: place.start - start, end: place.end - start };
    if (leftOutWords(text.slice(start, end), part).length === 0) return place;
    const mark = LIST_MARK.exec(text.slice(start, Math.min(place.start, start + LONGEST_MARK)))?.[0] ?? '';
    return { start: start + mark.length, end };
  };
}

const LIST_MARK = /^(?:[-*+•>]|#{1,6}|\d{1,3}[.)])\s+/u;
const LONGEST_MARK = 12;

/** Cut at blanks. */
function near(text: string, { start, end }: TextRange, place: QuotePlace): TextRange {
  const from = Math.max(0, place.start - MOST_BESIDE);
  const to = place.end + MOST_BESIDE;
  const before = text.slice(from, place.start).search(/\s/u);
  const after = text
    .slice(place.end, to)
    .trimEnd()
    .search(/\s\S*$/u);
  return {
    start: start >= from ? start : before < 0 ? place.start : from + before + 1,
    end: end <= to ? end : after < 0 ? place.end : place.end + after,
  };
}
