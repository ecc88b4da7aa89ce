// Owns what an ask is asked, as plain JSON (RunRow.request): with the source bytes and the replies everything of the run follows from it.
// Invariant: no path of a machine, no time; every limit has a value here, so that a later default changes no old run.
import type { CallBudget } from '../call/calls.ts';
import { USUAL_WINDOW } from '../call/default-window.ts';
import type { ReplLimits } from '../repl/repl-session.ts';

export const ASK_REQUEST_VERSION = 'talaria.rlm.ask_request.v2';

export interface SkippedSource {
  readonly path: string;
  readonly reason: string;
}

export interface AskRequest {
  readonly schema_version: typeof ASK_REQUEST_VERSION;
  readonly question: string;
  /** Code blocks that the root may run before it must answer. */
  readonly max_steps: number;
  /** Levels of REPLs in one another, this one counted; at the deepest `rlmQuery` is a plain call. */
  readonly depth: number;
  /** Sub-calls that are under way at once. */
  readonly concurrency: number;
  /** Of the smallest model that answers: no prompt with its reply is longer. */
  readonly window_tokens: number;
  /** In the order in which they are asked; empty: the default. */
  readonly families: readonly string[];
  /** Families that the code may name for a sub-call. */
  readonly models: readonly string[];
  /** A model may be asked whether cited lines carry a sentence. */
  readonly judge: boolean;
  /** Only what is quoted counts. */
  readonly strict: boolean;
  readonly budget: CallBudget;
  readonly repl: ReplLimits;
  /** Files of the context that were found and are not in it. */
  readonly skipped: readonly SkippedSource[];
  /** The context is a text that the trace keeps, and no file. */
  readonly text_hash?: string;
}

export interface AskLimits {
  readonly max_steps: number;
  readonly depth: number;
  readonly concurrency: number;
  readonly window_tokens: number;
  readonly max_calls: number;
}

export const DEFAULT_ASK_LIMITS: AskLimits = {
  max_steps: 12,
  depth: 5,
  concurrency: 4,
  window_tokens: USUAL_WINDOW,
  max_calls: 100,
};

/** A prompt for a smaller window holds neither the API nor a step. */
export const LEAST_WINDOW = 6_144;

/** What a stored request may ask of the sandbox; more than any that this version writes. */
export const MOST_REPL: ReplLimits = {
  memory_bytes: 256 * 1024 * 1024,
  block_ms: 120_000,
  output_chars: 100_000,
  sub_calls: 10_000,
};

const MEMORY_BYTES = 64 * 1024 * 1024;
const BLOCK_MS = 30_000;

/** Printed output takes a sixth of the window at most; no block computes longer than the run may take. */
export function replLimits(window_tokens: number, sub_calls: number, max_ms = BLOCK_MS): ReplLimits {
  const output_chars = Math.min(20_000, Math.floor((window_tokens * CHARS_A_TOKEN) / 6));
  const block_ms = Math.max(1, Math.ceil(Math.min(BLOCK_MS, max_ms)));
  return { memory_bytes: MEMORY_BYTES, block_ms, output_chars, sub_calls };
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
