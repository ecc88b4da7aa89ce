// Owns toolsets as data: named groups of tools that may include other groups, and how names resolve to tool names.
// Knows no tool object. Invariant: resolving ends for any data; a circle and an unknown name are refusals that name their way.
import { ok, type Refusal, type Result, refuse } from '#base/result.ts';

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
  web: { about: 'fetch pages from the web', tools: ['web_fetch'] },
  curator: { about: 'look at recorded calls and failures of skills', tools: ['curator_evidence_report'] },
  rlm: { about: 'ask about material too long to read', tools: ['recursive_read'] },
  default: {
    about: 'what a session starts with',
    includes: ['terminal', 'file', 'memory', 'session_search', 'skills', 'todo', 'clarify'],
  },
  'read-only': {
    about: 'look, but change nothing',
    tools: ['read_file', 'search_files'],
    includes: ['session_search'],
  },
  all: { about: 'everything', includes: ['default', 'web', 'curator', 'rlm'] },
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
