// Owns the only way in which text becomes markup: a template whose parts are escaped unless they came out of one. Knows no page.
// Invariant: no text, whatever it holds, makes a tag, an attribute or an entity; and none longer than `LONGEST` gets through uncut.
import { headTail } from '#base/text.ts';
import { visibleText } from './visible-text.ts';

const made = Symbol('made here');

export interface Html {
  readonly [made]: string;
}

export type Part = string | number | Html | null | undefined | false | readonly Part[];

/** What is meant to be longer is cut where it is known why. */
const LONGEST = 60_000;

/** Parts may stand between tags and inside quoted values of attributes, nowhere else. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = strings[0] ?? '';
  for (const [at, part] of parts.entries()) text += `${written(part)}${strings[at + 1] ?? ''}`;
  return { [made]: text };
}

export function markupOf(piece: Html): string {
  return piece[made];
}

function written(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (typeof part === 'string' || typeof part === 'number') return escapeText(String(part));
  return isList(part) ? part.map(written).join('') : part[made];
}

function isList(part: Html | readonly Part[]): part is readonly Part[] {
  return Array.isArray(part);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeText(text: string): string {
  const kept = headTail(text, LONGEST * 0.75, LONGEST * 0.25);
  return visibleText(kept).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
