// Owns the token count of one short line of names and descriptions. Stricter than the general estimate, which is made for prose: names of
// many parts, digits and signs take more. Pure. Invariant: the sum over lines is seldom under a tokenizer's count of the whole.
import { estimateTokens } from '#base/text.ts';

const PIECE = /[A-Za-z]+|[0-9]+|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]|[\p{L}\p{M}\p{N}]|[^\s]/gu;
const DENSE = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u;
const LETTER = /[\p{L}\p{M}]/u;

/** Unrounded. */
export function lineTokens(line: string): number {
  let tokens = 1;
  for (const [piece] of line.matchAll(PIECE)) tokens += pieceTokens(piece);
  return Math.max(tokens, estimateTokens(line), line.length / 4);
}

function pieceTokens(piece: string): number {
  if (/^[A-Za-z]/.test(piece)) return Math.ceil(piece.length / 8);
  if (/^[0-9]/.test(piece)) return Math.ceil(piece.length / 3);
  if (DENSE.test(piece)) return 1;
  return LETTER.test(piece) ? 0.5 : 1.2;
}
