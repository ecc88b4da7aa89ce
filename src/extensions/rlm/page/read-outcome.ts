// Owns telling what a stored outcome is before it is drawn: of a run, of an ask, or something that this version does not know.
// Invariant: what is handed on has the shape that the drawing relies on; a damaged or newer outcome is shown as it is, never thrown at.
import { z } from 'zod';
import type { JsonObject } from '#base/json.ts';
import type { AskOutcome } from '../ask/ask-outcome.ts';
import type { RunOutcome } from '../run/run-outcome.ts';

export type ReadOutcome =
  | { readonly kind: 'run'; readonly outcome: RunOutcome }
  | { readonly kind: 'ask'; readonly outcome: AskOutcome }
  | { readonly kind: 'other'; readonly outcome: JsonObject | null };

const texts = z.array(z.string());
const told = z.number().nullable();
const place = z.looseObject({
  source_path: z.string(),
  start_line: z.number(),
  end_line: z.number(),
  start_byte: z.number(),
  end_byte: z.number(),
});
const gaps = z.array(z.looseObject({ what: z.string(), why: z.string() }));
const totals = z.looseObject({ calls: z.number(), input_tokens: told, output_tokens: told, cost: told });
const claim = z.looseObject({
  fact_id: z.string().nullable(),
  chunk_id: z.string().nullable(),
  surface: z.string(),
  text: z.string(),
});
const rejected = z.array(z.looseObject({ reason: z.string(), claim, detail: z.string() }));
const repair = z.looseObject({
  failure_reason: z.string().nullable(),
  initial_accept: z.boolean(),
  repair_attempted: z.boolean(),
  repair_accept: z.boolean().nullable(),
  repair_strategy: z.string(),
  initial_rejection_reasons: texts,
  before_after_diff: z.array(z.looseObject({ path: z.string(), before: z.string(), after: z.string() })),
});
const node = z.looseObject({
  id: z.string(),
  parent_id: z.string().nullable(),
  depth: z.number(),
  state: z.string(),
  children_ids: texts,
  retries: z.number(),
});

const runOutcome = z.looseObject({
  schema_version: z.literal('talaria.rlm.run.v1'),
  question: z.string(),
  verdict: z.string(),
  run_state: z.string(),
  termination_reason: z.string(),
  detail: z.string().nullable(),
  summary: z.string().nullable(),
  claims: z.array(z.looseObject({ text: z.string(), fact_ids: texts })),
  refused: rejected,
  refused_facts: z.array(z.looseObject({ call_id: z.string(), text: z.string(), reason: z.string() })),
  evidence: z.array(
    z.looseObject({
      fact_id: z.string(),
      chunk_id: z.string(),
      text: z.string(),
      child_call_id: z.string(),
      place: place.nullable(),
    }),
  ),
  gaps,
  selected_chunk_ids: texts,
  omitted: z.array(z.looseObject({ chunk_id: z.string(), reason: z.string() })),
  boundaries: z.array(
    z.looseObject({ source_path: z.string(), last_retained_line: z.number(), omitted_line_count: z.number() }),
  ),
  repair: repair.nullable(),
  totals,
  sub_questions: z.array(z.looseObject({ ac_node_id: z.string(), question: z.string() })).optional(),
  tree: z.looseObject({ root_id: z.string(), nodes: z.record(z.string(), node) }),
});

const handle = z.union([
  z.looseObject({ kind: z.literal('span'), id: z.string(), place, quote: z.string() }),
  z.looseObject({ kind: z.literal('child'), id: z.string(), call_id: z.string(), text: z.string(), over: z.string() }),
  z.looseObject({
    kind: z.literal('computed'),
    id: z.string(),
    code: z.string(),
    code_hash: z.string(),
    inputs: texts,
    output: z.string(),
    output_hash: z.string(),
  }),
]);

const askOutcome = z.looseObject({
  schema_version: z.literal('talaria.rlm.ask.v2'),
  question: z.string(),
  verdict: z.string(),
  run_state: z.string(),
  detail: z.string().nullable(),
  sentences: z.array(
    z.looseObject({
      text: z.string(),
      handles: texts,
      grade: z.enum(['quoted', 'supported', 'not-supported', 'computed']),
      place: place.nullable(),
      why: z.string(),
      model: z.string(),
    }),
  ),
  handles: z.array(handle),
  gaps,
  bytes_read: z.number(),
  bytes_total: z.number(),
  steps: z.number(),
  totals,
});

export function readOutcome(outcome: JsonObject | null): ReadOutcome {
  if (runOutcome.safeParse(outcome).success) return { kind: 'run', outcome: outcome as unknown as RunOutcome };
  if (askOutcome.safeParse(outcome).success) return { kind: 'ask', outcome: outcome as unknown as AskOutcome };
  return { kind: 'other', outcome };
}
