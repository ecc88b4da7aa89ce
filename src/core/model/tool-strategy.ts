// Owns the choice between structured and text tool calling, by model name. Knows no wire format and no parser.
// Invariant: the configuration wins over the table; a name that the table does not know is structured. Seed 001 chapter 3.
import { bareModelName, namesModel } from './model-name.ts';

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
