// Owns what is known of models by name: windows, who wants reasoning back. Knows no endpoint; an endpoint that tells more wins.
// Invariant: first match wins; an unknown model gets a cautious window.
import type { ModelTraits } from './model-client.ts';
import { bareModelName } from './model-name.ts';
import type { Price } from './price-table.ts';
import { strategyFor } from './tool-strategy.ts';

/** What the configuration or an endpoint's listing says of one model. */
export interface ModelOverrides {
  readonly contextWindow?: number;
  readonly toolCalling?: 'structured' | 'text';
  readonly cacheMarks?: boolean;
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

/** Models whose endpoints refuse, or lose quality, when the reasoning of earlier steps is not sent back. */
const REPLAYS_REASONING =
  /^deepseek-(?:reasoner|v3\.[2-9]|v[4-9])|^kimi-k2.*think|^kimi-k(?:2\.[5-9]|[3-9])|^glm-(?:4\.[7-9]|5)/;

export function modelTraits(modelId: string, overrides: ModelOverrides = {}): ModelTraits {
  const local = overrides.local ?? /^(?:llama|reflex|local)\//.test(modelId);
  return {
    contextWindow: overrides.contextWindow ?? knownWindow(modelId) ?? (local ? UNKNOWN_LOCAL_WINDOW : UNKNOWN_WINDOW),
    toolCalling: overrides.toolCalling ?? strategyFor(modelId),
    cacheMarks: overrides.cacheMarks ?? takesMarks(modelId),
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
