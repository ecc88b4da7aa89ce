// Owns cutting a stretch of a text into sentences, and what is too long for one into pieces at blanks. Knows no lines.
// Invariant: every sentence is a stretch of the text as it stands, without white space at its ends; linear.

export interface Stretch {
  readonly start: number;
  readonly end: number;
}

const END = /[.!?]["'”’)\]*`]*\s+(?=["'“‘([*`_]?[\p{Lu}\p{N}`])|[。！？]/gu;
/** A full stop after these ends no sentence. */
const ABBREVIATED =
  /(?:^|[\s("])(?:\p{L}|e\.g|i\.e|etc|vs|cf|ca|approx|dr|mr|mrs|ms|prof|st|no|nr|fig|sec|art|inc|ltd|jr|bzw|z\.b|d\.h)\.$/iu;
const LONGEST = 600;

export function cutSentences(text: string, { start, end }: Stretch): readonly Stretch[] {
  const part = text.slice(start, end);
  const sentences: Stretch[] = [];
  let from = 0;
  for (const { 0: mark, index } of part.matchAll(END)) {
    const to = index + mark.trimEnd().length;
    if (ABBREVIATED.test(part.slice(Math.max(from, index - 8), index + 1))) continue;
    sentences.push(...piecesOf(part, from, to));
    from = index + mark.length;
  }
  sentences.push(...piecesOf(part, from, part.length));
  return sentences.map((one) => ({ start: start + one.start, end: start + one.end }));
}

function piecesOf(text: string, from: number, to: number): readonly Stretch[] {
  const pieces: Stretch[] = [];
  let start = skipBlanks(text, from, to);
  while (to - start > LONGEST) {
    const cut = lastBlank(text, start, start + LONGEST);
    pieces.push({ start, end: cut });
    start = skipBlanks(text, cut, to);
  }
  if (start < to) pieces.push({ start, end: start + text.slice(start, to).trimEnd().length });
  return pieces;
}

function skipBlanks(text: string, from: number, to: number): number {
  let at = from;
  while (at < to && /\s/.test(text[at] ?? '')) at += 1;
  return at;
}

/** Without a blank in its second half it is cut between two characters, never inside one. */
function lastBlank(text: string, from: number, to: number): number {
  for (let at = to; at > from + LONGEST / 2; at -= 1) if (/\s/.test(text[at] ?? '')) return at;
  const low = text.charCodeAt(to);
  return low >= 0xdc00 && low <= 0xdfff ? to - 1 : to;
}
