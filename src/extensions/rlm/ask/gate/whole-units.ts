// Owns what of a text can be quoted: a whole sentence, line, list item or table cell, uncut. Knows no handle and no model.
// Invariant: linear; list marks, emphasis, white space, the form of quotation marks and a full stop at the end aside, equal means equal.
import { plainQuotes } from '#mind/evidence/trace-guard/fold-text.ts';
import { cutPassages, cutSentences, type Stretch } from '../../text/cut-passages.ts';

const EMPHASIS = /(?<![\p{L}\p{N}*_`])(\*{1,3}|_{1,3}|`{1,2})(?=\S)([^\n]{1,400}?)(?<=\S)\1(?![\p{L}\p{N}*_`])/gu;

/** The form in which a sentence and a unit are compared. */
export function plainSentence(text: string): string {
  const bare = text.replace(EMPHASIS, '$2').replace(EMPHASIS, '$2').normalize('NFC');
  return plainQuotes(bare)
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(/(?<=[^.。])[.。]$/u, '');
}

/** By their plain form, each with all places where it stands, UTF-16. */
export type WholeUnits = ReadonlyMap<string, readonly Stretch[]>;

export function wholeUnits(text: string): WholeUnits {
  const units = new Map<string, Stretch[]>();
  for (const stretch of cutPassages(text).flatMap((passage) => [passage, ...partsOf(text, passage)])) {
    const plain = plainSentence(text.slice(stretch.start, stretch.end));
    if (!/[\p{L}\p{N}]/u.test(plain)) continue;
    const known = units.get(plain);
    if (known === undefined) units.set(plain, [stretch]);
    else if (known.at(-1)?.start !== stretch.start) known.push(stretch);
  }
  return units;
}

function partsOf(text: string, { kind, start, end }: Stretch & { readonly kind: string }): readonly Stretch[] {
  if (kind === 'code') return [];
  const row = text.slice(start, end);
  if (!row.startsWith('|')) return cutSentences(text, { start, end });
  let at = start;
  return row.split(/(?<!\\)\|/).map((cell) => {
    const from = at + cell.length - cell.trimStart().length;
    at += cell.length + 1;
    return { start: from, end: from + cell.trim().length };
  });
}
