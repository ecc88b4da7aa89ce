// Owns the border between what models send and what tools take: harmless slips are mended, everything else stays an error.
// Knows no tool. Invariant: a value of the right type is never changed; a wrong one is changed only when there is one way to read it.
import { z } from 'zod';
import { isJsonObject, type JsonValue, parseJson } from '#base/json.ts';

/** Names that models trained on other tools use for ours; taken only when the right name is missing. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  path: ['file_path', 'filepath', 'filename', 'file'],
  command: ['cmd', 'script'],
  pattern: ['query', 'regex'],
  content: ['contents', 'text', 'file_text'],
  old_string: ['old_str', 'old_text'],
  new_string: ['new_str', 'new_text'],
  workdir: ['cwd', 'working_directory'],
  choices: ['options'],
  url: ['uri', 'link'],
};

/**
 * An object schema that also takes: numbers, booleans, lists as strings; null for what is optional; the usual other names.
 * What models see is the schema of the object itself.
 */
export function lenientInput<Shape extends z.ZodRawShape>(shape: Shape) {
  const object = z.object(shape);
  return z.preprocess((value) => mendArguments(value as JsonValue, shape), object) as unknown as z.ZodType<
    z.infer<typeof object>
  >;
}

function mendArguments(value: JsonValue, shape: z.ZodRawShape): JsonValue {
  if (!isJsonObject(value)) return value;
  const out: Record<string, JsonValue | undefined> = {};
  for (const [name, schema] of Object.entries(shape)) {
    const found = [name, ...(ALIASES[name] ?? [])].find(
      (key) => (key === name || !(key in shape)) && value[key] !== undefined,
    );
    if (found === undefined) continue;
    const mended = mendValue(value[found], schema as z.ZodType);
    if (mended !== undefined) out[name] = mended;
  }
  return out;
}

function mendValue(value: JsonValue | undefined, schema: z.ZodType): JsonValue | undefined {
  if (value === undefined || schema.safeParse(value).success) return value;
  const readings = [readNull(value), readText(value), readNumberAsText(value)];
  return readings.find((reading) => reading !== value && schema.safeParse(reading).success) ?? keepWrong(value, schema);
}

/** `undefined` is a reading too: null, and an empty text where text is wrong, mean that the field was left out. */
function keepWrong(value: JsonValue, schema: z.ZodType): JsonValue | undefined {
  const empty = value === null || value === '';
  return empty && schema.safeParse(undefined).success ? undefined : value;
}

function readNull(value: JsonValue): JsonValue | undefined {
  return value === null ? undefined : value;
}

/** `"10"`, `"true"`, `"[…]"`: JSON inside a string. */
function readText(value: JsonValue): JsonValue {
  if (typeof value !== 'string' || value.length > 200_000) return value;
  const parsed = parseJson(value.trim().replace(/^(?:True|False)$/, (word) => word.toLowerCase()));
  return parsed.ok ? parsed.value : value;
}

function readNumberAsText(value: JsonValue): JsonValue {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}
