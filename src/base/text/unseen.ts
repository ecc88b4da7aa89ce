// Owns the one table of characters that nobody sees, or that turn the reading direction: controls, joiners, fillers, selectors, tags. Knows
// no rule and no terminal. Invariant: line feed and tab are seen; where a joiner or a mark belongs to what is written, it is ordinary.

/** U+2800 is drawn as a blank. */
export const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800]/gu;

export function withoutUnseen(text: string): string {
  return text.replace(UNSEEN, '');
}

/** Behind these what joins two pictures, or colours one, is seen. */
const PICTURE = /[\p{Extended_Pictographic}\p{Emoji_Modifier}]\uFE0F?$/u;

/** `text` with each such character as `spell` writes it, but for what joins or colours pictures. */
export function spellUnseen(text: string, spell: (code: number) => string): string {
  return text.replace(UNSEEN, (character, at: number, whole: string) => {
    if (/\u200D|\uFE0F/.test(character) && PICTURE.test(whole.slice(Math.max(0, at - 3), at))) return character;
    return spell(character.codePointAt(0) ?? 0);
  });
}

const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const JOINS =
  /[\p{Extended_Pictographic}\p{Emoji_Modifier}]|[\p{Script=Arabic}\p{Script=Syriac}\p{Lo}]|\p{M}|\u{FE0F}/u;
/** Marks of numbers and verses that are drawn, soft hyphens, and separators of lines. */
const ORDINARY =
  /[\u{600}-\u{605}\u{6DD}\u{70F}\u{890}\u{891}\u{8E2}\u{110BD}\u{110CD}\u{AD}\u{2028}\u{2029}\u{2800}]/u;
/** Marks, embeddings and isolates; overrides (U+202D, U+202E) show text in another order than it is read and are never ordinary. */
const DIRECTION = /[\u061C\u200E\u200F\u202A-\u202C\u2066-\u2069]/;
const TAG = /[\u{E0020}-\u{E007F}]/u;
const VARIANT = /[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]/u;
const BLACK_FLAG = '\u{1F3F4}';

interface Around {
  readonly before: string;
  readonly rightToLeft: boolean;
  readonly inFlag: boolean;
}

/** The first character that no text needs, as `U+200B at 12` (offset in characters), or undefined. */
export function findUnseen(text: string): string | undefined {
  const rightToLeft = RIGHT_TO_LEFT.test(text);
  const is = new RegExp(UNSEEN.source, 'u');
  let before = '';
  let inFlag = false;
  let at = 0;
  for (const character of text) {
    inFlag = character === BLACK_FLAG || (inFlag && TAG.test(character));
    if (is.test(character) && !isOrdinary(character, { before, rightToLeft, inFlag })) {
      const code = character.codePointAt(0) ?? 0;
      return `U+${code.toString(16).toUpperCase().padStart(4, '0')} at ${at}`;
    }
    before = character;
    at += 1;
  }
  return undefined;
}

function isOrdinary(character: string, { before, rightToLeft, inFlag }: Around): boolean {
  if (ORDINARY.test(character)) return true;
  if (/[\u200C\u200D]/.test(character)) return JOINS.test(before);
  if (DIRECTION.test(character)) return rightToLeft;
  if (TAG.test(character)) return inFlag;
  return VARIANT.test(character) && before !== '' && !new RegExp(UNSEEN.source, 'u').test(before);
}
