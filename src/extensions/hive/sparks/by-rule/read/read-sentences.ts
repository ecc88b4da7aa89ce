// Owns cutting somebody's own words into sentences; items of a list take over the line that leads them in. English. Knows no claim.
// Invariant: total; each sentence is bounded.
import { expandContractions } from './expand-contractions.ts';
import type { Sentence } from './sentence.ts';

const LONGEST_SENTENCE = 400;
const MOST_SENTENCES = 200;
const BULLET = /^\s*(?:[-*•–]|\d{1,2}[.)])\s+/;
const ABBREVIATIONS = /(?:^|[\s(])(?:e\.g|i\.e|etc|vs|dr|mr|mrs|ms|prof|inc|ltd|st|approx|no|incl|cf)$/i;

export function readSentences(words: string): Sentence[] {
  const sentences: Sentence[] = [];
  for (const line of leadItems(joinLines(words.split('\n')))) {
    for (const sentence of cutLine(line)) sentences.push(sentence);
    if (sentences.length >= MOST_SENTENCES) return sentences.slice(0, MOST_SENTENCES);
  }
  return sentences;
}

/** A line that goes on in lower case belongs to the one before it. */
function joinLines(lines: readonly string[]): string[] {
  const joined: string[] = [];
  for (const line of lines) {
    const before = joined.at(-1);
    const goesOn = before !== undefined && /[\p{L}\p{N},]\s*$/u.test(before) && /^\s*\p{Ll}/u.test(line);
    if (goesOn && before.length < LONGEST_SENTENCE && !BULLET.test(line))
      joined[joined.length - 1] = `${before} ${line.trim()}`;
    else joined.push(line);
  }
  return joined;
}

/** `I need:` and its bullets are as many sentences. */
function leadItems(lines: readonly string[]): string[] {
  let lead = '';
  return lines.map((line) => {
    const item = line.replace(BULLET, '');
    if (item !== line) return lead === '' ? item : `${lead} ${item}`;
    const text = line.trim();
    if (text !== '') lead = text.endsWith(':') && text.length < 120 ? leadOf(text) : '';
    return line;
  });
}

/** A label keeps its colon: that is what makes it one. */
function leadOf(text: string): string {
  return /^[\p{L} ]{1,20}:$/u.test(text) && text.split(' ').length < 3 ? text : text.slice(0, -1);
}

function cutLine(line: string): Sentence[] {
  const sentences: Sentence[] = [];
  let start = 0;
  for (const mark of line.matchAll(/[.!?…;]+(?=\s|$)/g)) {
    const text = line.slice(start, mark.index);
    if (mark[0] === '.' && ABBREVIATIONS.test(text)) continue;
    add(sentences, text, mark[0].includes('?'));
    start = mark.index + mark[0].length;
  }
  add(sentences, line.slice(start), false);
  return sentences;
}

function add(sentences: Sentence[], text: string, isQuestion: boolean): void {
  const clean = expandContractions(
    text.replace(/\s+/g, ' ').replace(/[*_#]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?=[\s,.]|$)/g, ''),
  ).trim();
  if (clean !== '') sentences.push({ text: clean.slice(0, LONGEST_SENTENCE), isQuestion });
}
