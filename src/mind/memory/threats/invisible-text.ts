// Owns the recognition of characters that a person cannot see but a model reads. Pure and linear.
// Invariant: joiners in emoji and in scripts that need them, one variant mark after a character, flags, soft hyphens, and
// direction marks beside right-to-left letters are ordinary text.

const IGNORABLE = /[\p{Cc}\p{Default_Ignorable_Code_Point}]|[\u{FFF9}-\u{FFFB}]/u;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const JOINS =
  /[\p{Extended_Pictographic}\p{Emoji_Modifier}]|[\p{Script=Arabic}\p{Script=Syriac}\p{Lo}]|\p{M}|\u{FE0F}/u;
const BLACK_FLAG = 0x1f3f4;

interface Around {
  readonly before: string;
  readonly rightToLeft: boolean;
  readonly inFlag: boolean;
}

/** The first such character as `U+200B at 12` (offset in characters), or undefined. */
export function findInvisible(text: string): string | undefined {
  const rightToLeft = RIGHT_TO_LEFT.test(text);
  let before = '';
  let inFlag = false;
  let at = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    inFlag = code === BLACK_FLAG || (inFlag && isTag(code));
    if (IGNORABLE.test(character) && !isOrdinary(code, { before, rightToLeft, inFlag })) {
      return `U+${code.toString(16).toUpperCase().padStart(4, '0')} at ${at}`;
    }
    before = character;
    at += 1;
  }
  return undefined;
}

function isOrdinary(code: number, { before, rightToLeft, inFlag }: Around): boolean {
  if (code === 0x09 || code === 0x0a || code === 0xad) return true;
  if (code === 0x200c || code === 0x200d) return JOINS.test(before);
  if (isDirectionMark(code)) return rightToLeft;
  if (isTag(code)) return inFlag;
  return isVariantMark(code) && before !== '' && !IGNORABLE.test(before);
}

/** Marks, embeddings and isolates; overrides (U+202D, U+202E) show text in another order than it is read and are never ordinary. */
function isDirectionMark(code: number): boolean {
  return (
    code === 0x061c || within(code, 0x200e, 0x200f) || within(code, 0x202a, 0x202c) || within(code, 0x2066, 0x2069)
  );
}

function isTag(code: number): boolean {
  return within(code, 0xe0020, 0xe007f);
}

function isVariantMark(code: number): boolean {
  return within(code, 0xfe00, 0xfe0f) || within(code, 0xe0100, 0xe01ef);
}

function within(code: number, first: number, last: number): boolean {
  return code >= first && code <= last;
}
