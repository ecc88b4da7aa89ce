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
/** What a conversation can grow by, at least, until it is compressed again. */
const GROWTH_SHARE = 0.1;
const TAIL = { tokens: 20_000, share: 0.2, shareOfRest: 0.25 };
const HEAD_SHARE = { large: 0.25, small: 0.06 };
const SUMMARY = { share: 0.08, least: 500, most: 8_000 };

/** True: at most so many tokens are under what starts any compression, whatever the prompt takes. */
export function isSurelyRoom(
  tokens: number,
  { contextWindow, threshold }: Pick<WindowFacts, 'contextWindow' | 'threshold'>,
): boolean {
  return tokens < Math.floor(contextWindow * Math.min(threshold, HARD_SHARE));
}

export function compressionBudget({ contextWindow, promptTokens, threshold }: WindowFacts): CompressionBudget {
  const small = contextWindow < SMALL_WINDOW;
  const rest = Math.max(0, contextWindow - promptTokens);
  const hard = Math.floor(contextWindow * HARD_SHARE);
  const head = Math.floor(contextWindow * (small ? HEAD_SHARE.small : HEAD_SHARE.large));
  const tail = Math.floor(Math.min(TAIL.tokens, contextWindow * TAIL.share, rest * TAIL.shareOfRest));
  const summary = Math.min(SUMMARY.most, Math.max(SUMMARY.least, Math.floor(contextWindow * SUMMARY.share)));
  const kept = (small ? head : 0) + tail + summary + contextWindow * GROWTH_SHARE;
  const start = small ? promptTokens + rest * threshold : contextWindow * threshold;
  const soft = Math.floor(Math.min(hard, Math.max(start, promptTokens + kept)));
  return { soft, hard, head, tail, summary };
}
