/**
 * Owns the declared tools as the parser sees them: which written names mean which tool, which properties a tool has, in
 * which order and of which types. Forgiving about prefixes, case, `-` `_` and `.`, exact otherwise. Does not validate.
 */
import type { BareToolSchema, TextToolSchema } from './text-call.ts';

export interface DeclaredTool {
  readonly name: string;
  /** Property name → its schema, in declared order. */
  readonly properties: ReadonlyMap<string, unknown>;
  readonly required: readonly string[];
}

export interface ToolCatalog {
  /** Declared names that are no identifiers, longest first. */
  readonly oddNames: readonly string[];
  /** The declared tool that a written name means, or null. */
  resolve(written: string): DeclaredTool | null;
  /** The parts of a tool's name and one of its properties that were written as one word, or null. */
  split(written: string): { readonly name: string; readonly key: string } | null;
}

const PREFIX = /^(?:functions|function|default_api|tools|tool|api|tool_api)[.:/]+/i;
const IDENTIFIER = /^[\p{L}\p{N}_$.\-/:]+$/u;
const SUFFIX = /(?:\.call|\(\)|:\d+)$/;

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function createToolCatalog(schemas: readonly TextToolSchema[]): ToolCatalog {
  const exact = new Map<string, DeclaredTool>();
  const folded = new Map<string, DeclaredTool | null>();
  for (const schema of schemas) {
    const tool = declaredTool(schema);
    if (!tool || exact.has(tool.name)) continue;
    exact.set(tool.name, tool);
    const key = fold(tool.name);
    folded.set(key, folded.has(key) ? null : tool);
  }
  const joined = joinedWords(exact.values());
  const lookUp = (name: string): DeclaredTool | null =>
    exact.get(name) ?? folded.get(fold(name)) ?? folded.get(fold(snakeCase(name))) ?? null;
  return {
    oddNames: [...exact.keys()].filter((name) => !IDENTIFIER.test(name)).sort((a, b) => b.length - a.length),
    resolve: (written) => {
      const name = written.trim();
      if (name === '' || name.length > 200) return null;
      return lookUp(name) ?? lookUp(name.replace(SUFFIX, '').replace(PREFIX, '').replace(SUFFIX, ''));
    },
    split: (written) => joined.get(written) ?? null,
  };
}

function declaredTool(schema: unknown): DeclaredTool | null {
  if (!isRecord(schema)) return null;
  const inner: unknown = isRecord(schema.function) ? schema.function : schema;
  if (!isRecord(inner) || typeof inner.name !== 'string' || inner.name === '') return null;
  const bare = inner as unknown as AnySchema;
  return { name: inner.name, properties: propertiesOf(bare), required: requiredOf(bare) };
}

/** Every `name + property`; a pair of which two are spelled alike is left out. */
function joinedWords(tools: Iterable<DeclaredTool>): Map<string, { name: string; key: string } | null> {
  const words = new Map<string, { name: string; key: string } | null>();
  for (const { name, properties } of tools) {
    for (const key of properties.keys()) words.set(name + key, words.has(name + key) ? null : { name, key });
  }
  return words;
}

type AnySchema = BareToolSchema & { readonly input_schema?: unknown };

function requiredOf(schema: AnySchema): string[] {
  const parameters = schema.parameters ?? schema.input_schema;
  const required = isRecord(parameters) ? parameters.required : undefined;
  return Array.isArray(required) ? required.filter((key) => typeof key === 'string') : [];
}

function propertiesOf(schema: AnySchema): Map<string, unknown> {
  const parameters = schema.parameters ?? schema.input_schema;
  if (!isRecord(parameters)) return new Map();
  const properties = isRecord(parameters.properties)
    ? parameters.properties
    : parameters.type === undefined
      ? parameters
      : {};
  return new Map(Object.entries(properties));
}

/** `getWeather` means `get_weather`. */
function snakeCase(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1_$2');
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[-.\s/]/g, '_');
}
