// Owns the set of tools of one program: names, availability, toolsets as data, and what a request says about each tool. Tools come from the
// rooms whose data they touch. Knows no tool by name. Invariants: one name is one tool; the same registration and toolsets select the same list
// in the same order; resolving toolsets ends for any data; nothing that only restates a default is sent (every request pays for it).
// Serves seed 001 ch 4 (the tool registry).

import { z } from 'zod';
import { TalariaError } from '#base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { madeOf } from '#base/late-schema.ts';
import { ok, type Refusal, type Result, refuse } from '#base/result.ts';
import type { AnyTool } from '#core/agent/tool.ts';

export interface ToolSelection {
  /** Sorted by name: the bytes of a prompt must not depend on the order of registration. */
  readonly tools: readonly AnyTool[];
  /** What a request says about them, in the same order. */
  readonly schemas: readonly FunctionSchema[];
  /** Registered tools of the toolsets that cannot be used here, each with what would mend it. */
  readonly unavailable: readonly { readonly name: string; readonly reason: string }[];
}

export type ToolRegistry = ReturnType<typeof createToolRegistry>;

export function createToolRegistry(base: Readonly<Record<string, Toolset>> = TOOLSETS, kept?: KeptSchemas) {
  const tools = new Map<string, AnyTool>();
  let table = base;
  const withOwn = () => withOwnToolsets(table, tools.values());
  return {
    /** Throws TalariaError `tool-name-taken` or `tool-name-invalid`: both are mistakes of a program, not of a user. */
    register(tool: AnyTool): void {
      const wrong = `${JSON.stringify(tool.name)} cannot be the name of a tool: providers take letters, digits, _ and -`;
      if (!/^[a-zA-Z_][\w-]{0,63}$/.test(tool.name)) throw new TalariaError(wrong, { code: 'tool-name-invalid' });
      if (tools.has(tool.name))
        throw new TalariaError(`two tools are named ${tool.name}`, {
          code: 'tool-name-taken',
          fix: 'Rename one of them, or switch one of the extensions off.',
        });
      tools.set(tool.name, tool);
    },
    get: (name: string): AnyTool | undefined => tools.get(name),
    /** All tools, sorted by name. */
    list: () => sortByName([...tools.values()]),
    /** Names of the toolsets that `select` takes, with what they are for. */
    toolsets: withOwn,
    /** Adds or replaces toolsets (configuration, extensions). Refuses data that has a circle or an unknown name. */
    addToolsets(extra: Readonly<Record<string, Toolset>>): Result<true, ToolsetRefusal> {
      const next = { ...table, ...extra };
      const resolved = resolveToolsets(Object.keys(extra), withOwnToolsets(next, tools.values()));
      if (!resolved.ok) return resolved;
      table = next;
      return ok(true);
    },
    /** Tools of the toolsets, and those given. Names of tools that are not registered are left out: their room is not there. */
    select(names: readonly string[], given: readonly AnyTool[] = []): Result<ToolSelection, ToolsetRefusal> {
      const resolved = resolveToolsets(names, withOwn());
      if (!resolved.ok) return resolved;
      const named = resolved.value.flatMap((name) => tools.get(name) ?? []);
      return ok(checkAvailability([...named, ...given], kept));
    },
  };
}

/** Every registered tool belongs to the toolset that it names, whether or not the table lists it. */
function withOwnToolsets(
  table: Readonly<Record<string, Toolset>>,
  tools: Iterable<AnyTool>,
): Readonly<Record<string, Toolset>> {
  const out: Record<string, Toolset> = { ...table };
  for (const tool of tools) {
    const set = out[tool.toolset] ?? { about: `tools of ${tool.toolset}` };
    if (set.tools?.includes(tool.name)) continue;
    out[tool.toolset] = { ...set, tools: [...(set.tools ?? []), tool.name] };
  }
  return out;
}

function checkAvailability(tools: readonly AnyTool[], kept?: KeptSchemas): ToolSelection {
  const usable: AnyTool[] = [];
  const unavailable: { readonly name: string; readonly reason: string }[] = [];
  for (const tool of sortByName(tools)) {
    const verdict = tool.available?.() ?? ok(true);
    if (verdict.ok) usable.push(tool);
    else unavailable.push({ name: tool.name, reason: verdict.detail });
  }
  return { tools: usable, schemas: usable.map((tool) => functionSchema(tool, kept)), unavailable };
}

function sortByName(tools: readonly AnyTool[]): readonly AnyTool[] {
  return [...tools].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What a request says about one tool: an OpenAI function schema without its wrapper. */
export interface FunctionSchema {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

const cache = new WeakMap<AnyTool, FunctionSchema>();
/** Some tools are made anew for each session, of one input. */
const parameters = new WeakMap<z.ZodType, JsonObject>();

/** Keeps JSON over the end of a program, by what it was made of. */
export interface KeptSchemas {
  get(key: string): JsonValue | undefined;
  set(key: string, value: JsonObject): void;
}

/** The same object for the same tool. */
export function functionSchema(tool: AnyTool, kept?: KeptSchemas): FunctionSchema {
  const known = cache.get(tool);
  if (known) return known;
  const schema: FunctionSchema = {
    name: tool.name,
    description: tool.description,
    parameters: tool.parameters ?? parametersOf(tool.input, kept),
  };
  cache.set(tool, schema);
  return schema;
}

function parametersOf(input: z.ZodType, kept?: KeptSchemas): JsonObject {
  const before = parameters.get(input);
  if (before) return before;
  const made = madeParameters(input, kept);
  parameters.set(input, made);
  return made;
}

function madeParameters(input: z.ZodType, kept?: KeptSchemas): JsonObject {
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
  ...'$schema ~standard additionalProperties default minLength maxLength maxItems minimum maximum'.split(' '),
  'exclusiveMinimum',
]);

function compactNode(node: JsonObject): JsonObject {
  const out: Record<string, JsonValue | undefined> = {};
  for (const [key, value] of Object.entries(node)) {
    if (value === undefined || NOISE.has(key)) continue;
    if (key === 'properties' && isJsonObject(value) && Object.keys(value).length === 0) continue;
    out[key] = key === 'properties' ? compactProperties(value) : compactValue(value);
  }
  return out;
}

/** Property names are the tool's own: none of them is noise. What is `hidden` is taken, and told by the result that calls for it. */
function compactProperties(value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value;
  const shown = Object.entries(value).filter(([, schema]) => !isJsonObject(schema) || schema.hidden !== true);
  return Object.fromEntries(shown.map(([name, schema]) => [name, compactValue(schema ?? {})]));
}

function compactValue(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(compactValue);
  return isJsonObject(value) ? compactNode(value) : value;
}

export interface Toolset {
  readonly about: string;
  readonly tools?: readonly string[];
  readonly includes?: readonly string[];
}

export type ToolsetRefusal = 'unknown-toolset' | 'toolset-circle';

/** The toolsets that come with the product. A tool's own `toolset` needs no row here: it always is a toolset by itself. */
export const TOOLSETS: Readonly<Record<string, Toolset>> = {
  terminal: { about: 'run commands', tools: ['terminal', 'process'] },
  file: { about: 'read, write, change and search files', tools: ['read_file', 'write_file', 'patch', 'search_files'] },
  memory: { about: 'keep facts about the user and the work', tools: ['memory'] },
  session_search: { about: 'search earlier conversations', tools: ['session_search'] },
  skills: { about: 'find, read and keep procedures', tools: ['skills_list', 'skill_view', 'skill_manage'] },
  todo: { about: 'keep a task list', tools: ['todo'] },
  clarify: { about: 'ask the user', tools: ['clarify'] },
  web: { about: 'fetch pages from the web, and search it', tools: ['web_fetch', 'web_search'] },
  curator: { about: 'look at recorded calls and failures of skills', tools: ['curator_evidence_report'] },
  rlm: { about: 'ask about material too long to read', tools: ['recursive_read'] },
  delegation: { about: 'give tasks to sub-agents', tools: ['delegate_task'] },
  mixture: { about: 'ask several models one question', tools: ['mixture_of_agents'] },
  schedule: { about: 'keep jobs that run at their times', tools: ['cronjob'] },
  default: {
    about: 'what a session starts with',
    includes: [
      ...['terminal', 'file', 'memory', 'session_search', 'skills', 'todo', 'clarify', 'delegation', 'schedule'],
    ],
  },
  guest: {
    about: 'what somebody who is not the owner starts with',
    tools: ['skills_list', 'skill_view'],
    includes: ['todo', 'clarify'],
  },
  'read-only': {
    about: 'look, but change nothing',
    tools: ['read_file', 'search_files'],
    includes: ['session_search'],
  },
  all: { about: 'everything', includes: ['default', 'web', 'curator', 'rlm', 'mixture'] },
};

/** Tool names of the toolsets, without repeats, in the order in which they are first met. */
export function resolveToolsets(
  names: readonly string[],
  table: Readonly<Record<string, Toolset>>,
): Result<readonly string[], ToolsetRefusal> {
  const tools = new Set<string>();
  const done = new Set<string>();
  for (const name of names) {
    const refused = collect(name, [], { table, tools, done });
    if (refused) return refused;
  }
  return ok([...tools]);
}

interface Collecting {
  readonly table: Readonly<Record<string, Toolset>>;
  readonly tools: Set<string>;
  /** Toolsets that are already in `tools`. */
  readonly done: Set<string>;
}

function collect(name: string, path: readonly string[], into: Collecting): Refusal<ToolsetRefusal> | undefined {
  if (path.includes(name)) {
    return refuse('toolset-circle', `the toolset ${name} includes itself: ${[...path, name].join(' → ')}`);
  }
  if (into.done.has(name)) return undefined;
  const toolset = Object.hasOwn(into.table, name) ? into.table[name] : undefined;
  if (!toolset) {
    const from = path.length > 0 ? ` (included by ${path.at(-1)})` : '';
    const known = Object.keys(into.table).sort().join(', ');
    return refuse('unknown-toolset', `there is no toolset named ${JSON.stringify(name)}${from}; toolsets: ${known}`);
  }
  for (const tool of toolset.tools ?? []) into.tools.add(tool);
  for (const inner of toolset.includes ?? []) {
    const refused = collect(inner, [...path, name], into);
    if (refused) return refused;
  }
  into.done.add(name);
  return undefined;
}
