// Owns the shares of a context window: when it is compressed and what each piece may take then. Pure. Seed 001 chapter 14.
// Invariant: what a compression leaves is well under what starts one, at any window from 8K tokens up.

/** All in tokens. */
export interface CompressionBudget {
  /** Prompt and messages of this size are compressed before a turn. */
  readonly soft: number;
  /** Of this size they are compressed in mid-turn, and with whatever is at hand. */
  readonly hard: number;
  readonly head: number;
  readonly tail: number;
  readonly summary: number;
}

export interface WindowFacts {
  readonly contextWindow: number;
  readonly promptTokens: number;
  /** Share of the window. */
  readonly threshold: number;
}

export const DEFAULT_THRESHOLD = 0.5;
const HARD_SHARE = 0.85;
/** Under this the prompt may take two fifths, so the threshold is a share of what it leaves. */
const SMALL_WINDOW = 32_768;
/** Of what the prompt leaves, at least so much belongs to the messages. */
const MESSAGES_SHARE = 0.25;
const TAIL_TOKENS = 20_000;
const TAIL_SHARE = 0.2;
const HEAD_SHARE = 0.25;
const SMALL_HEAD_SHARE = 0.12;
const SUMMARY_SHARE = 0.08;
const SUMMARY_TOKENS = { least: 500, most: 8_000 };

export function compressionBudget({ contextWindow, promptTokens, threshold }: WindowFacts): CompressionBudget {
  const small = contextWindow < SMALL_WINDOW;
  const left = Math.max(0, contextWindow - promptTokens);
  const soft = small
    ? promptTokens + left * threshold
    : Math.max(contextWindow * threshold, promptTokens + left * MESSAGES_SHARE);
  const hard = contextWindow * HARD_SHARE;
  const share = Math.floor(contextWindow * SUMMARY_SHARE);
  return {
    soft: Math.floor(Math.min(soft, hard)),
    hard: Math.floor(hard),
    head: Math.floor(contextWindow * (small ? SMALL_HEAD_SHARE : HEAD_SHARE)),
    tail: Math.floor(Math.min(TAIL_TOKENS, contextWindow * TAIL_SHARE)),
    summary: Math.min(SUMMARY_TOKENS.most, Math.max(SUMMARY_TOKENS.least, share)),
  };
}
