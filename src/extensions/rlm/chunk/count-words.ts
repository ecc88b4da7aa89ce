// Owns the word count that stands for a chunk's size (notes 6.1): runs between white space as Python's split() sees it, at least 1.

const SPACES: ReadonlySet<number> = new Set([0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000]);

export function countWords(text: string): number {
  let words = 0;
  let inside = false;
  for (let at = 0; at < text.length; at += 1) {
    const space = isSpace(text.charCodeAt(at));
    if (!space && !inside) words += 1;
    inside = !space;
  }
  return Math.max(1, words);
}

function isSpace(code: number): boolean {
  if (code < 128) return code === 32 || (code >= 9 && code <= 13) || (code >= 28 && code <= 31);
  return (code >= 0x2000 && code <= 0x200a) || SPACES.has(code);
}
