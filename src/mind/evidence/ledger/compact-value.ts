// Owns how the original's language sees a value (what counts as true, what `strip` takes off, how JSON and plain text of it are written), and
// cutting any value down to a stored preview (curator notes 3). Pure, total on JSON. Invariant: a preview is never longer than its limit, in code
// points, and never ends in half a character.
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';

/** Blanks of that language: not those of ours, which know the byte order mark and not the separators below the space. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are blanks there
const BLANK = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** Linear in the blanks that it takes off. */
export function stripBlanks(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && BLANK.test(text.charAt(from))) from += 1;
  while (to > from && BLANK.test(text.charAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

/** Empty lists and objects are false too; no number but zero is. */
export function isTruthy(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isJsonObject(value)) return Object.keys(value).length > 0;
  return Boolean(value) || Number.isNaN(value);
}

/** JSON with sorted keys, a blank after each comma and colon, no character escaped without need. */
export function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => spacedJson(item)).join(', ')}]`;
  if (typeof value === 'number') return numberText(value);
  if (!isJsonObject(value)) return JSON.stringify(value ?? null);
  const keys = Object.keys(value)
    .map((key) => ({ key, rank: pointRank(key) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return `{${keys.map(({ key }) => `${JSON.stringify(key)}: ${spacedJson(value[key])}`).join(', ')}}`;
}

/** As that language prints a value: a text as it is, all else as it would be written in a program. */
export function plainText(value: unknown): string {
  return typeof value === 'string' ? value : written(value);
}

function written(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return numberText(value).replace('NaN', 'nan').replace('Infinity', 'inf');
  if (Array.isArray(value)) return `[${value.map((item) => written(item)).join(', ')}]`;
  if (!isJsonObject(value)) return 'None';
  return `{${Object.entries(value)
    .map(([key, item]) => `${quoted(key)}: ${written(item)}`)
    .join(', ')}}`;
}

/** Small fractions are written with an exponent of at least two digits from 0.0001 down. */
function numberText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const small = Math.abs(value) < 1e-4 && value !== 0;
  return (small ? value.toExponential() : String(value)).replace(/e([+-])(\d)$/, 'e$10$2');
}

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}\\]|(?! )\p{Zs}/gu;

/** In double marks only when the text holds single ones and no double ones. */
function quoted(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = text.replace(UNPRINTABLE, (point) => NAMED[point] ?? escaped(point.codePointAt(0) ?? 0));
  return mark + (mark === "'" ? inner.replaceAll("'", "\\'") : inner) + mark;
}

function escaped(point: number): string {
  if (point < 0x100) return `\\x${point.toString(16).padStart(2, '0')}`;
  return point < 0x10000 ? `\\u${point.toString(16).padStart(4, '0')}` : `\\U${point.toString(16).padStart(8, '0')}`;
}

/** Compares as the list of code points does. */
function pointRank(text: string): string {
  return Array.from(text, (point) => (point.codePointAt(0) ?? 0).toString(16).padStart(6, '0')).join('');
}

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
