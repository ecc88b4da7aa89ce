// Owns the one file that holds a whole run: row, events, calls with their texts, texts of what was read, and of an ask its context, packed by hash.
// Invariant: what is exported reads as the record that it came from, on a machine without the store; equal runs, equal bytes; what is read has the
// shapes of a record (whether it holds together is for verify); unpacking writes nothing outside its folder; what is packed is what the run read.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { z } from 'zod';
import { makeFolders } from '#base/atomic-write.ts';
import { errorCode, errorText } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { issueText } from '#base/schema-issue.ts';
import { namedTexts, type RunRecord, type RunRow, type SourceStamp } from './run-record.ts';

const EXPORT_VERSION = 'talaria.rlm.export.v1';

/** JSON with a last line end. `context`: of an ask. */
export function exportRun(record: RunRecord, context?: PackedContext): string {
  return `${canonicalJson(exportedRun(record, context))}\n`;
}

export function exportedRun(record: RunRecord, context?: PackedContext): JsonObject {
  const { row, events, calls } = record;
  const texts = [...namedTexts(record).keys()].flatMap((hash) => {
    const text = record.textOf(hash);
    return text === undefined ? [] : [[hash, text]];
  });
  const value = { row: { ...row, owner: null }, events, calls, texts: Object.fromEntries(texts) };
  const packed = context === undefined ? {} : { context };
  return { schema_version: EXPORT_VERSION, ...value, ...packed } as unknown as JsonObject;
}

const text = z.string();
const orNull = text.nullable();
const json = z.record(text, z.json());
const texts = z.array(text);

const row = z.object({
  run_id: text,
  kind: z.enum(['run', 'ask', 'vanilla']),
  request: json,
  root: text,
  sources: z.array(z.object({ path: text, bytes: z.number(), hash: text })),
  started_at: z.number(),
  ended_at: z.number().nullable(),
  state: z.enum(['completed', 'failed', 'cancelled', 'running']),
  outcome: json.nullable(),
  state_hash: orNull,
  owner: orNull,
});

const event = z.object({
  run_id: text,
  seq: z.int(),
  event_id: text,
  type: text,
  node_id: orNull,
  causal_parent_event_id: orNull,
  data: json,
  at: z.number(),
});

/** A record of a call, ours or one of the original's (26 fields). */
export const callShape = z.looseObject({
  schema_version: z.literal('rlm.trace.v1'),
  trace_id: text,
  subcall_id: text,
  parent_trace_id: orNull,
  causal_parent_event_id: orNull,
  call_id: text,
  parent_call_id: orNull,
  runtime: text,
  mode: text,
  generation_id: text,
  rlm_node_id: orNull,
  ac_node_id: orNull,
  depth: z.number(),
  selected_chunk_ids: texts,
  generated_child_ac_node_ids: texts,
  prompt: text,
  completion: orNull,
  prompt_hash: orNull,
  response_hash: orNull,
  success: z.boolean(),
  exit_code: z.number().nullable(),
  elapsed_ms: z.number(),
  adapter_error: z.json(),
});

const ownCall = callShape.extend({
  system_prompt: text,
  system_prompt_hash: text,
  usage: z.object({ input_tokens: z.number(), output_tokens: z.number() }).nullable(),
  cost: z.number().nullable(),
  started_at: z.number(),
});

const exported = z.object({
  schema_version: z.literal(EXPORT_VERSION),
  row,
  events: z.array(event),
  calls: z.array(ownCall),
  texts: z.record(text, text),
  context: z.record(text, z.base64()).optional(),
});

export function isExport(value: JsonValue): boolean {
  return isJsonObject(value) && value.schema_version === EXPORT_VERSION;
}

export interface ExportedRun {
  readonly record: RunRecord;
  /** Of an ask whose context was packed. */
  readonly context: PackedContext | null;
}

export function readExport(value: JsonValue): Result<ExportedRun, 'not-an-export'> {
  const read = exported.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    const what = issue ? issueText(issue) : 'not an exported run';
    return refuse('not-an-export', `${issue?.path.join('.') ?? ''}: ${what}`);
  }
  const { row, events, calls, texts: kept, context = null } = read.data;
  const record = { row, events, calls, textOf: (hash: string) => (Object.hasOwn(kept, hash) ? kept[hash] : undefined) };
  return ok({ record: record as unknown as RunRecord, context });
}

/** Hash → base64. */
export type PackedContext = Readonly<Record<string, string>>;

const LARGEST = 64 * 1024 * 1024;

export function packContext({ root, sources }: Pick<RunRow, 'root' | 'sources'>): Result<PackedContext, 'not-packed'> {
  const bytes = sources.reduce((sum, stamp) => sum + stamp.bytes, 0);
  if (bytes > LARGEST) return refuse('not-packed', `its context has more than ${LARGEST / 1024 / 1024} MB`);
  const packed: Record<string, string> = {};
  for (const stamp of sources) {
    const path = join(root, fileOf(stamp));
    try {
      if (statSync(path).size > LARGEST) return refuse('not-packed', `${path} is too large`);
      const content = readFileSync(path);
      if (`sha256:${sha256(content)}` !== stamp.hash) return refuse('not-packed', `${stamp.path} is not what it was`);
      packed[stamp.hash] = content.toString('base64');
    } catch (error) {
      return refuse('not-packed', errorText(error));
    }
  }
  return ok(packed);
}

/** The row as it stands over the unpacked context. What leads out of the folder, or is no path, is left out: opening it is refused then. */
export function unpackContext(row: RunRow, context: PackedContext, folder: string): RunRow {
  for (const stamp of row.sources) {
    const content = Object.hasOwn(context, stamp.hash) ? context[stamp.hash] : undefined;
    const path = join(folder, fileOf(stamp));
    if (content !== undefined && !relative(folder, path).startsWith('..'))
      writeUnlessNoPath(path, Buffer.from(content, 'base64'));
  }
  return { ...row, root: folder };
}

const NO_PATH = /^(?:EISDIR|ENOTDIR|EEXIST|ENAMETOOLONG|ERR_INVALID_ARG_VALUE)$/;

function writeUnlessNoPath(path: string, content: Buffer): void {
  try {
    makeFolders(dirname(path));
    writeFileSync(path, content, { mode: 0o600 });
  } catch (error) {
    if (!NO_PATH.test(errorCode(error) ?? '')) throw error;
  }
}

/** What was piped in is kept under its hash. */
function fileOf({ path, hash }: SourceStamp): string {
  return path === '-' ? `${hash.replace('sha256:', '')}.txt` : path;
}
