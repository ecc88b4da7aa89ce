// Owns cutting any value down to a stored preview (curator notes 3). Pure. Lengths are code points.
// Invariant: total; a preview is never longer than its limit and never ends in half a character.
import { canonicalJson, type JsonObject, type JsonValue } from '#base/json.ts';
import { spacedJson } from './upstream-value.ts';

export interface CompatOptions {
  /** Gives the original's result where ours differs. */
  readonly compat?: 'upstream';
}

const PREVIEW_LIMIT = 500;

/**
 * A value as a stored preview (seed 002, evidence; notes 3): null gives the empty text, a text itself, anything else JSON with sorted
 * keys. `limit`: the longest result in code points, else 500; what is longer loses its end to one ellipsis character. Ours takes NUL
 * characters out, the original the four characters `\\x00`; its JSON has a blank after each comma and colon. Throws nothing.
 */
export function compactPreview(value: unknown, limit?: number | null, { compat }: CompatOptions = {}): string {
  const text = textOf(value, compat);
  const plain = compat === 'upstream' ? text.replaceAll('\\x00', '') : text.replaceAll('\0', '');
  return cut(plain, limit ?? PREVIEW_LIMIT);
}

/** The arguments of a call as JSON text; when they are too long, an object that holds the beginning of that text. */
export function compactArguments(value: JsonObject, limit = PREVIEW_LIMIT * 2): string {
  const text = canonicalJson(value).replaceAll('\\u0000', '');
  return text.length <= limit || [...text].length <= limit ? text : canonicalJson({ preview: cut(text, limit) });
}

function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const points = Array.from(text.slice(0, limit * 2 + 2));
  return points.length <= limit ? text : `${points.slice(0, Math.max(0, limit - 1)).join('')}…`;
}

function textOf(value: unknown, compat: CompatOptions['compat']): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value.toWellFormed();
  try {
    const json = compat === 'upstream' ? spacedJson(value) : canonicalJson(value as JsonValue);
    return (json ?? String(value)).toWellFormed();
  } catch {
    return String(value); // cyclic, or a number that JSON has no form for
  }
}
