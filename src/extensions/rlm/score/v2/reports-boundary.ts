// Owns whether a completion reports where its material was cut: each number stands under its own key, or as a number by itself in a text
// that speaks of the boundary. Invariant: digits of ids, ranges and decimals are no report.

import { foldText } from '../fold-text.ts';
import type { Boundary } from '../score-fixture.ts';
import type { CompletionText } from './completion-texts.ts';

const MARKER =
  /truncation[ _]boundary|last[ _]retained[ _]line|omitted[ _]lines?|lines? omitted|lines [^.]{0,40}omitted/u;

export function reportsBoundary(boundary: Boundary, texts: readonly CompletionText[]): boolean {
  const wanted = Object.entries(boundary).filter(([, number]) => number !== null);
  if (wanted.length === 0) return texts.some(isReport);
  return wanted.every(([key, number]) =>
    texts.some((item) => (item.key === key ? item.text === String(number) : isReport(item) && hasNumber(item, number))),
  );
}

function isReport(item: CompletionText): boolean {
  return MARKER.test(foldText(item.text));
}

/** Not after a letter's hyphen (an id), not in `path.ext:7-8` (a chunk), not as the start of a range. */
function hasNumber(item: CompletionText, number: number): boolean {
  const before = '(?<![\\p{L}\\p{N}_.])(?<!:\\d+-)(?<![\\p{L}_]-)(?<!\\.[\\p{L}\\p{N}_]*:)';
  return new RegExp(`${before}${number}(?!\\.?\\d|[\\p{L}_]|-\\d)`, 'u').test(item.text);
}
