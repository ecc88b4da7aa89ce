// Owns numbers in a line: digits, and words such as `a dozen`, `twenty five`, `one hundred and ten`.
// Knows no word: they come with the language. Invariant: a run of words is one number, the longest that it spells.
import type { Line } from './read-line.ts';
import type { Candidate } from './slot-candidate.ts';

const MOST_WORDS = 5;

export function readNumber(line: Line, at: number): readonly Candidate[] {
  const found: Candidate[] = [];
  const token = line.tokens[at];
  if (token?.kind === 'number') found.push({ end: at + 1, value: token.raw, quality: 1 });
  const digits = /^#?l?(\d+)(st|nd|rd|th|s|sec|secs|m|min|mins)?$/.exec(token?.word ?? '');
  if (token?.kind === 'word' && digits?.[1] !== undefined) found.push({ end: at + 1, value: digits[1], quality: 0.99 });
  return [...found, ...spelled(line, at)];
}

function spelled(line: Line, at: number): readonly Candidate[] {
  const words = line.tokens.slice(at, at + MOST_WORDS).map((token) => token.word);
  const found: Candidate[] = [];
  for (let length = words.length; length > 0; length -= 1) {
    const value = numberOf(words.slice(0, length), line.language.slots.numbers);
    if (value !== undefined) found.push({ end: at + length, value: String(value), quality: 0.98 });
  }
  return found;
}

function numberOf(words: readonly string[], numbers: Readonly<Record<string, string>>): number | undefined {
  const whole = numbers[words.join(' ')];
  if (whole !== undefined) return Number(whole);
  const parts = words.flatMap((word) => word.split('-'));
  if (parts.length < 2 || parts.at(-1) === 'and') return undefined;
  return parts.reduce<number | undefined>((total, part, index) => {
    if (total === undefined || (part === 'and' && total >= 100)) return total;
    const value = Number(numbers[part]);
    return index === 0 ? value : sum(total, value);
  }, 0);
}

/** Units add to tens, both to hundreds; nothing else makes a number. */
function sum(total: number, value: number): number | undefined {
  if (value === 100 && total < 10) return total * 100;
  const fits = (value < 10 && total % 10 === 0) || (value < 100 && total % 100 === 0);
  return fits ? total + value : undefined;
}
