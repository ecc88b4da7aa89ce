// Owns what a request says of the tools of this room (name, words, schema), and how much of their output is kept or shown, in memory as well as in
// text: the loop's own caps stand above these. Knows no tool's work.
// Invariant: a start makes these and loads nothing behind them (`core-tools.ts`).
import { z } from 'zod';
import { isJsonObject, type JsonValue, parseJson } from '#base/json.ts';
import type { ToolCard } from '#core/agent/tool.ts';

export const OUTPUT_LIMITS = {
  /** Lines and characters of one read_file call, characters of one line. */
  readLines: 2_000,
  readChars: 100_000,
  readLineChars: 2_000,
  /** Bytes of a command's output that stay in the result; the rest is in the spill file. */
  terminalHeadBytes: 16_000,
  terminalTailBytes: 34_000,
  /** Characters of a command's output that the surface gets while it runs. */
  liveChars: 200_000,
  /** A command that prints more than this is ended: a disk must not fill up. */
  terminalMaxBytes: 1024 ** 3,
  /** Bytes of a background job's output that are kept in memory. */
  jobBytes: 32_000,
  /** Bytes of a page that are fetched, and characters of its text. */
  pageBytes: 5_000_000,
  pageChars: 30_000,
} as const;

function card<Input>(one: ToolCard<Input>): ToolCard<Input> {
  return one;
}

const path = z.string().min(1);

export const READ_FILE = card({
  name: 'read_file',
  description: 'Read a text file.',
  input: lenientInput({
    path,
    offset: z.int().min(1).optional().describe('first line, from 1'),
    limit: z.int().min(1).optional(),
  }),
  toolset: 'file',
  effect: 'read',
  outputLimit: OUTPUT_LIMITS.readChars + 2_000,
});

export const WRITE_FILE = card({
  name: 'write_file',
  description: 'Write a whole file; makes folders.',
  input: lenientInput({ path, content: z.string() }),
  toolset: 'file',
  effect: 'write',
});

export const PATCH = card({
  name: 'patch',
  description: 'Replace text in a file.',
  input: lenientInput({
    path,
    old_string: z.string().describe('exact text, unique in the file'),
    new_string: z.string(),
    replace_all: z.boolean().optional().meta({ hidden: true }),
  }),
  toolset: 'file',
  effect: 'write',
});

export const SEARCH_FILES = card({
  name: 'search_files',
  description: 'Search file contents, or find files by name.',
  input: lenientInput({
    pattern: z.string().min(1).describe('regex; for files a glob'),
    target: z.enum(['content', 'files']).optional(),
    path: path.optional(),
    file_glob: z.string().min(1).optional(),
    limit: z.int().min(1).optional(),
    offset: z.int().min(0).optional().meta({ hidden: true }),
    context: z.int().min(0).optional(),
    output_mode: z.enum(['content', 'files', 'count']).optional(),
  }),
  toolset: 'file',
  effect: 'read',
});

/** Seconds that a command may take. */
export const TIMEOUT = { usual: 180, most: 600 } as const;

export const TERMINAL = card({
  name: 'terminal',
  description: 'Run bash; each call starts in the working folder. background for servers, then process.',
  input: lenientInput({
    command: z.string().min(1),
    timeout: z.number().positive().optional().describe(`seconds, max ${TIMEOUT.most}`),
    background: z.boolean().optional(),
    workdir: z.string().min(1).optional(),
  }),
  toolset: 'terminal',
  effect: 'write',
  outputLimit: OUTPUT_LIMITS.terminalHeadBytes + OUTPUT_LIMITS.terminalTailBytes + 2_000,
});

export const PROCESS = card({
  name: 'process',
  description: 'Look after background commands.',
  input: lenientInput({ action: z.enum(['list', 'log', 'wait', 'kill']), id: z.string().optional() }),
  toolset: 'terminal',
  effect: 'write',
});

const STATUSES = ['pending', 'in_progress', 'completed', 'cancelled'] as const;
const todoItem = z.object({
  id: z.preprocess((value) => (typeof value === 'number' ? String(value) : value), z.string()).optional(),
  content: z.string().min(1).max(500).optional(),
  status: z.enum(STATUSES).optional(),
});

export const TODO = card({
  name: 'todo',
  description: 'Task list for longer work.',
  input: lenientInput({
    todos: z.array(todoItem).max(100).optional(),
    merge: z.boolean().describe('by id; else replaces all').optional(),
  }),
  toolset: 'todo',
  effect: 'write',
});

export const CLARIFY = card({
  name: 'clarify',
  description: 'Ask the user when a decision is theirs.',
  input: lenientInput({ question: z.string().min(1), choices: z.array(z.string().min(1)).max(9).optional() }),
  toolset: 'clarify',
  effect: 'write',
});

export const WEB_FETCH = card({
  name: 'web_fetch',
  description: 'Fetch a web page as text.',
  input: lenientInput({ url: z.string().min(1) }),
  toolset: 'web',
  effect: 'read',
});

export const WEB_SEARCH = card({
  name: 'web_search',
  description: 'Search the web: titles, addresses and excerpts.',
  input: lenientInput({ query: z.string().trim().min(1).max(1_000), limit: z.int().min(1).max(10).optional() }),
  toolset: 'web',
  effect: 'read',
  defer: 'rare',
});

// The border between what models send and what tools take: harmless slips are mended, everything else stays an error. Invariant: a value
// of the right type is never changed; a wrong one is changed only when there is one way to read it.

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
