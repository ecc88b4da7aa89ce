// Owns which dotted names config.yaml understands, and which one a misspelled name comes nearest to. Knows no value and no file.
// Invariant: read from the schema that it is given, so that a new setting is known at once.
import { z } from 'zod';
import { isJsonObject, type JsonValue } from '#base/json.ts';
import { typingErrors } from '#mind/sessions/search/word-variants.ts';

/** The names in `value`, each as far as it is unknown, that no setting of `schema` has. */
export function unknownKeys(
  schema: z.ZodType,
  value: JsonValue | undefined,
  keys: readonly string[] = [],
): readonly (readonly string[])[] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const name = [...keys, key];
    return isKnown(schema, name) ? unknownKeys(schema, inner, name) : [name];
  });
}

/** The first name in `keys` and below it, in `value`, that no setting of `schema` has; undefined when all are known. */
export function unknownKey(
  schema: z.ZodType,
  keys: readonly string[],
  value: JsonValue,
): readonly string[] | undefined {
  if (!isJsonObject(value) || Object.keys(value).length === 0) return isKnown(schema, keys) ? undefined : keys;
  for (const [key, inner] of Object.entries(value)) {
    const found = inner === undefined ? undefined : unknownKey(schema, [...keys, key], inner);
    if (found) return found;
  }
  return undefined;
}

/** The setting that was probably meant. */
export function nearestKey(schema: z.ZodType, keys: readonly string[]): string | undefined {
  const typed = keys.join('.');
  const last = keys.at(-1) ?? '';
  const rated = keyNames(schema, keys).map((name) => {
    const inPlace = typingErrors(typed, name, MOST_ERRORS);
    const misplaced = typingErrors(last, name.split('.').at(-1) ?? '', MOST_ERRORS - 1) + 0.5;
    return { name, errors: Math.min(inPlace, misplaced) };
  });
  rated.sort((a, b) => a.errors - b.errors);
  const [best] = rated;
  return best && best.errors <= MOST_ERRORS ? best.name : undefined;
}

const MOST_ERRORS = 3;

function isKnown(schema: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return true;
  const bare = unwrapped(schema);
  if (bare instanceof z.ZodUnion) return bare.options.some((option) => isKnown(option, [key, ...rest]));
  if (bare instanceof z.ZodRecord) return isKnown(bare.valueType, rest);
  if (bare instanceof z.ZodArray) return /^\d+$/.test(key) && isKnown(bare.element, rest);
  if (!(bare instanceof z.ZodObject)) return false;
  if (Object.hasOwn(bare.shape, key)) return isKnown(bare.shape[key], rest);
  const { catchall } = bare.def;
  return catchall !== undefined && !(catchall instanceof z.ZodNever);
}

/** Dotted names of all settings; where any name may stand, the typed one does, and only what is below it counts. */
function keyNames(schema: unknown, typed: readonly string[], prefix = ''): readonly string[] {
  const bare = unwrapped(schema);
  const [key = 'NAME', ...rest] = typed;
  const below = (name: string, inner: unknown) => keyNames(inner, rest, prefix === '' ? name : `${prefix}.${name}`);
  if (bare instanceof z.ZodUnion) return bare.options.flatMap((option) => keyNames(option, typed, prefix));
  if (bare instanceof z.ZodRecord) return below(key, bare.valueType).slice(1);
  if (!(bare instanceof z.ZodObject)) return [prefix];
  const own = Object.entries(bare.shape).flatMap(([name, inner]) => below(name, inner));
  return prefix === '' ? own : [prefix, ...own];
}

function unwrapped(schema: unknown): unknown {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional)
    return unwrapped(schema.unwrap());
  return schema;
}
