// Owns what a run is asked, as plain JSON (RunRow.request): with the texts that it names by hash and the replies, everything of the run follows from
// it; no file is read again. Invariant: what is read back, of our own store or of a file that somebody sent, can be executed. Seed 003: the outer
// scaffold owns limits, ambiguity, scheduling.
import { z } from 'zod';
import { TalariaError } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import { callBudget } from '../call/call-record.ts';
import { MEMORY_KINDS, MEMORY_MODES, MEMORY_TASKS, RECOMMENDATIONS } from '../memory/memory-record.ts';

export const RUN_REQUEST_VERSION = 'talaria.rlm.run_request.v1';

const text = z.string();
const whole = z.int().min(0);
const families = z.array(text).readonly();

/** One selected chunk. The text lies in the trace under `text_hash`. */
const chunk = z.object({
  chunk_id: text.min(1),
  /** Null: the target is a text and no file. */
  source_path: text.nullable(),
  start_line: z.int().min(1),
  end_line: z.int().min(1),
  start_byte: whole,
  end_byte: whole,
  core_start_byte: whole,
  truncated: z.boolean(),
  token_estimate: whole,
  /** The source holds bytes here that are no text. */
  lossy: z.boolean(),
  /** `sha256:` and hex of the decoded text. */
  text_hash: text,
});

export type RequestChunk = Readonly<z.infer<typeof chunk>>;

/** A file that was found and not read at all. */
const skippedFile = z.object({
  path: text,
  reason: z.enum(['binary', 'empty', 'unreadable', 'too_large', 'not_a_file', 'secret']),
});

export type SkippedFile = Readonly<z.infer<typeof skippedFile>>;

const prior = z.object({
  kind: z.enum(MEMORY_KINDS),
  task: z.enum(MEMORY_TASKS),
  recommendation: z.enum(RECOMMENDATIONS),
  family_id: text.nullable(),
  fixture_category: text.nullable(),
  confidence: z.number(),
});

const memory = z.object({
  mode: z.enum(MEMORY_MODES),
  /** Recalled before the run, for the family that is asked first. */
  priors: z.array(prior).readonly(),
  fixture_category: text.nullable(),
});

export type RunMemory = Readonly<z.infer<typeof memory>>;

const ambiguity = z.object({
  passed: z.boolean(),
  ambiguity_score: z.number().min(0).max(1),
  ambiguity_threshold: z.number().min(0).max(0.2),
  /** 0..1, by a model that was asked for one. */
  model_rating: z.number().nullable(),
  /** Why the owner goes on; null unless the run would have been stopped. */
  override: text.nullable(),
  /** What to ask back; null when the run goes on. */
  question: text.nullable(),
});

export type AmbiguityVerdict = Readonly<z.infer<typeof ambiguity>>;

const schema = z.object({
  schema_version: z.literal(RUN_REQUEST_VERSION),
  question: text,
  target: text,
  target_kind: z.enum(['path', 'prompt']),
  limits: z
    .object({
      max_depth: whole.max(5),
      max_iterations: z.int().min(1),
      max_in_flight: z.int().min(1),
      max_retries: whole,
    })
    .readonly(),
  /** Children that one synthesis puts together at most, unless the depth leaves no room for levels. */
  fan_out: z.int().min(2),
  /** Of one reply. */
  max_output_tokens: z.int().min(1),
  /** Characters of facts in the prompt of one synthesis; what goes beyond is named as a gap. */
  facts_chars: whole,
  chunks: z.array(chunk.readonly()).min(1).readonly(),
  /** Everything of the target that is not read; a stretch of one file is one entry when it is long. */
  omitted: z.array(z.object({ chunk_id: text, reason: z.literal('max_chunks') }).readonly()).readonly(),
  boundaries: z
    .array(z.object({ source_path: text, last_retained_line: whole, omitted_line_count: whole }).readonly())
    .readonly(),
  skipped: z.array(skippedFile.readonly()).readonly(),
  ambiguity,
  guard_mode: z.enum(['strict', 'v1']),
  memory,
  /** In the order in which they are asked; empty: the default. */
  families: z.object({ children: families, synthesis: families }),
  decompose: z.boolean(),
  budget: callBudget,
});

export type RunRequest = Readonly<z.infer<typeof schema>>;
export type FamilyOrder = RunRequest['families'];

/** Throws TalariaError `run-request-invalid`, with the place. */
export function readRunRequest(stored: JsonObject): RunRequest {
  const read = schema.safeParse(stored);
  if (read.success) return read.data;
  throw new TalariaError(`The request of the run cannot be read: ${z.prettifyError(read.error)}`, {
    code: 'run-request-invalid',
  });
}
