// Owns the set of tools of one program: names, toolsets, availability. Tools come from the rooms whose data they touch.
// Knows no tool by name. Invariant: one name is one tool; the same registration and toolsets select the same list in the same order.
// Serves seed 001 ch 4 (the tool registry).
import { TalariaError } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { AnyTool } from '#core/agent/tool.ts';
import { type FunctionSchema, type KeptSchemas, keptSchema } from './tool-schema.ts';
import { resolveToolsets, TOOLSETS, type Toolset, type ToolsetRefusal } from './toolsets.ts';

export interface ToolSelection {
  /** Sorted by name: the bytes of a prompt must not depend on the order of registration. */
  readonly tools: readonly AnyTool[];
  /** What a request says about them, in the same order. */
  readonly schemas: readonly FunctionSchema[];
  /** Registered tools of the toolsets that cannot be used here, each with what would mend it. */
  readonly unavailable: readonly { readonly name: string; readonly reason: string }[];
}

export interface ToolRegistry {
  /** Throws TalariaError `tool-name-taken` or `tool-name-invalid`: both are mistakes of a program, not of a user. */
  register(tool: AnyTool): void;
  get(name: string): AnyTool | undefined;
  /** All tools, sorted by name. */
  list(): readonly AnyTool[];
  /** Names of the toolsets that `select` takes, with what they are for. */
  toolsets(): Readonly<Record<string, Toolset>>;
  /** Adds or replaces toolsets (configuration, extensions). Refuses data that has a circle or an unknown name. */
  addToolsets(extra: Readonly<Record<string, Toolset>>): Result<true, ToolsetRefusal>;
  /** Tools of the toolsets. Names of tools that are not registered are left out: their room is not there. */
  select(toolsets: readonly string[]): Result<ToolSelection, ToolsetRefusal>;
}

export function createToolRegistry(
  base: Readonly<Record<string, Toolset>> = TOOLSETS,
  kept?: KeptSchemas,
): ToolRegistry {
  const tools = new Map<string, AnyTool>();
  let table = base;
  const withOwn = () => withOwnToolsets(table, tools.values());
  return {
    register(tool) {
      if (!/^[a-zA-Z_][\w-]{0,63}$/.test(tool.name)) {
        throw new TalariaError(
          `${JSON.stringify(tool.name)} cannot be the name of a tool: providers take letters, digits, _ and -`,
          {
            code: 'tool-name-invalid',
          },
        );
      }
      if (tools.has(tool.name)) {
        throw new TalariaError(`two tools are named ${tool.name}`, {
          code: 'tool-name-taken',
          fix: 'Rename one of them, or switch one of the extensions off.',
        });
      }
      tools.set(tool.name, tool);
    },
    get: (name) => tools.get(name),
    list: () => sortByName([...tools.values()]),
    toolsets: withOwn,
    addToolsets(extra) {
      const next = { ...table, ...extra };
      const resolved = resolveToolsets(Object.keys(extra), withOwnToolsets(next, tools.values()));
      if (!resolved.ok) return resolved;
      table = next;
      return ok(true);
    },
    select(names) {
      const resolved = resolveToolsets(names, withOwn());
      if (!resolved.ok) return refuse(resolved.reason, resolved.detail);
      return ok(
        checkAvailability(
          resolved.value.flatMap((name) => tools.get(name) ?? []),
          kept,
        ),
      );
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
  return { tools: usable, schemas: usable.map((tool) => keptSchema(tool, kept)), unavailable };
}

function sortByName(tools: readonly AnyTool[]): readonly AnyTool[] {
  return [...tools].sort((a, b) => (a.name < b.name ? -1 : 1));
}
