/**
 * Owns deciding what calls a parsed JSON (or Python) value stands for: `{name, arguments}` in all its dialects, flattened
 * arguments, wrapped lists, `{tool: {…}}`. Strict mode (no container around it) takes only declared names and only call
 * keys; otherwise a named but undeclared call is a malformed one. A tool's definition is never a call.
 */
import { ARGUMENT_KEYS, LIST_KEYS, LOOSE_LIST_KEYS, META_KEYS, NAME_KEYS } from '../tables/call-keys.ts';
import { type DeclaredTool, isRecord, type ToolCatalog } from '../tool-catalog.ts';
import { valueOfText } from './coerce-text.ts';
import { setOwn } from './value-reader.ts';

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

export interface ValueContext {
  readonly catalog: ToolCatalog;
  readonly strict: boolean;
}

const MAX_CALLS_DEPTH = 4;

/** The calls that `value` stands for, or null when it is no call, or when one of several is none. */
export function callsOfValue(value: unknown, context: ValueContext, depth = 0): WrittenCall[] | null {
  if (depth > MAX_CALLS_DEPTH) return null;
  if (Array.isArray(value)) return callsOfList(value, context, depth);
  if (typeof value === 'string' && !context.strict) return callsOfText(value, context, depth);
  if (!isRecord(value)) return null;
  const single = callOfRecord(value, context);
  if (single) return [single];
  const key = listKey(value, context);
  return key === undefined ? callOfKeyedRecord(value, context) : callsOfValue(value[key], context, depth + 1);
}

/** The key under which a record holds a list of calls. */
function listKey(record: Record<string, unknown>, context: ValueContext): string | undefined {
  const keys = context.strict ? LIST_KEYS : [...LIST_KEYS, ...LOOSE_LIST_KEYS];
  return keys.find((key) => Object.hasOwn(record, key) && onlyMeta(record, key, context));
}

function callsOfList(values: readonly unknown[], context: ValueContext, depth: number): WrittenCall[] | null {
  const calls: WrittenCall[] = [];
  for (const value of values) {
    const inner = callsOfValue(value, context, depth + 1);
    if (!inner) return null;
    calls.push(...inner);
  }
  return calls.length > 0 ? calls : null;
}

/** A call that was written as a JSON string (`["{\"name\": …}"]`). */
function callsOfText(text: string, context: ValueContext, depth: number): WrittenCall[] | null {
  if (!/^\s*[{[]/.test(text)) return null;
  const value = valueOfText(text);
  return value === undefined ? null : callsOfValue(value, context, depth + 1);
}

function onlyMeta(record: Record<string, unknown>, key: string, { strict }: ValueContext): boolean {
  return !strict || Object.keys(record).every((other) => other === key || META_KEYS.has(other) || other === 'content');
}

function callOfRecord(record: Record<string, unknown>, context: ValueContext): WrittenCall | null {
  const nameKey = findName(record, context);
  if (nameKey === null) return null;
  const named = record[nameKey];
  if (isRecord(named)) return callOfNested(record, nameKey, context);
  const written = String(named);
  const tool = context.catalog.resolve(written);
  if (context.strict && !tool) return null;
  if (isDefinition(record)) return null;
  const args = argumentsOf(record, nameKey, { tool, strict: context.strict });
  return args && { written, tool, arguments: args };
}

/** The key that holds the name: the first that names a declared tool, else (when lenient) the first that names anything. */
function findName(record: Record<string, unknown>, context: ValueContext): string | null {
  const keys = NAME_KEYS.filter((key) => Object.hasOwn(record, key));
  const declared = keys.find((key) => namesTool(record[key], context));
  if (declared !== undefined || context.strict) return declared ?? null;
  return keys.find((key) => typeof record[key] === 'string' && record[key] !== '') ?? null;
}

function namesTool(value: unknown, context: ValueContext): boolean {
  if (typeof value === 'string') return context.catalog.resolve(value) !== null;
  return (
    isRecord(value) &&
    typeof value.name === 'string' &&
    (!context.strict || context.catalog.resolve(value.name) !== null)
  );
}

/** `{"type": "function", "function": {"name": …, "arguments": …}}` */
function callOfNested(record: Record<string, unknown>, key: string, context: ValueContext): WrittenCall | null {
  if (!onlyMeta(record, key, context)) return null;
  const inner = record[key];
  return isRecord(inner) ? callOfRecord(inner, context) : null;
}

function isDefinition(record: Record<string, unknown>): boolean {
  const schema = record.parameters ?? record.input_schema;
  if (!isRecord(schema)) return false;
  const properties = schema.properties;
  if (schema.type !== 'object' || !isRecord(properties)) return false;
  return (
    typeof record.description === 'string' ||
    Object.values(properties).every((property) => isRecord(property) && 'type' in property)
  );
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
  const base =
    key === null ? {} : filledSchema(argumentRecord(record[key]) ?? loneText(record[key], context), context.tool);
  if (!base) return null;
  const beside = Object.entries(record).filter(([name]) => name !== nameKey && name !== key);
  const placed = beside.map(([name, value]) => ({ name, value, place: placeOf(name, key === null, context) }));
  if (placed.some(({ name, place }) => place === 'foreign' && !Object.hasOwn(base, name))) return null;
  const result: Record<string, unknown> = {};
  for (const { name, value, place } of placed) if (place === 'argument') setOwn(result, name, value);
  for (const [name, value] of Object.entries(base)) setOwn(result, name, value);
  return key === null && isMention(result, context) ? null : result;
}

/** Without a container, a name alone is a mention, unless the tool takes nothing. */
function isMention(args: Record<string, unknown>, { tool, strict }: ArgumentContext): boolean {
  return strict && Object.keys(args).length === 0 && tool?.properties.size !== 0;
}

/** `"arguments": "ls -la"`: the text is the one argument that the tool requires. */
function loneText(value: unknown, { tool, strict }: ArgumentContext): Record<string, unknown> | null {
  const [key, ...more] = tool?.required ?? [];
  const plain = typeof value === 'string' && !/^\s*[{[]/.test(value);
  return plain && !strict && key !== undefined && more.length === 0 ? { [key]: value } : null;
}

/** `{"type": "object", "properties": {"city": "Paris"}}`: the schema was copied and filled in. */
function filledSchema(args: Record<string, unknown> | null, tool: DeclaredTool | null): Record<string, unknown> | null {
  const copied = args?.type === 'object' && isRecord(args.properties) && tool?.properties.has('properties') === false;
  return copied && isRecord(args.properties) ? args.properties : args;
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
  for (const key of ARGUMENT_KEYS) {
    if (!Object.hasOwn(record, key)) continue;
    const value = record[key];
    if (tool?.properties.has(key) && !namesParameters(value, tool)) continue;
    if (value === null || typeof value === 'string' || isRecord(value) || Array.isArray(value)) return key;
  }
  return null;
}

function namesParameters(value: unknown, tool: DeclaredTool): boolean {
  const record = typeof value === 'string' ? valueOfText(value) : value;
  return (
    isRecord(record) && Object.keys(record).length > 0 && Object.keys(record).every((key) => tool.properties.has(key))
  );
}

/** Arguments as an object, from an object, its JSON text, nothing, a list of one object or of `{name, value}` pairs. */
export function argumentRecord(value: unknown): Record<string, unknown> | null {
  if (isRecord(value)) return value;
  if (value === null || value === undefined) return {};
  if (typeof value === 'string') return recordOfText(value);
  return Array.isArray(value) ? recordOfList(value) : null;
}

function recordOfText(text: string): Record<string, unknown> | null {
  const once = text.trim() === '' ? {} : valueOfText(text);
  // Encoded twice over.
  const inner = typeof once === 'string' ? valueOfText(once) : once;
  return isRecord(inner) ? inner : null;
}

function recordOfList(list: readonly unknown[]): Record<string, unknown> | null {
  const result: Record<string, unknown> = {};
  if (list.length === 1 && isRecord(list[0]) && !isPair(list[0])) return list[0];
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
function callOfKeyedRecord(record: Record<string, unknown>, context: ValueContext): WrittenCall[] | null {
  const calls: WrittenCall[] = [];
  for (const [written, value] of Object.entries(record)) {
    const tool = context.catalog.resolve(written);
    if (!tool || !isRecord(value)) return null;
    const fits = Object.keys(value).every((key) => tool.properties.has(key));
    if (!fits || (context.strict && tool.properties.size === 0)) return null;
    calls.push({ written, tool, arguments: value });
  }
  return calls.length > 0 ? calls : null;
}
