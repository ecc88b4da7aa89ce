// Owns the way from a tool's zod schema to the JSON schema that models read: short and the same bytes in every process.
// Knows no tool. Invariant: the schema is an object schema; nothing that only restates a default is sent (every request pays for it).
import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { madeOf } from '#base/late-schema.ts';
import type { AnyTool } from '#core/agent/tool.ts';

/** What a request says about one tool: an OpenAI function schema without its wrapper. */
export interface FunctionSchema {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

const cache = new WeakMap<AnyTool, FunctionSchema>();

/** Keeps JSON over the end of a program, by what it was made of. */
export interface KeptSchemas {
  get(key: string): JsonValue | undefined;
  set(key: string, value: JsonObject): void;
}

export function functionSchema(tool: AnyTool): FunctionSchema {
  return keptSchema(tool);
}

/** The same object for the same tool. */
export function keptSchema(tool: AnyTool, kept?: KeptSchemas): FunctionSchema {
  const known = cache.get(tool);
  if (known) return known;
  const schema: FunctionSchema = {
    name: tool.name,
    description: tool.description,
    parameters: parametersOf(tool.input, kept),
  };
  cache.set(tool, schema);
  return schema;
}

function parametersOf(input: z.ZodType, kept?: KeptSchemas): JsonObject {
  const key = madeOf(input);
  const known = key === undefined ? undefined : kept?.get(key);
  if (isJsonObject(known)) return known;
  const made = compactSchema(input);
  if (key !== undefined) kept?.set(key, made);
  return made;
}

/** JSON Schema of what a caller may send (defaults make a field optional). */
function compactSchema(input: z.ZodType): JsonObject {
  const raw = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any', reused: 'inline' });
  const compact = compactNode(raw as JsonObject);
  return { type: 'object', ...compact, properties: isJsonObject(compact.properties) ? compact.properties : {} };
}

/** Bounds are left out too: a value out of bounds is rare, and its refusal says what is wrong; the bounds would be paid for in every request. */
const NOISE = new Set([
  '$schema',
  '~standard',
  'additionalProperties',
  'default',
  'minLength',
  'maxLength',
  'maxItems',
  'minimum',
  'maximum',
  'exclusiveMinimum',
]);

function compactNode(node: JsonObject): JsonObject {
  const out: Record<string, JsonValue | undefined> = {};
  for (const [key, value] of Object.entries(node)) {
    if (value === undefined || NOISE.has(key)) continue;
    out[key] = key === 'properties' ? compactProperties(value) : compactValue(value);
  }
  return out;
}

/** Property names are the tool's own: none of them is noise. */
function compactProperties(value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, compactValue(schema ?? {})]));
}

function compactValue(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(compactValue);
  return isJsonObject(value) ? compactNode(value) : value;
}
