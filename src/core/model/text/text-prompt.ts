// Owns the words that teach a model without tool calling how to call tools. Knows no parser and no provider.
// Invariant: the same tools give the same bytes; the last thing said is exactly how to call. Seed 001 chapter 3.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { ellipsize, oneLine } from '#base/text.ts';
import type { ToolSchema } from '../model-client.ts';
import { renderToolCall } from './text-history.ts';

export interface TextPromptOptions {
  /** Leaves out what the arguments mean: for small windows. */
  readonly brief?: boolean;
}

/** `system` with the tools appended; `system` alone when there are none. */
export function withToolPrompt(system: string, tools: readonly ToolSchema[], options: TextPromptOptions = {}): string {
  const [first] = tools;
  if (!first) return system;
  const list = tools.map((tool) => describeTool(tool, options.brief ?? false)).join('\n');
  const example = renderToolCall(first.name, exampleArguments(first.parameters));
  const section = [
    '# Tools',
    'You can use these tools. Arguments with ? may be left out.',
    list,
    '',
    'To use a tool, write one block exactly like this, with its arguments as JSON, then stop and wait:',
    example,
    `The next message will start with [Tool Result: ${first.name}] and hold what the tool printed.`,
    'Never write a tool result yourself. When no tool is needed, answer in plain text.',
  ].join('\n');
  return system === '' ? section : `${system}\n\n${section}`;
}

function describeTool(tool: ToolSchema, brief: boolean): string {
  const { properties, required } = readParameters(tool.parameters);
  const shown = properties.map(([name, schema]) => `${name}${required.has(name) ? '' : '?'}: ${typeName(schema, 0)}`);
  const line = `- ${tool.name}(${shown.join(', ')}): ${oneLine(tool.description)}`;
  if (brief) return ellipsize(line, 240);
  const notes = properties.flatMap(([name, schema]) => {
    const note = isJsonObject(schema) && typeof schema.description === 'string' ? oneLine(schema.description) : '';
    return note === '' ? [] : [`    ${name}: ${note}`];
  });
  return [line, ...notes].join('\n');
}

interface Parameters {
  readonly properties: readonly (readonly [name: string, schema: JsonValue | undefined])[];
  readonly required: ReadonlySet<string>;
}

function readParameters(parameters: JsonObject): Parameters {
  const properties = isJsonObject(parameters.properties) ? Object.entries(parameters.properties) : [];
  const required = Array.isArray(parameters.required) ? parameters.required.map(String) : [];
  return { properties, required: new Set(required) };
}

function typeName(schema: JsonValue | undefined, depth: number): string {
  if (!isJsonObject(schema)) return 'any';
  if (Array.isArray(schema.enum)) return schema.enum.map((value: JsonValue) => JSON.stringify(value)).join('|');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return choices.map((choice: JsonValue) => typeName(choice, depth)).join('|');
  if (schema.type === 'array') return `${typeName(schema.items, depth)}[]`;
  if (schema.type === 'object' && depth < 2) return objectName(schema, depth);
  return Array.isArray(schema.type) ? schema.type.join('|') : String(schema.type ?? 'any');
}

function objectName(schema: JsonObject, depth: number): string {
  const { properties, required } = readParameters(schema);
  if (properties.length === 0) return 'object';
  const inner = properties.map(
    ([name, value]) => `${name}${required.has(name) ? '' : '?'}: ${typeName(value, depth + 1)}`,
  );
  return `{${inner.join(', ')}}`;
}

/** The required arguments, or the first one, with stand-in values of their types. */
function exampleArguments(parameters: JsonObject): JsonObject {
  const { properties, required } = readParameters(parameters);
  const chosen = properties.filter(([name]) => required.has(name));
  return Object.fromEntries(
    (chosen.length > 0 ? chosen : properties.slice(0, 1)).map(([name, schema]) => [name, exampleValue(name, schema)]),
  );
}

function exampleValue(name: string, schema: JsonValue | undefined): JsonValue {
  if (!isJsonObject(schema)) return '...';
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum[0] as JsonValue;
  switch (schema.type) {
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return name === 'command' ? 'ls' : '...';
  }
}
