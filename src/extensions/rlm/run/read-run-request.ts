// Owns reading a stored request back: of our own store, or of a file that somebody sent. Invariant: what passes can be executed; what does
// not is `run-request-invalid`, with the place.
import { z } from 'zod';
import { TalariaError } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import { MEMORY_MODES } from '../memory/memory-mode.ts';
import { MEMORY_KINDS, MEMORY_TASKS, RECOMMENDATIONS } from '../memory/memory-words.ts';
import { RUN_REQUEST_VERSION, type RunRequest } from './run-request.ts';

const text = z.string();
const whole = z.int().min(0);
const above = z.number().positive();

const chunk = z.object({
  chunk_id: text.min(1),
  source_path: text.nullable(),
  start_line: z.int().min(1),
  end_line: z.int().min(1),
  start_byte: whole,
  end_byte: whole,
  core_start_byte: whole,
  truncated: z.boolean(),
  token_estimate: whole,
  lossy: z.boolean(),
  text_hash: text,
});

const prior = z.object({
  kind: z.enum(MEMORY_KINDS),
  task: z.enum(MEMORY_TASKS),
  recommendation: z.enum(RECOMMENDATIONS),
  family_id: text.nullable(),
  fixture_category: text.nullable(),
  confidence: z.number(),
});

const schema = z.object({
  schema_version: z.literal(RUN_REQUEST_VERSION),
  question: text,
  target: text,
  target_kind: z.enum(['path', 'prompt']),
  limits: z.object({
    max_depth: whole.max(5),
    max_iterations: z.int().min(1),
    max_in_flight: z.int().min(1),
    max_retries: whole,
  }),
  fan_out: z.int().min(2),
  max_output_tokens: z.int().min(1),
  facts_chars: whole,
  chunks: z.array(chunk).min(1),
  omitted: z.array(z.object({ chunk_id: text, reason: z.enum(['max_chunks', 'max_bytes']) })),
  boundaries: z.array(z.object({ source_path: text, last_retained_line: whole, omitted_line_count: whole })),
  skipped: z.array(
    z.object({ path: text, reason: z.enum(['binary', 'empty', 'unreadable', 'too_large', 'not_a_file', 'secret']) }),
  ),
  ambiguity: z.object({
    passed: z.boolean(),
    ambiguity_score: z.number().min(0).max(1),
    ambiguity_threshold: z.number().min(0).max(0.2),
    model_rating: z.number().nullable(),
    override: text.nullable(),
    question: text.nullable(),
  }),
  guard_mode: z.enum(['strict', 'v1']),
  memory: z.object({ mode: z.enum(MEMORY_MODES), priors: z.array(prior), fixture_category: text.nullable() }),
  families: z.object({ children: z.array(text), synthesis: z.array(text) }),
  decompose: z.boolean(),
  budget: z.object({
    max_calls: above.exactOptional(),
    max_tokens: above.exactOptional(),
    max_cost: above.exactOptional(),
    max_ms: above.exactOptional(),
  }),
});

/** Throws TalariaError `run-request-invalid`. */
export function readRunRequest(stored: JsonObject): RunRequest {
  const read = schema.safeParse(stored);
  if (read.success) return read.data;
  throw new TalariaError(`The request of the run cannot be read: ${z.prettifyError(read.error)}`, {
    code: 'run-request-invalid',
  });
}
