// Owns what of a sentence the eye does not see or sees otherwise: characters without width, letters drawn like others, figures that are no
// digits, amounts in words. Both sides are read in the same plain form, so that neither hides a denial or a number. Knows no handle.
// Invariant: pure and linear; plain text stays as it is.

/** Drawn like Latin letters: mathematical, wide, in circles. Struck letters lose the stroke. */
const DRAWN = /[\u{1d400}-\u{1d7ff}\uff21-\uff3a\uff41-\uff5a\u24b6-\u24e9]/gu;
const UNSEEN = /\p{Default_Ignorable_Code_Point}|[\u0334-\u0338]/gu;
const TURNED = /[\u202d\u202e]/u;

/** Without what has no width; amounts of several words as one figure. */
export function plainText(text: string): string {
  const seen = text.replace(UNSEEN, '').replace(DRAWN, (letter) => letter.normalize('NFKC'));
  return seen
    .replace(TENS, (_whole, tens: string, ones: string) => String(amountOf(tens) + amountOf(ones)))
    .replace(TIMES, (_whole, count: string, unit: string) => String(amountOf(count) * amountOf(unit)))
    .replace(NEGATIVE, '-');
}

/** What the reader could take for something else, and must stand in the evidence as it is written; a turned direction is never said. */
export function oddParts(text: string): readonly string[] {
  const mixed = (text.match(/[\p{L}\p{M}]+/gu) ?? []).filter((word) => LATIN.test(word) && ALIKE.test(word));
  const turned = TURNED.test(text) ? ['it turns the direction of reading'] : [];
  return [...new Set([...turned, ...mixed, ...(text.match(/[\p{No}\p{Nl}]/gu) ?? [])])];
}

const LATIN = /\p{sc=Latin}/u;
const ALIKE = /[\p{sc=Cyrillic}\p{sc=Greek}\p{sc=Armenian}\p{sc=Cherokee}]/u;

const ONES = 'one two three four five six seven eight nine'.split(' ');
const TEENS = 'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(' ');
const TENS_WORDS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const VALUES: ReadonlyMap<string, number> = new Map([
  ...ONES.map((word, at) => [word, at + 1] as const),
  ...TEENS.map((word, at) => [word, at + 10] as const),
  ...TENS_WORDS.map((word, at) => [word, (at + 2) * 10] as const),
  ['hundred', 100],
  ['thousand', 1_000],
]);

const TENS = new RegExp(`\\b(${TENS_WORDS.join('|')})[ -](${ONES.join('|')})\\b`, 'giu');
const COUNTS = [...ONES, ...TEENS, ...TENS_WORDS].join('|');
const TIMES = new RegExp(`(?<![\\w.,])(${COUNTS}|\\d{1,3})[ -](hundred|thousand)\\b`, 'giu');
const NEGATIVE = /(?<![\p{L}\p{N}]|\d )(?:minus|negative) (?=\d)/giu;

function amountOf(word: string): number {
  return VALUES.get(word.toLowerCase()) ?? Number(word);
}
