// Owns what counts as a heading, a date, a figure, a fact, a link, an open item or a matching line (reflex 6).
// Knows no file. Invariant: an extract is whole lines of the text, never a word of its own.
import type { FileLine } from './file-lines.ts';

const MONTH =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';

const PATTERNS: Readonly<Record<string, RegExp>> = {
  headings:
    /^\s{0,3}#{1,6}\s+\S|^[A-Z][A-Z0-9 ,&:'-]{3,60}$|^\d+(\.\d+)*\.?\s+[A-Z][^.!?]{2,70}$|^(?:[Cc]hapter|CHAPTER|[Pp]art|[Ss]ection|[Aa]ppendix)\s+[\dIVXLCivxlc]+\b/,
  dates: new RegExp(
    `\\b(?:\\d{4}-\\d{1,2}-\\d{1,2}|\\d{1,2}[./]\\d{1,2}[./]\\d{2,4}|${MONTH}\\.?\\s+\\d{1,2}(?:st|nd|rd|th)?(?:,?\\s+\\d{4})?|\\d{1,2}(?:st|nd|rd|th)?\\s+(?:of\\s+)?${MONTH}(?:\\s+\\d{4})?|${MONTH}\\s+\\d{4}|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:19|20)\\d{2})\\b`,
    'i',
  ),
  figures:
    /(?:[$€£¥]\s?\d|\d[\d,.]*\s?(?:%|percent|€|\$|£|k\b|m\b|bn\b|million|billion|thousand|ms\b|s\b|kb|mb|gb|tb|kg|km|hours?|minutes?|days?|weeks?|months?|years?|users?|people)|\b\d[\d,.]*\d\b|\b\d+\b)/i,
  facts:
    /\b(?:is|are|was|were|has|have|had|must|will|contains?|consists?|means?|equals?|requires?|supports?|uses?|costs?|began|ended|founded|released|located|owned)\b|^[\s*-]*[\w -]{2,40}:\s+\S/i,
  links: /https?:\/\/\S+|\bwww\.\S+|[\w.+-]+@[\w-]+\.[\w.]+/i,
  todos: /\b(?:TODO|FIXME|XXX|HACK)\b|^\s*[-*]\s+\[ \]/,
};

/** Lines of one kind; for `lines`, those that hold every word of `phrase` (or the phrase itself when it is one word). */
export function extractLines(lines: readonly FileLine[], what: string, phrase = ''): readonly FileLine[] {
  if (what === 'lines') return lines.filter((line) => holds(line.text, phrase));
  const pattern = PATTERNS[what];
  if (pattern === undefined) return [];
  if (what === 'headings') return headings(lines, pattern);
  if (what === 'facts')
    return lines.filter((line) => pattern.test(line.text) && !/\?\s*$/.test(line.text) && line.text.trim().length > 12);
  return lines.filter((line) => pattern.test(line.text));
}

/** A `#` inside a code fence is no heading; a line over `===` or `---` is one. */
function headings(lines: readonly FileLine[], pattern: RegExp): readonly FileLine[] {
  const found: FileLine[] = [];
  let fenced = false;
  for (const [index, line] of lines.entries()) {
    if (/^\s*(```|~~~)/.test(line.text)) fenced = !fenced;
    const underlined = /^(={3,}|-{3,})\s*$/.test(lines[index + 1]?.text ?? '') && /^\S/.test(line.text);
    if (!fenced && (underlined || pattern.test(line.text))) found.push(line);
  }
  return found;
}

function holds(text: string, phrase: string): boolean {
  const low = text.toLowerCase();
  if (low.includes(phrase.toLowerCase())) return true;
  const stems = phrase
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 3)
    .map((word) => word.replace(/(ies|es|s|ing|ed)$/, ''));
  return stems.length > 0 && stems.every((stem) => low.includes(stem));
}
