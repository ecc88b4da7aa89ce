// Owns what a text looks like on a page: characters that nobody sees, or that turn the reading direction, are written out. Pure.
// Invariant: what a reader sees is in the order in which it is stored; letters of right-to-left scripts stay as they are.

/** Controls, marks of direction, characters without width, separators that break lines, halves of pairs. Tab and line feed are none. */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

const DELETE = 0x7f;
const PICTURES = 0x2400;
const PICTURE_OF_DELETE = 0x2421;

/** Each by its picture (`␛`) when it has one, else by its number (`[U+202E]`). */
export function visibleText(text: string): string {
  return text.toWellFormed().replace(UNSEEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(PICTURES + code);
    if (code === DELETE) return String.fromCodePoint(PICTURE_OF_DELETE);
    return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
  });
}
