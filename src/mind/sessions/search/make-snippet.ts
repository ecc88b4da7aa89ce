// Owns the short verbatim cut of a message around what was asked for, with the words marked `>>>` and `<<<` (core notes 2.3).
// Pure. Invariant: without the marks and the dots at its ends the snippet is a piece of the text, character for character.

import { splitWords } from '#base/text/split-words.ts';
import { stemWord } from '#base/text/stem-word.ts';
import { sliceText } from '#base/text.ts';

const MARK_START = '>>>';
const MARK_END = '<<<';

const WORD = /[\p{L}\p{N}\p{M}]+(?:['’][\p{L}]+)?/gu;
/** Characters of a message that are looked at. */
const MOST_CHARACTERS = 60_000;
const MOST_WORDS_MARKED = 24;

interface Found {
  readonly from: number;
  readonly to: number;
  readonly weight: number;
}

/** `weights`: how much each stem of the question counts. */
export function makeSnippet(text: string, weights: ReadonlyMap<string, number>, length = 240): string {
  const found = findWords(text.slice(0, MOST_CHARACTERS), weights);
  const start = text.length <= length ? 0 : bestStart(text, found, length);
  const piece = sliceText(text.slice(start), length);
  const marked = mark(piece, found, start);
  return `${start > 0 ? '…' : ''}${marked}${start + piece.length < text.length ? '…' : ''}`;
}

function findWords(text: string, weights: ReadonlyMap<string, number>): readonly Found[] {
  const found: Found[] = [];
  for (const match of text.matchAll(WORD)) {
    let weight = 0;
    for (const part of splitWords(match[0])) weight = Math.max(weight, weights.get(stemWord(part)) ?? 0);
    if (weight > 0) found.push({ from: match.index, to: match.index + match[0].length, weight });
  }
  return found;
}

/** Where the window with the weightiest words begins, with a little room before the first, at a word's edge. */
function bestStart(text: string, found: readonly Found[], length: number): number {
  let best = 0;
  let bestWeight = -1;
  for (const [at, first] of found.entries()) {
    let weight = 0;
    for (let next = at; next < found.length && (found[next]?.to ?? 0) <= first.from + length * 0.8; next += 1) {
      weight += found[next]?.weight ?? 0;
    }
    if (weight <= bestWeight) continue;
    bestWeight = weight;
    best = first.from;
  }
  const roomy = Math.max(0, Math.min(best - length * 0.2, text.length - length));
  return wordStart(text, Math.trunc(roomy));
}

function wordStart(text: string, at: number): number {
  if (at === 0) return 0;
  const space = text.slice(at, at + 30).search(/\s\S/);
  if (space >= 0) return at + space + 1;
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at;
}

function mark(piece: string, found: readonly Found[], start: number): string {
  let marked = '';
  let done = 0;
  const inside = found.filter((word) => word.from >= start && word.to <= start + piece.length);
  for (const word of inside.slice(0, MOST_WORDS_MARKED)) {
    marked += `${piece.slice(done, word.from - start)}${MARK_START}${piece.slice(word.from - start, word.to - start)}${MARK_END}`;
    done = word.to - start;
  }
  return marked + piece.slice(done);
}
