/**
 * Owns turning a value that arrived as mere text (XML-like parameters, bare words) into the type that the tool's schema
 * declares. Text that does not fit the declared type stays text: the turn loop validates. Never sees typed values.
 */
import { isRecord } from '../tool-catalog.ts';
import { TextWindow } from './text-window.ts';
import { readValue } from './value-reader.ts';

type Coercion = (text: string) => { value: unknown } | null;

const number: Coercion = (text) =>
  /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text) ? { value: Number(text) } : null;
const integer: Coercion = (text) => (/^[+-]?\d+(?:\.0+)?$/.test(text) ? { value: Number(text) } : null);
const boolean: Coercion = (text) => (/^(?:true|false)$/i.test(text) ? { value: /^t/i.test(text) } : null);
const nothing: Coercion = (text) => (/^(?:null|none|nil)$/i.test(text) ? { value: null } : null);
const structure =
  (fits: (value: unknown) => boolean): Coercion =>
  (text) => {
    const win = new TextWindow(text, true);
    const read = readValue(win, 0, { python: true });
    return read.ok && win.skipSpace(read.end) === text.length && fits(read.value) ? { value: read.value } : null;
  };
const array = structure(Array.isArray);
const object = structure(isRecord);

/** JSON Schema names, and those that tool lists written by hand use. */
const COERCIONS: Readonly<Record<string, Coercion>> = {
  integer,
  int: integer,
  long: integer,
  short: integer,
  byte: integer,
  number,
  float: number,
  double: number,
  boolean,
  bool: boolean,
  array,
  list: array,
  tuple: array,
  arraylist: array,
  set: array,
  object,
  dict: object,
  hashmap: object,
  map: object,
  null: nothing,
};

/** Types that a schema allows, lower case, in declared order (`anyOf`, `oneOf` and type lists included). */
function typesOf(schema: unknown, depth = 0): string[] {
  if (!isRecord(schema) || depth > 4) return [];
  const own = [schema.type]
    .flat()
    .filter((type) => typeof type === 'string')
    .map((type) => type.toLowerCase());
  const variants = ['anyOf', 'oneOf', 'allOf'].flatMap((key) => (Array.isArray(schema[key]) ? schema[key] : []));
  return [...own, ...variants.flatMap((variant) => typesOf(variant, depth + 1))];
}

export function coerceText(text: string, schema: unknown): unknown {
  const trimmed = text.trim();
  const types = typesOf(schema);
  if (types.length === 0) return fromEnum(trimmed, schema) ?? text;
  for (const type of types) {
    const coerced = Object.hasOwn(COERCIONS, type) ? COERCIONS[type]?.(trimmed) : null;
    if (coerced) return coerced.value;
  }
  return text;
}

function fromEnum(text: string, schema: unknown): unknown {
  if (!isRecord(schema) || !Array.isArray(schema.enum)) return undefined;
  return schema.enum.find((value) => typeof value !== 'string' && String(value) === text);
}

/** Lenient JSON or Python literal that fills the whole text, else undefined. */
export function valueOfText(text: string): unknown {
  const win = new TextWindow(text, true);
  const read = readValue(win, 0, { python: true });
  return read.ok && win.skipSpace(read.end) === text.length ? read.value : undefined;
}
