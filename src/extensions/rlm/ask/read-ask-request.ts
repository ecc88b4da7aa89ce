// Owns reading the stored request of an ask back: of our own store, or of a file that somebody sent. Invariant: what passes can be executed
// within the limits of an ask that was typed; another version is `run-unreadable`, anything else `run-request-invalid`, with the place.
import { z } from 'zod';
import { TalariaError } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import { ASK_REQUEST_VERSION, type AskRequest, MOST_REPL } from './ask-request.ts';

const text = z.string();
const count = (least: number, most: number) => z.int().min(least).max(most);
const above = z.number().positive();

const schema = z.object({
  schema_version: z.literal(ASK_REQUEST_VERSION),
  question: text,
  max_steps: count(1, 100),
  depth: count(1, 5),
  concurrency: count(1, 32),
  window_tokens: count(1, 2_000_000),
  families: z.array(text),
  models: z.array(text),
  judge: z.boolean(),
  strict: z.boolean(),
  budget: z.object({
    max_calls: above.exactOptional(),
    max_tokens: above.exactOptional(),
    max_cost: above.exactOptional(),
    max_ms: above.exactOptional(),
  }),
  repl: z.object({
    memory_bytes: count(1, MOST_REPL.memory_bytes),
    block_ms: count(1, MOST_REPL.block_ms),
    output_chars: count(0, MOST_REPL.output_chars),
    sub_calls: count(0, MOST_REPL.sub_calls),
  }),
  skipped: z.array(z.object({ path: text, reason: text })),
  text_hash: text.exactOptional(),
});

/** Throws TalariaError `run-unreadable` | `run-request-invalid`. */
export function readAskRequest(run_id: string, stored: JsonObject): AskRequest {
  if (stored.schema_version !== ASK_REQUEST_VERSION)
    throw new TalariaError(`The run ${run_id} was asked by another version.`, { code: 'run-unreadable' });
  const read = schema.safeParse(stored);
  if (read.success) return read.data;
  throw new TalariaError(`The request of the run cannot be read: ${z.prettifyError(read.error)}`, {
    code: 'run-request-invalid',
  });
}
