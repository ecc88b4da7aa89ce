// Owns what an ask is asked, as plain JSON (RunRow.request): with the source bytes and the replies everything of the run follows from it.
// Invariant: no path of a machine, no time; every limit has a value here, so that a later default changes no old run; what is read back can be
// executed within the limits of an ask that was typed.
import { z } from 'zod';
import { TalariaError } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import { USUAL_WINDOW } from '../call/call-limits.ts';
import { callBudget } from '../call/call-record.ts';
import type { ReplLimits } from '../repl/repl-session.ts';

export const ASK_REQUEST_VERSION = 'talaria.rlm.ask_request.v2';

/** What may be typed. A prompt for a smaller window holds neither the API nor a step. */
export const LEAST_WINDOW = 6_144;
export const ASK_RANGES = {
  max_steps: [1, 100],
  depth: [1, 5],
  concurrency: [1, 32],
  window_tokens: [LEAST_WINDOW, 2_000_000],
} as const;

export const DEFAULT_ASK_LIMITS = {
  max_steps: 12,
  depth: 5,
  concurrency: 4,
  window_tokens: USUAL_WINDOW,
  max_calls: 100,
};

const text = z.string();
const count = (least: number, most: number) => z.int().min(least).max(most);

const schema = z.object({
  schema_version: z.literal(ASK_REQUEST_VERSION),
  question: text,
  /** Code blocks that the root may run before it must answer. */
  max_steps: count(...ASK_RANGES.max_steps),
  /** Levels of REPLs in one another, this one counted; at the deepest `rlmQuery` is a plain call. */
  depth: count(...ASK_RANGES.depth),
  /** Sub-calls that are under way at once. */
  concurrency: count(...ASK_RANGES.concurrency),
  /** Of the smallest model that answers: no prompt with its reply is longer. */
  window_tokens: count(1, 2_000_000),
  /** In the order in which they are asked; empty: the default. */
  families: z.array(text).readonly(),
  /** Families that the code may name for a sub-call. */
  models: z.array(text).readonly(),
  /** A model may be asked whether cited lines carry a sentence. */
  judge: z.boolean(),
  /** Only what is quoted counts. */
  strict: z.boolean(),
  budget: callBudget,
  /** More than any that this version writes. */
  repl: z.object({
    memory_bytes: count(1, 256 * 1024 * 1024),
    block_ms: count(1, 120_000),
    output_chars: count(0, 100_000),
    sub_calls: count(0, 10_000),
  }),
  /** Files of the context that were found and are not in it. */
  skipped: z.array(z.object({ path: text, reason: text })).readonly(),
  /** The context is a text that the trace keeps, and no file. */
  text_hash: text.exactOptional(),
});

export type AskRequest = Readonly<z.infer<typeof schema>>;

/** Throws TalariaError `run-unreadable` (another version) | `run-request-invalid`, with the place. */
export function readAskRequest(run_id: string, stored: JsonObject): AskRequest {
  if (stored.schema_version !== ASK_REQUEST_VERSION)
    throw new TalariaError(`The run ${run_id} was asked by another version.`, { code: 'run-unreadable' });
  const read = schema.safeParse(stored);
  if (read.success) return read.data;
  throw new TalariaError(`The request of the run cannot be read: ${z.prettifyError(read.error)}`, {
    code: 'run-request-invalid',
  });
}

const BLOCK_MS = 30_000;

/** Printed output takes a sixth of the window at most; no block computes longer than the run may take. */
export function replLimits(window_tokens: number, sub_calls: number, max_ms = BLOCK_MS): ReplLimits {
  const output_chars = Math.min(20_000, Math.floor((window_tokens * CHARS_A_TOKEN) / 6));
  const block_ms = Math.max(1, Math.ceil(Math.min(BLOCK_MS, max_ms)));
  return { memory_bytes: 64 * 1024 * 1024, block_ms, output_chars, sub_calls };
}

/** On the safe side: code and JSON have fewer characters a token than prose. */
const CHARS_A_TOKEN = 3;

/** Tokens of one reply. */
export function replyTokens(window_tokens: number): number {
  return Math.max(512, Math.min(4_096, Math.floor(window_tokens / 6)));
}

/** Characters that system prompt and prompt together may have. */
export function promptChars(window_tokens: number): number {
  return (window_tokens - replyTokens(window_tokens)) * CHARS_A_TOKEN;
}

/** Calls that are left for the judge whatever happens; of fewer than four none is spared. */
export function keptForJudge({ judge, budget }: Pick<AskRequest, 'judge' | 'budget'>): number {
  return judge && (budget.max_calls ?? LEAST_CALLS) >= LEAST_CALLS ? 1 : 0;
}

const LEAST_CALLS = 4;
