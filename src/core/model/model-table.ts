// Owns what is known of models by name: windows, who wants reasoning back. Knows no endpoint; an endpoint that tells more wins.
// Invariant: first match wins; an unknown model gets a cautious window.
import type { ModelTraits } from './model-client.ts';

/** Lower case, without provider and owner path, quantisation folder or `:tag`: `openrouter/Qwen/Qwen3-8B:free` → `qwen3-8b`. */
export function bareModelName(modelId: string): string {
  const last = modelId.slice(modelId.lastIndexOf('/') + 1).toLowerCase();
  const colon = last.indexOf(':');
  if (colon <= 0) return last;
  // Ollama's tag carries the size, which tells models of a family apart; `:free`, `:latest` and the like do not.
  const tag = last.slice(colon + 1);
  return /\d/.test(tag) ? `${last.slice(0, colon)}-${tag}` : last.slice(0, colon);
}

/** Does a key of the configuration mean this model? Exact id, id without provider, bare name, or a pattern with `*`. */
export function namesModel(key: string, modelId: string): boolean {
  const wanted = key.toLowerCase();
  const full = modelId.toLowerCase();
  const forms = [full, full.slice(full.indexOf('/') + 1), bareModelName(modelId)];
  if (!wanted.includes('*')) return forms.includes(wanted);
  const pieces = wanted.split('*');
  return forms.some((form) => matchesPieces(form, pieces));
}

function matchesPieces(text: string, pieces: readonly string[]): boolean {
  const first = pieces[0] ?? '';
  const last = pieces.at(-1) ?? '';
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return at <= text.length - last.length;
}

/** What the configuration or an endpoint's listing says of one model. */
export interface ModelOverrides {
  readonly contextWindow?: number;
  readonly toolCalling?: 'structured' | 'text';
  readonly cacheMarks?: boolean;
  readonly images?: boolean;
  readonly local?: boolean;
  readonly price?: Price;
  /** Send stored reasoning back as `reasoning_content`. */
  readonly replayReasoning?: boolean;
}

/** Unknown models: small enough for most servers of today, large enough for the whole prompt. */
const UNKNOWN_WINDOW = 32_768;
/** Unknown models on an own server: such servers often cut silently above this. */
const UNKNOWN_LOCAL_WINDOW = 8_192;

const WINDOWS: readonly (readonly [pattern: RegExp, tokens: number])[] = [
  [/^claude-(?:fable|mythos|opus|sonnet|haiku)-5|^claude-opus-4[-.][78]/, 1_000_000],
  [/^claude/, 200_000],
  [/^gpt-5\.[4-9]/, 1_050_000],
  [/^gpt-5-chat|^chatgpt-4o/, 128_000],
  [/^gpt-5/, 400_000],
  [/^gpt-4\.1/, 1_047_576],
  [/^gpt-4o|^gpt-4-turbo|^gpt-4-1106|^o1-(?:mini|preview)/, 128_000],
  [/^gpt-oss/, 131_072],
  [/^gpt-4-32k/, 32_768],
  [/^gpt-4/, 8_192],
  [/^gpt-3\.5/, 16_385],
  [/^o[134]/, 200_000],
  [/^gemini/, 1_048_576],
  [/^grok-4.*fast|^grok-4\.1/, 2_000_000],
  [/^grok-(?:4|code)/, 256_000],
  [/^grok/, 131_072],
  [/^deepseek-r1-distill|^deepseek-(?:chat|reasoner|r1|v3)/, 128_000],
  [/^kimi|^moonshotai/, 262_144],
  [/^glm-(?:4\.[6-9]|5)/, 200_000],
  [/^glm-4/, 128_000],
  [/^minimax-m/, 196_608],
  [/^qwen3-(?:coder|next|max)|^qwen3-.*-2507/, 262_144],
  [/^qwen-?3/, 40_960],
  [/^qwen-?2\.5.*-1m/, 1_000_000],
  [/^qwen-?2/, 32_768],
  [/^llama-?4/, 1_000_000],
  [/^(?:meta-)?llama-?3[-_.]?[123]/, 131_072],
  [/^(?:meta-)?llama-?3/, 8_192],
  [/^(?:meta-)?llama-?2|^codellama/, 4_096],
  [/^gemma-?3n/, 32_768],
  [/^gemma-?3-?(?:270m|1b)/, 32_768],
  [/^gemma-?3/, 131_072],
  [/^(?:code)?gemma/, 8_192],
  [/^phi-?4-mini|^phi-?3.*128k|^phi-?3\.5/, 131_072],
  [/^phi-?4/, 16_384],
  [/^phi/, 4_096],
  [/^smollm3/, 65_536],
  [/^smollm2/, 8_192],
  [/^smollm|^tinyllama/, 2_048],
  [/^mistral-7b-instruct-v0\.1|^mixtral|^mistral-7b/, 32_768],
  [/^mistral|^magistral|^devstral|^ministral|^codestral/, 128_000],
  [/^command-r|^command-a/, 128_000],
  [/^granite-?[34]/, 131_072],
  [/^lfm-?2/, 32_768],
  [/^reflex/, 1_000_000],
];

/** Models that read pictures. */
const SEES = new RegExp(
  [
    ...['^claude-(?!2|instant)', '^gpt-(?:4o|4\\.1|4-turbo|[5-9])', '^chatgpt-4o', '^o[134](?!-mini-2024)', '^gemini'],
    ...['vision', '(?:^|[-_.])vl(?:$|[-_.:\\d])', '^llava', '^pixtral', '^llama-?4', '^gemma-?3n?-?(?:4|12|27)b'],
    ...['^grok-4', '^mistral-(?:small|medium)-3', '^minicpm-v', '^moondream', '^internvl', '^phi-4-multimodal'],
  ].join('|'),
);

/** Models whose endpoints refuse, or lose quality, when the reasoning of earlier steps is not sent back. */
const REPLAYS_REASONING =
  /^deepseek-(?:reasoner|v3\.[2-9]|v[4-9])|^kimi-k2.*think|^kimi-k(?:2\.[5-9]|[3-9])|^glm-(?:4\.[7-9]|5)/;

export function modelTraits(modelId: string, overrides: ModelOverrides = {}): ModelTraits {
  const local = overrides.local ?? /^(?:llama|reflex|local)\//.test(modelId);
  return {
    contextWindow: overrides.contextWindow ?? knownWindow(modelId) ?? (local ? UNKNOWN_LOCAL_WINDOW : UNKNOWN_WINDOW),
    toolCalling: overrides.toolCalling ?? strategyFor(modelId),
    cacheMarks: overrides.cacheMarks ?? takesMarks(modelId),
    images: overrides.images ?? SEES.test(bareModelName(modelId)),
    local,
  };
}

/** Anthropic itself, and its models behind OpenRouter, take `cache_control`. */
function takesMarks(modelId: string): boolean {
  return /^anthropic\/|^openrouter\/~?anthropic\//.test(modelId.toLowerCase());
}

function knownWindow(modelId: string): number | undefined {
  const name = bareModelName(modelId);
  return WINDOWS.find(([pattern]) => pattern.test(name))?.[1];
}

export function replaysReasoning(modelId: string): boolean {
  return REPLAYS_REASONING.test(bareModelName(modelId));
}

const MOST_ANSWER = 32_000;

/** What an endpoint that wants a limit is told for a model that its library does not know, in tokens; it would say 4096, and cut. */
export function answerLimit(model: string, contextWindow: number): number | undefined {
  return model.toLowerCase().includes('claude') ? undefined : Math.min(MOST_ANSWER, Math.floor(contextWindow / 4));
}

// The choice between structured and text tool calling, by model name. Knows no wire format and no parser.
// Invariant: the configuration wins over the table; a name that the table does not know is structured. Seed 001 chapter 3.

export type ToolStrategy = 'structured' | 'text';

/** Keys are model ids, with or without provider, or patterns with `*`; the first that fits wins. */
export type StrategyOverrides = Readonly<Record<string, ToolStrategy>>;

interface StrategyRow {
  readonly pattern: RegExp;
  readonly strategy: ToolStrategy;
}

/** First match wins. Text: models trained without a tool format, or whose servers commonly offer none. */
const STRATEGY_TABLE: readonly StrategyRow[] = [
  {
    pattern: /functiongemma|gemma.*tool|hammer|xlam|hermes|nexusraven|firefunction|watt-tool|toolace/,
    strategy: 'structured',
  },
  { pattern: /(?:^|[-_])(?:code)?gemma|shieldgemma|medgemma/, strategy: 'text' },
  {
    pattern: /smollm|tinyllama|tinydolphin|stablelm|pythia|olmo|openelm|mobilellm|gpt-?2|gpt-j|gpt-neo|bloom|falcon/,
    strategy: 'text',
  },
  { pattern: /phi-?[1-3](?:\D|$)|phi-?4(?:$|-\d|-reasoning|:)|orca-?mini|^orca/, strategy: 'text' },
  { pattern: /deepseek-?r1-distill|deepseek-r1-?[:-]?(?:1\.5|7|8|14|32|70)b|^r1-distill/, strategy: 'text' },
  {
    pattern:
      /code-?llama|llama-?3[-_.]?(?:8b|70b|instruct|$)|llama-?2|^llama-?(?:7|13|30|65)b|alpaca|vicuna|wizard|guanaco|zephyr|solar|starling|openchat|neural-chat|dolphin-?(?:phi|2)/,
    strategy: 'text',
  },
  {
    pattern: /mistral-?7b(?:$|-instruct)?(?:-v0\.[12])?(?!.*v0\.3)|mixtral-?8x7b(?:$|-instruct-v0\.1)/,
    strategy: 'text',
  },
  {
    pattern:
      /qwen-?(?:1\.5|7b|14b|72b)|qwen2?-?0\.5b|qwen1\.5|yi-|internlm-?2?(?:-|$)|baichuan|chatglm-?[1-3]|^chatglm/,
    strategy: 'text',
  },
  { pattern: /llava|bakllava|moondream/, strategy: 'text' },
];

export function strategyFor(modelId: string, overrides: StrategyOverrides = {}): ToolStrategy {
  for (const [key, strategy] of Object.entries(overrides)) if (namesModel(key, modelId)) return strategy;
  const name = bareModelName(modelId);
  return STRATEGY_TABLE.find((row) => row.pattern.test(name))?.strategy ?? 'structured';
}

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
