// Owns the declared tools, what the parser gives, and what calls a parsed JSON (or Python) value stands for: `{name, arguments}` in all its
// dialects, flattened arguments, wrapped lists, `{tool: {…}}`; argument texts by the tool's schema. Strict mode (no container around it) takes only
// declared names and only call keys; otherwise a named but undeclared call is a malformed one. A tool's definition is never a call.
import { ARGUMENT_KEYS, LIST_KEYS, LOOSE_LIST_KEYS, META_KEYS, NAME_KEYS } from './tables.rules.ts';
import { readValue, setOwn } from './value-reader.ts';
import { TextWindow } from './window.ts';

/** A declared tool: an OpenAI function schema, or its bare inner object. */
export type TextToolSchema =
  | { readonly type?: string; readonly function: BareToolSchema }
  | (BareToolSchema & { readonly type?: string; readonly function?: undefined });

interface BareToolSchema {
  readonly name: string;
  readonly description?: string | undefined;
  readonly parameters?: unknown;
}

/** One call; `name` is spelled as declared, `arguments` is not validated against the schema. */
export interface TextCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

/** `truncated`: the text ended inside a value. `unknown-tool`: well formed, but no declared tool has that name. */
export type MalformedReason = 'unparsable' | 'truncated' | 'unknown-tool';

/** An attempt to call that cannot be run. `raw` is at most 2,000 characters; `name` is the name as written, if readable. */
export interface MalformedCall {
  readonly reason: MalformedReason;
  readonly name: string | null;
  readonly raw: string;
}

export type Found =
  | { readonly kind: 'call'; readonly call: TextCall }
  | { readonly kind: 'malformed'; readonly malformed: MalformedCall };

/**
 * Text and reasoning deltas are final when emitted, but for one case: `reclassify` says that everything before it
 * (text, calls, malformed attempts) was reasoning whose opening tag stood in the prompt; `reasoning` is its whole text.
 */
export type TextCallEvent =
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly text: string }
  | { readonly type: 'tool-call'; readonly call: TextCall }
  | { readonly type: 'malformed-call'; readonly malformed: MalformedCall }
  | { readonly type: 'reclassify'; readonly reasoning: string };

export interface TextCallParser {
  /** Takes the next piece of the model's text; returns what is certain by now. */
  push(chunk: string): TextCallEvent[];
  /** The text is complete; returns the rest. Further pushes are ignored. */
  end(): TextCallEvent[];
}

export interface ParsedText {
  readonly content: string;
  readonly reasoning: string;
  readonly calls: TextCall[];
  readonly malformed: MalformedCall[];
}

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
  /** Spelled alike, and name and property in one word; null where two are. */
  const folded = new Map<string, DeclaredTool | null>();
  const joined = new Map<string, { name: string; key: string } | null>();
  for (const tool of schemas.flatMap((schema) => declaredTool(schema) ?? [])) {
    if (exact.has(tool.name)) continue;
    exact.set(tool.name, tool);
    const key = fold(tool.name);
    folded.set(key, folded.has(key) ? null : tool);
    for (const property of tool.properties.keys()) {
      const word = tool.name + property;
      joined.set(word, joined.has(word) ? null : { name: tool.name, key: property });
    }
  }
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
  const inner = isRecord(schema) && isRecord(schema.function) ? schema.function : schema;
  if (!isRecord(inner) || typeof inner.name !== 'string' || inner.name === '') return null;
  const given = inner.parameters ?? inner.input_schema;
  const parameters = isRecord(given) ? given : {};
  const bare = parameters.type === undefined ? parameters : {};
  const required = Array.isArray(parameters.required) ? parameters.required : [];
  return {
    name: inner.name,
    properties: new Map(Object.entries(isRecord(parameters.properties) ? parameters.properties : bare)),
    required: required.filter((key) => typeof key === 'string'),
  };
}

/** `getWeather` means `get_weather`. */
function snakeCase(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1_$2');
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[-.\s/]/g, '_');
}

/** `tool` is null when no declared tool has that name. */
export interface WrittenCall {
  readonly written: string;
  readonly tool: DeclaredTool | null;
  readonly arguments: Record<string, unknown>;
}

/** A required argument is missing, or all of them are. Where the text was cut off, that is why. */
export function lacksArguments({ tool, arguments: args }: WrittenCall): boolean {
  if (!tool) return false;
  const empty = Object.keys(args).length === 0 && tool.properties.size > 0;
  return empty || tool.required.some((key) => !Object.hasOwn(args, key));
}

/** All arguments are declared ones. */
export function fitsTool(args: Record<string, unknown>, tool: DeclaredTool): boolean {
  return Object.keys(args).every((key) => tool.properties.has(key));
}

export interface ValueContext {
  readonly catalog: ToolCatalog;
  readonly strict: boolean;
}

const MAX_CALLS_DEPTH = 4;

/** The calls that `value` stands for, or null when it is no call, or when one of several is none. */
export function callsOfValue(value: unknown, context: ValueContext, depth = 0): WrittenCall[] | null {
  if (depth > MAX_CALLS_DEPTH) return null;
  if (Array.isArray(value)) {
    const calls = value.map((item) => callsOfValue(item, context, depth + 1));
    return calls.length > 0 && calls.every((some) => some !== null) ? calls.flat() : null;
  }
  // A call that was written as a JSON string (`["{\"name\": …}"]`).
  if (typeof value === 'string' && !context.strict && /^\s*[{[]/.test(value))
    return callsOfValue(valueOfText(value), context, depth + 1);
  if (!isRecord(value)) return null;
  const single = callOfRecord(value, context);
  if (single) return [single];
  const keys = context.strict ? LIST_KEYS : [...LIST_KEYS, ...LOOSE_LIST_KEYS];
  const list = keys.find((key) => Object.hasOwn(value, key) && onlyMeta(value, key, context));
  return list === undefined ? callsOfKeyedRecord(value, context) : callsOfValue(value[list], context, depth + 1);
}

function onlyMeta(record: Record<string, unknown>, key: string, { strict }: ValueContext): boolean {
  return !strict || Object.keys(record).every((other) => other === key || META_KEYS.has(other) || other === 'content');
}

function callOfRecord(record: Record<string, unknown>, context: ValueContext): WrittenCall | null {
  const nameKey = findName(record, context);
  if (nameKey === null) return null;
  const named = record[nameKey];
  // {"type": "function", "function": {"name": …, "arguments": …}}
  if (isRecord(named)) return onlyMeta(record, nameKey, context) ? callOfRecord(named, context) : null;
  const written = String(named);
  const tool = context.catalog.resolve(written);
  if ((context.strict && !tool) || isDefinition(record)) return null;
  const args = argumentsOf(record, nameKey, { tool, strict: context.strict });
  return args && { written, tool, arguments: args };
}

/** The key that holds the name: the first that names a declared tool, else (when lenient) the first that names anything. */
function findName(record: Record<string, unknown>, { catalog, strict }: ValueContext): string | null {
  const keys = NAME_KEYS.filter((key) => Object.hasOwn(record, key));
  const isDeclared = (value: unknown): boolean => typeof value === 'string' && catalog.resolve(value) !== null;
  const declared = keys.find((key) => {
    const value = record[key];
    if (!isRecord(value)) return isDeclared(value);
    return typeof value.name === 'string' && (!strict || isDeclared(value.name));
  });
  if (declared !== undefined || strict) return declared ?? null;
  return keys.find((key) => typeof record[key] === 'string' && record[key] !== '') ?? null;
}

function isDefinition(record: Record<string, unknown>): boolean {
  const schema = record.parameters ?? record.input_schema;
  if (!isRecord(schema) || schema.type !== 'object' || !isRecord(schema.properties)) return false;
  const isTyped = (property: unknown): boolean => isRecord(property) && 'type' in property;
  return typeof record.description === 'string' || Object.values(schema.properties).every(isTyped);
}

interface ArgumentContext {
  readonly tool: DeclaredTool | null;
  readonly strict: boolean;
}

function argumentsOf(
  record: Record<string, unknown>,
  nameKey: string,
  context: ArgumentContext,
): Record<string, unknown> | null {
  const key = argumentKey(record, context.tool);
  const base = key === null ? {} : givenArguments(record[key], context);
  if (!base) return null;
  const beside = Object.entries(record).filter(([name]) => name !== nameKey && name !== key);
  const place = (name: string) => placeOf(name, key === null, context);
  if (beside.some(([name]) => place(name) === 'foreign' && !Object.hasOwn(base, name))) return null;
  const result: Record<string, unknown> = {};
  for (const [name, value] of [...beside.filter(([name]) => place(name) === 'argument'), ...Object.entries(base)])
    setOwn(result, name, value);
  // Without a container, a name alone is a mention, unless the tool takes nothing.
  const isMention = context.strict && Object.keys(result).length === 0 && context.tool?.properties.size !== 0;
  return key === null && isMention ? null : result;
}

function givenArguments(value: unknown, { tool, strict }: ArgumentContext): Record<string, unknown> | null {
  const args = argumentRecord(value);
  // `{"type": "object", "properties": {"city": "Paris"}}`: the schema was copied and filled in.
  if (args?.type === 'object' && isRecord(args.properties) && tool?.properties.has('properties') === false)
    return args.properties;
  if (args || strict || typeof value !== 'string' || /^\s*[{[]/.test(value)) return args;
  // `"arguments": "ls -la"`: the text is the one argument that the tool requires.
  const [key, ...more] = tool?.required ?? [];
  return key !== undefined && more.length === 0 ? { [key]: value } : null;
}

/** What a key beside the name is: a flattened argument, bookkeeping, or a sign that this is no call. */
function placeOf(name: string, flattened: boolean, { tool, strict }: ArgumentContext): 'argument' | 'meta' | 'foreign' {
  if (tool?.properties.has(name)) return 'argument';
  if (META_KEYS.has(name)) return 'meta';
  if (strict) return 'foreign';
  return flattened && name !== 'description' ? 'argument' : 'meta';
}

/** A call key that is also a declared parameter holds the arguments only if its value can be them. */
function argumentKey(record: Record<string, unknown>, tool: DeclaredTool | null): string | null {
  const mayHold = (key: string): boolean => {
    const value = record[key];
    if (!Object.hasOwn(record, key) || (tool?.properties.has(key) && !namesParameters(value, tool))) return false;
    return typeof value === 'string' || typeof value === 'object';
  };
  return ARGUMENT_KEYS.find(mayHold) ?? null;
}

function namesParameters(value: unknown, tool: DeclaredTool): boolean {
  const record = typeof value === 'string' ? valueOfText(value) : value;
  return isRecord(record) && Object.keys(record).length > 0 && fitsTool(record, tool);
}

/** Arguments as an object, from an object, its JSON text (also encoded twice over), nothing, a list of one object or of `{name, value}` pairs. */
export function argumentRecord(value: unknown): Record<string, unknown> | null {
  if (value === null || value === undefined) return {};
  if (Array.isArray(value)) return recordOfList(value);
  if (typeof value !== 'string') return isRecord(value) ? value : null;
  const once = value.trim() === '' ? {} : valueOfText(value);
  const inner = typeof once === 'string' ? valueOfText(once) : once;
  return isRecord(inner) ? inner : null;
}

function recordOfList(list: readonly unknown[]): Record<string, unknown> | null {
  if (list.length === 1 && isRecord(list[0]) && !isPair(list[0])) return list[0];
  const result: Record<string, unknown> = {};
  for (const pair of list) {
    if (!isPair(pair)) return null;
    setOwn(result, pair.name, pair.value);
  }
  return result;
}

function isPair(value: unknown): value is { name: string; value: unknown } {
  return isRecord(value) && typeof value.name === 'string' && 'value' in value && Object.keys(value).length <= 3;
}

/** `{"get_weather": {"city": "Paris"}}`, one call a key. */
function callsOfKeyedRecord(record: Record<string, unknown>, { catalog, strict }: ValueContext): WrittenCall[] | null {
  const calls: WrittenCall[] = [];
  for (const [written, value] of Object.entries(record)) {
    const tool = catalog.resolve(written);
    if (!tool || !isRecord(value) || !fitsTool(value, tool) || (strict && tool.properties.size === 0)) return null;
    calls.push({ written, tool, arguments: value });
  }
  return calls.length > 0 ? calls : null;
}

/** The value that a text stands for, or undefined when it does not look like one. */
type Coercion = (text: string) => unknown;

const integer: Coercion = (text) => (/^[+-]?\d+(?:\.0+)?$/.test(text) ? Number(text) : undefined);
const number: Coercion = (text) =>
  /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text) ? Number(text) : undefined;
const boolean: Coercion = (text) => (/^(?:true|false)$/i.test(text) ? /^t/i.test(text) : undefined);
const nothing: Coercion = (text) => (/^(?:null|none|nil)$/i.test(text) ? null : undefined);
const structure =
  (fits: (value: unknown) => boolean): Coercion =>
  (text) => {
    const value = valueOfText(text);
    return fits(value) ? value : undefined;
  };

/** JSON Schema names, and those that tool lists written by hand use. */
const COERCIONS: readonly (readonly [names: RegExp, Coercion])[] = [
  [/^(?:integer|int|long|short|byte)$/, integer],
  [/^(?:number|float|double)$/, number],
  [/^(?:boolean|bool)$/, boolean],
  [/^(?:array|list|tuple|arraylist|set)$/, structure(Array.isArray)],
  [/^(?:object|dict|hashmap|map)$/, structure(isRecord)],
  [/^null$/, nothing],
];

/** Types that a schema allows, lower case, in declared order (`anyOf`, `oneOf` and type lists included). */
function typesOf(schema: unknown, depth = 0): string[] {
  if (!isRecord(schema) || depth > 4) return [];
  const own = [schema.type].flat().flatMap((type) => (typeof type === 'string' ? [type.toLowerCase()] : []));
  const variants = ['anyOf', 'oneOf', 'allOf'].flatMap((key) => (Array.isArray(schema[key]) ? schema[key] : []));
  return [...own, ...variants.flatMap((variant) => typesOf(variant, depth + 1))];
}

export function coerceText(text: string, schema: unknown): unknown {
  const trimmed = text.trim();
  const types = typesOf(schema);
  if (types.length === 0 && isRecord(schema) && Array.isArray(schema.enum))
    return schema.enum.find((value) => typeof value !== 'string' && String(value) === trimmed) ?? text;
  for (const type of types) {
    const coerced = COERCIONS.find(([names]) => names.test(type))?.[1](trimmed);
    if (coerced !== undefined) return coerced;
  }
  return text;
}

/** Lenient JSON or Python literal that fills the whole text, else undefined. */
export function valueOfText(text: string): unknown {
  const win = new TextWindow(text, true);
  const read = readValue(win, 0, { python: true });
  return read.ok && win.skipSpace(read.end) === text.length ? read.value : undefined;
}
