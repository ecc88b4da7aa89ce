// Owns reading an exported run back. Invariant: what is handed on has the shapes of a record; whether it holds together is for verify.
import { z } from 'zod';
import { isJsonObject, type JsonValue } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { issueText } from '#base/schema-issue.ts';
import { RUN_STATES } from '../../tree/run-state.ts';
import type { RunRecord } from '../run-record.ts';
import { EXPORT_VERSION } from './export-run.ts';
import type { PackedContext } from './packed-context.ts';

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
  state: z.enum([...RUN_STATES.slice(-3), 'running']),
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
    return refuse(
      'not-an-export',
      `${issue?.path.join('.') ?? ''}: ${issue ? issueText(issue) : 'not an exported run'}`,
    );
  }
  const { row, events, calls, texts: kept, context = null } = read.data;
  const record = { row, events, calls, textOf: (hash: string) => (Object.hasOwn(kept, hash) ? kept[hash] : undefined) };
  return ok({ record: record as unknown as RunRecord, context });
}
