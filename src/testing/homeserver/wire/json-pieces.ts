// Owns the text of a big answer in pieces, so that the sync of ten thousand rooms never stands in memory as one string. Pure.
// Invariant: the pieces joined are what JSON.stringify gives.
import type { JsonValue } from '#base/json.ts';

const PIECE_CHARS = 65_536;

/** Pieces of about 64 Ki characters; what lies deeper than `depth` stays whole. */
export function* jsonPieces(value: JsonValue, depth = 3): Generator<string> {
  let held = '';
  for (const part of parts(value, depth)) {
    held += part;
    if (held.length < PIECE_CHARS) continue;
    yield held;
    held = '';
  }
  if (held !== '') yield held;
}

function* parts(value: JsonValue, depth: number): Generator<string> {
  if (depth === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) {
    yield JSON.stringify(value);
    return;
  }
  let before = '{';
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* parts(item, depth - 1);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}
