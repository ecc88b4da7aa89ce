// Owns public list prices as data. Knows no provider; models that are not here have an unknown price, never zero.
// Invariant: first matching row wins; rows are US dollars per million tokens, as published in `PRICES_AS_OF`.

export const PRICES_AS_OF = '2026-10';

export interface Price {
  /** Prompt tokens that came from no cache. */
  readonly input: number;
  /** Prompt tokens read from a cache; default `input`. */
  readonly cached?: number;
  /** Prompt tokens written to a cache that lives five minutes; default `input`. An hour costs 1.6 times as much. */
  readonly cacheWrite?: number;
  readonly output: number;
}

export interface PriceRow extends Price {
  /** Matched against the model id without its provider, lower case. */
  readonly pattern: RegExp;
}

/** Anthropic: reading costs `hit` of the input price, writing for five minutes 1.25 of it. */
function claude(pattern: RegExp, input: number, output: number, hit = 0.1): PriceRow {
  return { pattern, input, output, cached: input * hit, cacheWrite: input * 1.25 };
}

export const PRICE_TABLE: readonly PriceRow[] = [
  claude(/^claude-(?:fable|mythos)-5[-.]1/, 10, 50, 0.025),
  claude(/^claude-(?:fable|mythos)-5/, 10, 50),
  claude(/^claude-opus-5[-.]5/, 4, 20, 0.05),
  claude(/^claude-opus-(?:5|4[-.][5-8])/, 5, 25),
  claude(/^claude-(?:opus-4|3-opus)/, 15, 75),
  claude(/^claude-sonnet-5[-.]5/, 2, 10, 0.05),
  claude(/^claude-sonnet-5/, 2, 10),
  claude(/^claude-(?:sonnet-4|3[-.][57]-sonnet)/, 3, 15),
  claude(/^claude-haiku-4[-.]5/, 1, 5),
  claude(/^claude-3[-.]5-haiku/, 0.8, 4),
  claude(/^claude-3-haiku/, 0.25, 1.25),
  { pattern: /^gpt-5\.4(?:-\d{4}.*)?$/, input: 2.5, cached: 0.25, output: 15 },
  { pattern: /^gpt-5\.2(?:-codex|-chat.*|-\d{4}.*)?$/, input: 1.75, cached: 0.175, output: 14 },
  { pattern: /^gpt-5\.2-pro/, input: 21, output: 168 },
  { pattern: /^gpt-5(?:\.1)?(?:-codex|-chat.*|-\d{4}.*)?$/, input: 1.25, cached: 0.125, output: 10 },
  { pattern: /^gpt-5-mini/, input: 0.25, cached: 0.025, output: 2 },
  { pattern: /^gpt-5-nano/, input: 0.05, cached: 0.005, output: 0.4 },
  { pattern: /^gpt-4\.1-mini/, input: 0.4, cached: 0.1, output: 1.6 },
  { pattern: /^gpt-4\.1-nano/, input: 0.1, cached: 0.025, output: 0.4 },
  { pattern: /^gpt-4\.1/, input: 2, cached: 0.5, output: 8 },
  { pattern: /^gpt-4o-mini/, input: 0.15, cached: 0.075, output: 0.6 },
  { pattern: /^gpt-4o(?:-\d{4}.*)?$/, input: 2.5, cached: 1.25, output: 10 },
  { pattern: /^o4-mini(?:-\d{4}.*)?$/, input: 1.1, cached: 0.275, output: 4.4 },
  { pattern: /^o3-mini/, input: 1.1, cached: 0.55, output: 4.4 },
  { pattern: /^o3(?:-\d{4}.*)?$/, input: 2, cached: 0.5, output: 8 },
  { pattern: /^gemini-2\.5-pro/, input: 1.25, cached: 0.125, output: 10 },
  { pattern: /^gemini-2\.5-flash-lite/, input: 0.1, cached: 0.01, output: 0.4 },
  { pattern: /^gemini-2\.5-flash(?!-(?:image|live|native))/, input: 0.3, cached: 0.03, output: 2.5 },
  { pattern: /^deepseek-(?:chat|reasoner)$/, input: 0.28, cached: 0.028, output: 0.42 },
  { pattern: /^grok-4(?:-\d{4})?$/, input: 3, cached: 0.75, output: 15 },
  { pattern: /^grok-code-fast-1/, input: 0.2, cached: 0.02, output: 1.5 },
];
